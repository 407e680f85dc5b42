// The gradient of a convolution's weight, channels-last, groups = 1, as conv2d_weight_8x8.
// 16 channels of one tap x 4 filters an invocation, four pixels at a time. The four invocations of
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
const TILE_COLS = 4u;

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
  let o4 = id.x;
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
  var s0 = vec4f(); var s1 = vec4f(); var s2 = vec4f(); var s3 = vec4f();
  var s4 = vec4f(); var s5 = vec4f(); var s6 = vec4f(); var s7 = vec4f();
  var s8 = vec4f(); var s9 = vec4f(); var sa = vec4f(); var sb = vec4f();
  var sc = vec4f(); var sd = vec4f(); var se = vec4f(); var sf = vec4f();
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
    s0 += g * quadBroadcast(mine[0], 0u);
    s1 += g * quadBroadcast(mine[1], 0u);
    s2 += g * quadBroadcast(mine[2], 0u);
    s3 += g * quadBroadcast(mine[3], 0u);
    s4 += g * quadBroadcast(mine[0], 1u);
    s5 += g * quadBroadcast(mine[1], 1u);
    s6 += g * quadBroadcast(mine[2], 1u);
    s7 += g * quadBroadcast(mine[3], 1u);
    s8 += g * quadBroadcast(mine[0], 2u);
    s9 += g * quadBroadcast(mine[1], 2u);
    sa += g * quadBroadcast(mine[2], 2u);
    sb += g * quadBroadcast(mine[3], 2u);
    sc += g * quadBroadcast(mine[0], 3u);
    sd += g * quadBroadcast(mine[1], 3u);
    se += g * quadBroadcast(mine[2], 3u);
    sf += g * quadBroadcast(mine[3], 3u);
    at = following(at3);
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var tile = array<vec4f, 16>(
    s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf);
  for (var r = 0u; r < min(TILE_ROWS, IN_C - c); r++) {
    if (o4 * 4u < OUT_C) {
      store_out(part, tap * IN_C + c + r, o4, tile[r]);
    }
  }
}
