// Convolution, channels-last, groups = 1, as a matrix product of output pixels by channels.
// 8 pixels (in row-major order) x 8 channels an invocation. The four invocations of a quad take the
// same channels and neighbouring pixels: each reads a quarter of the weight and hands it round.
// Needs subgroups, with quads that are four neighbours in x.

enable subgroups;

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

const TILE_ROWS = 8u;
const TILE_COLS = 8u;

@group(0) @binding(0) var<storage, read> image: array<vec4f>;
@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x: u32, c4: u32) -> vec4f {
  return image[((n * IN_H + y) * IN_W + x) * (IN_C / 4u) + c4];
}

fn load_w(ky: u32, kx: u32, c: u32, o4: u32) -> vec4f {
  return weight[((ky * K_W + kx) * IN_C + c) * (OUT_C / 4u) + o4];
}

fn store_out(n: u32, y: u32, x: u32, o4: u32, value: vec4f) {
  out[((n * OUT_H + y) * OUT_W + x) * (OUT_C / 4u) + o4] = value;
}

// Four input channels by four output channels of one tap, of which this invocation has a row.
fn block(row: vec4f) -> mat4x4f {
  return mat4x4f(quadBroadcast(row, 0u), quadBroadcast(row, 1u),
                 quadBroadcast(row, 2u), quadBroadcast(row, 3u));
}

// Where the window of an output pixel begins. In the padding above or left of the image the
// coordinates wrap round to huge ones, which `pixel` takes for outside like any other.
fn corner(pixel_index: u32) -> vec2u {
  let y = pixel_index / OUT_W;
  return vec2u(pixel_index - y * OUT_W, y) * vec2u(STRIDE_W, STRIDE_H) - vec2u(PAD_LEFT, PAD_TOP);
}

// A pixel of the image, zero in the padding; `last` is the image's last corner.
fn pixel(n: u32, at: vec2u, last: vec2u, c4: u32) -> vec4f {
  let inside = min(at, last);
  return select(vec4f(), load_x(n, inside.y, inside.x, c4), all(inside == at));
}

@compute @workgroup_size(4, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let pixels = OUT_H * OUT_W;
  let o4 = id.y * 2u;
  let first = id.x * TILE_ROWS;
  let n = id.z;
  // Reads past the last pixel stay in: a quad must not lose a member.
  let lane = id.x % 4u;
  let corner0 = corner(min(first, pixels - 1u));
  let corner1 = corner(min(first + 1u, pixels - 1u));
  let corner2 = corner(min(first + 2u, pixels - 1u));
  let corner3 = corner(min(first + 3u, pixels - 1u));
  let corner4 = corner(min(first + 4u, pixels - 1u));
  let corner5 = corner(min(first + 5u, pixels - 1u));
  let corner6 = corner(min(first + 6u, pixels - 1u));
  let corner7 = corner(min(first + 7u, pixels - 1u));
  var s0a = vec4f(); var s0b = vec4f();
  var s1a = vec4f(); var s1b = vec4f();
  var s2a = vec4f(); var s2b = vec4f();
  var s3a = vec4f(); var s3b = vec4f();
  var s4a = vec4f(); var s4b = vec4f();
  var s5a = vec4f(); var s5b = vec4f();
  var s6a = vec4f(); var s6b = vec4f();
  var s7a = vec4f(); var s7b = vec4f();
  // One loop over taps and channels: nested ones would move all sums at each level.
  let channels = (IN_C + 3u) / 4u;
  let taps_across = K_W;
  let steps = K_H * K_W * channels;
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let dilation = vec2u(DILATION_W, DILATION_H);
  var ky = 0u;
  var kx = 0u;
  var c4 = 0u;
  for (var step = 0u; step < steps; step++) {
    let tap = vec2u(kx, ky) * dilation;
    let wa = block(load_w(ky, kx, c4 * 4u + lane, o4));
    let wb = block(load_w(ky, kx, c4 * 4u + lane, o4 + 1u));
    let x0 = pixel(n, corner0 + tap, last, c4);
    s0a += wa * x0;
    s0b += wb * x0;
    let x1 = pixel(n, corner1 + tap, last, c4);
    s1a += wa * x1;
    s1b += wb * x1;
    let x2 = pixel(n, corner2 + tap, last, c4);
    s2a += wa * x2;
    s2b += wb * x2;
    let x3 = pixel(n, corner3 + tap, last, c4);
    s3a += wa * x3;
    s3b += wb * x3;
    let x4 = pixel(n, corner4 + tap, last, c4);
    s4a += wa * x4;
    s4b += wb * x4;
    let x5 = pixel(n, corner5 + tap, last, c4);
    s5a += wa * x5;
    s5b += wb * x5;
    let x6 = pixel(n, corner6 + tap, last, c4);
    s6a += wa * x6;
    s6b += wb * x6;
    let x7 = pixel(n, corner7 + tap, last, c4);
    s7a += wa * x7;
    s7b += wb * x7;
    c4++;
    let next_x = c4 == channels;
    c4 = select(c4, 0u, next_x);
    kx = select(kx, kx + 1u, next_x);
    let next_y = kx == taps_across;
    kx = select(kx, 0u, next_y);
    ky = select(ky, ky + 1u, next_y);
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var left = array<vec4f, 8>(
    s0a, s1a, s2a, s3a, s4a, s5a, s6a, s7a);
  var right = array<vec4f, 8>(
    s0b, s1b, s2b, s3b, s4b, s5b, s6b, s7b);
  var y = first / OUT_W;
  var x = first - y * OUT_W;
  for (var r = 0u; r < min(TILE_ROWS, max(pixels, first) - first); r++) {
    store_out(n, y, x, o4, left[r]);
    if (o4 * 4u + 4u < OUT_C) {
      store_out(n, y, x, o4 + 1u, right[r]);
    }
    x++;
    let wrap = x == OUT_W;
    x = select(x, 0u, wrap);
    y = select(y, y + 1u, wrap);
  }
}
