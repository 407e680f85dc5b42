// Convolution, channels-last, groups = 1, as a matrix product of output pixels by channels.
// As conv2d_quad_16x8, with 4 channels an invocation: for widths that would leave it idle lanes.

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

const TILE_ROWS = 16u;
const TILE_COLS = 4u;

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

// Four input channels by four output channels of one tap.
fn block(ky: u32, kx: u32, c4: u32, o4: u32) -> mat4x4f {
  let c = c4 * 4u;
  return mat4x4f(load_w(ky, kx, c, o4), load_w(ky, kx, c + 1u, o4),
                 load_w(ky, kx, c + 2u, o4), load_w(ky, kx, c + 3u, o4));
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
  let o4 = id.x;
  let first = id.y * TILE_ROWS;
  let n = id.z;
  // Reads past the last pixel or channel stay in: a quad must not lose a member.
  let lane = id.x % 4u;
  let corner0 = corner(min(first + lane, pixels - 1u));
  let corner1 = corner(min(first + 4u + lane, pixels - 1u));
  let corner2 = corner(min(first + 8u + lane, pixels - 1u));
  let corner3 = corner(min(first + 12u + lane, pixels - 1u));
  var s0 = vec4f(); var s1 = vec4f(); var s2 = vec4f(); var s3 = vec4f();
  var s4 = vec4f(); var s5 = vec4f(); var s6 = vec4f(); var s7 = vec4f();
  var s8 = vec4f(); var s9 = vec4f(); var sa = vec4f(); var sb = vec4f();
  var sc = vec4f(); var sd = vec4f(); var se = vec4f(); var sf = vec4f();
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
    let w = block(ky, kx, c4, o4);
    let mine0 = pixel(n, corner0 + tap, last, c4);
    let mine1 = pixel(n, corner1 + tap, last, c4);
    let mine2 = pixel(n, corner2 + tap, last, c4);
    let mine3 = pixel(n, corner3 + tap, last, c4);
    s0 += w * quadBroadcast(mine0, 0u);
    s1 += w * quadBroadcast(mine0, 1u);
    s2 += w * quadBroadcast(mine0, 2u);
    s3 += w * quadBroadcast(mine0, 3u);
    s4 += w * quadBroadcast(mine1, 0u);
    s5 += w * quadBroadcast(mine1, 1u);
    s6 += w * quadBroadcast(mine1, 2u);
    s7 += w * quadBroadcast(mine1, 3u);
    s8 += w * quadBroadcast(mine2, 0u);
    s9 += w * quadBroadcast(mine2, 1u);
    sa += w * quadBroadcast(mine2, 2u);
    sb += w * quadBroadcast(mine2, 3u);
    sc += w * quadBroadcast(mine3, 0u);
    sd += w * quadBroadcast(mine3, 1u);
    se += w * quadBroadcast(mine3, 2u);
    sf += w * quadBroadcast(mine3, 3u);
    c4++;
    let next_x = c4 == channels;
    c4 = select(c4, 0u, next_x);
    kx = select(kx, kx + 1u, next_x);
    let next_y = kx == taps_across;
    kx = select(kx, 0u, next_y);
    ky = select(ky, ky + 1u, next_y);
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var tile = array<vec4f, 16>(
    s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf);
  var y = first / OUT_W;
  var x = first - y * OUT_W;
  for (var r = 0u; r < min(TILE_ROWS, pixels - first); r++) {
    if (o4 * 4u < OUT_C) {
      store_out(n, y, x, o4, tile[r]);
    }
    x++;
    let wrap = x == OUT_W;
    x = select(x, 0u, wrap);
    y = select(y, y + 1u, wrap);
  }
}
