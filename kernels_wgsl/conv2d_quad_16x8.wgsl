// Convolution, channels-last, groups = 1, as a matrix product of output pixels by channels.
// 16 pixels (in row-major order) x 8 channels an invocation. The four invocations of a quad take
// the same pixels and neighbouring channels: each reads a quarter of the pixels and hands it
// round. Needs subgroups, with quads that are four neighbours in x.

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
  let o4 = id.x * 2u;
  let first = id.y * TILE_ROWS;
  let n = id.z;
  // Reads past the last pixel or channel stay in: a quad must not lose a member.
  let lane = id.x % 4u;
  let corner0 = corner(min(first + lane, pixels - 1u));
  let corner1 = corner(min(first + 4u + lane, pixels - 1u));
  let corner2 = corner(min(first + 8u + lane, pixels - 1u));
  let corner3 = corner(min(first + 12u + lane, pixels - 1u));
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
    let wa = block(ky, kx, c4, o4);
    let wb = block(ky, kx, c4, o4 + 1u);
    let mine0 = pixel(n, corner0 + tap, last, c4);
    let mine1 = pixel(n, corner1 + tap, last, c4);
    let mine2 = pixel(n, corner2 + tap, last, c4);
    let mine3 = pixel(n, corner3 + tap, last, c4);
    let x0 = quadBroadcast(mine0, 0u);
    s0a += wa * x0;
    s0b += wb * x0;
    let x1 = quadBroadcast(mine0, 1u);
    s1a += wa * x1;
    s1b += wb * x1;
    let x2 = quadBroadcast(mine0, 2u);
    s2a += wa * x2;
    s2b += wb * x2;
    let x3 = quadBroadcast(mine0, 3u);
    s3a += wa * x3;
    s3b += wb * x3;
    let x4 = quadBroadcast(mine1, 0u);
    s4a += wa * x4;
    s4b += wb * x4;
    let x5 = quadBroadcast(mine1, 1u);
    s5a += wa * x5;
    s5b += wb * x5;
    let x6 = quadBroadcast(mine1, 2u);
    s6a += wa * x6;
    s6b += wb * x6;
    let x7 = quadBroadcast(mine1, 3u);
    s7a += wa * x7;
    s7b += wb * x7;
    let x8 = quadBroadcast(mine2, 0u);
    s8a += wa * x8;
    s8b += wb * x8;
    let x9 = quadBroadcast(mine2, 1u);
    s9a += wa * x9;
    s9b += wb * x9;
    let xa = quadBroadcast(mine2, 2u);
    saa += wa * xa;
    sab += wb * xa;
    let xb = quadBroadcast(mine2, 3u);
    sba += wa * xb;
    sbb += wb * xb;
    let xc = quadBroadcast(mine3, 0u);
    sca += wa * xc;
    scb += wb * xc;
    let xd = quadBroadcast(mine3, 1u);
    sda += wa * xd;
    sdb += wb * xd;
    let xe = quadBroadcast(mine3, 2u);
    sea += wa * xe;
    seb += wb * xe;
    let xf = quadBroadcast(mine3, 3u);
    sfa += wa * xf;
    sfb += wb * xf;
    c4++;
    let next_x = c4 == channels;
    c4 = select(c4, 0u, next_x);
    kx = select(kx, kx + 1u, next_x);
    let next_y = kx == taps_across;
    kx = select(kx, 0u, next_y);
    ky = select(ky, ky + 1u, next_y);
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var left = array<vec4f, 16>(
    s0a, s1a, s2a, s3a, s4a, s5a, s6a, s7a, s8a, s9a, saa, sba, sca, sda, sea, sfa);
  var right = array<vec4f, 16>(
    s0b, s1b, s2b, s3b, s4b, s5b, s6b, s7b, s8b, s9b, sab, sbb, scb, sdb, seb, sfb);
  var y = first / OUT_W;
  var x = first - y * OUT_W;
  for (var r = 0u; r < min(TILE_ROWS, pixels - first); r++) {
    if (o4 * 4u < OUT_C) {
      store_out(n, y, x, o4, left[r]);
    }
    if (o4 * 4u + 4u < OUT_C) {
      store_out(n, y, x, o4 + 1u, right[r]);
    }
    x++;
    let wrap = x == OUT_W;
    x = select(x, 0u, wrap);
    y = select(y, y + 1u, wrap);
  }
}
