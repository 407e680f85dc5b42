// The gradient of a convolution's weight, channels-last, groups = 1, as conv2d_weight_8x8.
// 16 channels of one tap x 8 filters an invocation. The four invocations of a quad take the same
// channels and neighbouring filters: each reads a quarter of the channels and hands it round. Needs
// subgroups, with quads that are four neighbours in x.

enable subgroups;

override IMAGES: u32;
override IMAGES_A_PART: u32;
override IN_H: u32;
override IN_W: u32;
override IN_C: u32;
override OUT_H: u32;
override OUT_W: u32;
override OUT_C: u32;
override K_H: u32;
override K_W: u32;
override STRIDE_H: u32;
override STRIDE_W: u32;
override PAD_TOP: u32;
override PAD_LEFT: u32;
override DILATION_H: u32;
override DILATION_W: u32;

const TILE_ROWS = 16u;
const TILE_COLS = 8u;

@group(0) @binding(0) var<storage, read> image: array<vec4f>;
@group(0) @binding(1) var<storage, read> gradient: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x: u32, c4: u32) -> vec4f {
  return image[((n * IN_H + y) * IN_W + x) * (IN_C / 4u) + c4];
}

fn load_g(n: u32, oy: u32, ox: u32, o4: u32) -> vec4f {
  return gradient[((n * OUT_H + oy) * OUT_W + ox) * (OUT_C / 4u) + o4];
}

fn store_out(part: u32, row: u32, o4: u32, value: vec4f) {
  out[(part * (K_H * K_W * IN_C) + row) * (OUT_C / 4u) + o4] = value;
}

@compute @workgroup_size(4, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let o4 = id.x * 2u;
  let tiles = (IN_C + TILE_ROWS - 1u) / TILE_ROWS;
  let tap = id.y / tiles;
  let c = (id.y - tap * tiles) * TILE_ROWS;
  let part = id.z;
  let first = part * IMAGES_A_PART;
  // Reads past the last channel or filter stay in: a quad must not lose a member.
  let own_c4 = min(c / 4u + id.x % 4u, (IN_C + 3u) / 4u - 1u);
  let ky = tap / K_W;
  let offset = vec2u(tap - ky * K_W, ky) * vec2u(DILATION_W, DILATION_H) - vec2u(PAD_LEFT, PAD_TOP);
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let stride = vec2u(STRIDE_W, STRIDE_H);
  var s0a = vec4f(); var s0b = vec4f();
  var s1a = vec4f(); var s1b = vec4f();
  var s2a = vec4f(); var s2b = vec4f();
  var s3a = vec4f(); var s3b = vec4f();
  var s4a = vec4f(); var s4b = vec4f();
  var s5a = vec4f(); var s5b = vec4f();
  var s6a = vec4f(); var s6b = vec4f();
  var s7a = vec4f(); var s7b = vec4f();
  var s8a = vec4f(); var s8b = vec4f();
  var s9a = vec4f(); var s9b = vec4f();
  var saa = vec4f(); var sab = vec4f();
  var sba = vec4f(); var sbb = vec4f();
  var sca = vec4f(); var scb = vec4f();
  var sda = vec4f(); var sdb = vec4f();
  var sea = vec4f(); var seb = vec4f();
  var sfa = vec4f(); var sfb = vec4f();
  // One loop over images and pixels: nested ones would move all sums at each level.
  var n = first;
  var oy = 0u;
  var ox = 0u;
  let across = OUT_W;
  let down = OUT_H;
  // The same for all parts: quads need uniform control flow.
  let steps = IMAGES_A_PART * down * across;
  for (var step = 0u; step < steps; step++) {
    // In the padding above or left of the image, coordinates wrap round to huge ones.
    let at = vec2u(ox, oy) * stride + offset;
    let inside = min(at, last);
    let own = min(n, IMAGES - 1u);
    let seen = all(inside == at) & (n < IMAGES);
    let mine = select(vec4f(), load_x(own, inside.y, inside.x, own_c4), seen);
    let g = load_g(own, oy, ox, o4);
    let h = load_g(own, oy, ox, o4 + 1u);
    let x0 = quadBroadcast(mine, 0u);
    s0a += x0.x * g;
    s0b += x0.x * h;
    s1a += x0.y * g;
    s1b += x0.y * h;
    s2a += x0.z * g;
    s2b += x0.z * h;
    s3a += x0.w * g;
    s3b += x0.w * h;
    let x1 = quadBroadcast(mine, 1u);
    s4a += x1.x * g;
    s4b += x1.x * h;
    s5a += x1.y * g;
    s5b += x1.y * h;
    s6a += x1.z * g;
    s6b += x1.z * h;
    s7a += x1.w * g;
    s7b += x1.w * h;
    let x2 = quadBroadcast(mine, 2u);
    s8a += x2.x * g;
    s8b += x2.x * h;
    s9a += x2.y * g;
    s9b += x2.y * h;
    saa += x2.z * g;
    sab += x2.z * h;
    sba += x2.w * g;
    sbb += x2.w * h;
    let x3 = quadBroadcast(mine, 3u);
    sca += x3.x * g;
    scb += x3.x * h;
    sda += x3.y * g;
    sdb += x3.y * h;
    sea += x3.z * g;
    seb += x3.z * h;
    sfa += x3.w * g;
    sfb += x3.w * h;
    ox++;
    let next_y = ox == across;
    ox = select(ox, 0u, next_y);
    oy = select(oy, oy + 1u, next_y);
    let next_n = oy == down;
    oy = select(oy, 0u, next_n);
    n = select(n, n + 1u, next_n);
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var left = array<vec4f, 16>(
    s0a, s1a, s2a, s3a, s4a, s5a, s6a, s7a, s8a, s9a, saa, sba, sca, sda, sea, sfa);
  var right = array<vec4f, 16>(
    s0b, s1b, s2b, s3b, s4b, s5b, s6b, s7b, s8b, s9b, sab, sbb, scb, sdb, seb, sfb);
  for (var r = 0u; r < min(TILE_ROWS, IN_C - c); r++) {
    if (o4 * 4u < OUT_C) {
      store_out(part, tap * IN_C + c + r, o4, left[r]);
    }
    if (o4 * 4u + 4u < OUT_C) {
      store_out(part, tap * IN_C + c + r, o4 + 1u, right[r]);
    }
  }
}
