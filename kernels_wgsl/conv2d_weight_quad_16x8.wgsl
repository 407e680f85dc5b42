// The gradient of a convolution's weight, channels-last, groups = 1, as conv2d_weight_8x8.
// 16 channels of one tap x 8 filters an invocation, four pixels at a time. The four invocations of
// a quad take the same channels and neighbouring filters: each reads a quarter of the channels and
// hands it round. Needs subgroups, with quads that are four neighbours in x.

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

// The pixel (x, y, image) of the gradient after another one.
fn following(at: vec3u) -> vec3u {
  let x = at.x + 1u;
  let wraps = x == OUT_W;
  let y = select(at.y, at.y + 1u, wraps);
  let ends = y == OUT_H;
  return vec3u(select(x, 0u, wraps), select(y, 0u, ends), select(at.z, at.z + 1u, ends));
}

// What a tap meets for a pixel of the gradient: zero in the padding, and from the image `end` on.
// In the padding above or left of the image, coordinates wrap round to huge ones.
fn met(at: vec3u, end: u32, offset: vec2u, c4: u32) -> vec4f {
  let corner = at.xy * vec2u(STRIDE_W, STRIDE_H) + offset;
  let inside = min(corner, vec2u(IN_W - 1u, IN_H - 1u));
  let seen = all(inside == corner) & (at.z < end);
  return select(vec4f(), load_x(min(at.z, IMAGES - 1u), inside.y, inside.x, c4), seen);
}

fn filters(at: vec3u, o4: u32) -> vec4f {
  return load_g(min(at.z, IMAGES - 1u), at.y, at.x, o4);
}

@compute @workgroup_size(4, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let o4 = id.x * 2u;
  let tiles = (IN_C + TILE_ROWS - 1u) / TILE_ROWS;
  let tap = id.y / tiles;
  let c = (id.y - tap * tiles) * TILE_ROWS;
  let part = id.z;
  let first = part * IMAGES_A_PART;
  let end = min(first + IMAGES_A_PART, IMAGES);
  // Reads past the last channel or filter stay in: a quad must not lose a member.
  let own_c4 = min(c / 4u + id.x % 4u, (IN_C + 3u) / 4u - 1u);
  let ky = tap / K_W;
  let offset = vec2u(tap - ky * K_W, ky) * vec2u(DILATION_W, DILATION_H) - vec2u(PAD_LEFT, PAD_TOP);
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
  var at = vec3u(0u, 0u, first);
  // The same for all parts: quads need uniform control flow.
  let steps = (IMAGES_A_PART * OUT_H * OUT_W + 3u) / 4u;
  for (var step = 0u; step < steps; step++) {
    let at1 = following(at);
    let at2 = following(at1);
    let at3 = following(at2);
    let mine = transpose(mat4x4f(met(at, end, offset, own_c4), met(at1, end, offset, own_c4),
                                 met(at2, end, offset, own_c4), met(at3, end, offset, own_c4)));
    let g = mat4x4f(filters(at, o4), filters(at1, o4), filters(at2, o4), filters(at3, o4));
    let h = mat4x4f(filters(at, o4 + 1u), filters(at1, o4 + 1u),
                    filters(at2, o4 + 1u), filters(at3, o4 + 1u));
    let x0 = quadBroadcast(mine[0], 0u);
    s0a += g * x0;
    s0b += h * x0;
    let x1 = quadBroadcast(mine[1], 0u);
    s1a += g * x1;
    s1b += h * x1;
    let x2 = quadBroadcast(mine[2], 0u);
    s2a += g * x2;
    s2b += h * x2;
    let x3 = quadBroadcast(mine[3], 0u);
    s3a += g * x3;
    s3b += h * x3;
    let x4 = quadBroadcast(mine[0], 1u);
    s4a += g * x4;
    s4b += h * x4;
    let x5 = quadBroadcast(mine[1], 1u);
    s5a += g * x5;
    s5b += h * x5;
    let x6 = quadBroadcast(mine[2], 1u);
    s6a += g * x6;
    s6b += h * x6;
    let x7 = quadBroadcast(mine[3], 1u);
    s7a += g * x7;
    s7b += h * x7;
    let x8 = quadBroadcast(mine[0], 2u);
    s8a += g * x8;
    s8b += h * x8;
    let x9 = quadBroadcast(mine[1], 2u);
    s9a += g * x9;
    s9b += h * x9;
    let xa = quadBroadcast(mine[2], 2u);
    saa += g * xa;
    sab += h * xa;
    let xb = quadBroadcast(mine[3], 2u);
    sba += g * xb;
    sbb += h * xb;
    let xc = quadBroadcast(mine[0], 3u);
    sca += g * xc;
    scb += h * xc;
    let xd = quadBroadcast(mine[1], 3u);
    sda += g * xd;
    sdb += h * xd;
    let xe = quadBroadcast(mine[2], 3u);
    sea += g * xe;
    seb += h * xe;
    let xf = quadBroadcast(mine[3], 3u);
    sfa += g * xf;
    sfb += h * xf;
    at = following(at3);
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
