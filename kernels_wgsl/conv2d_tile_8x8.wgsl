// Convolution, channels-last, groups = 1, as a matrix product of output pixels by channels.
// A workgroup takes 64 pixels x 64 channels, 8 x 8 an invocation, and brings what these need
// into workgroup memory first: for real GPUs.

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

// Of a workgroup: 64 pixels, 16 fours of channels, DEPTH fours of the inner length at a time.
// Invocation (x, y) takes the pixels y, y + 8 and so on, and the fours of channels x and x + 8:
// neighbours read neighbouring words, or the same.
const SIDE = 64u;
const FOURS = 16u;
const DEPTH = 4u;
const PITCH = 66u; // not SIDE: invocations that write at once do so in different banks
var<workgroup> tile_a: array<vec4f, DEPTH * PITCH>;
var<workgroup> tile_b: array<vec4f, DEPTH * 4u * FOURS>;
var<workgroup> corners: array<vec2u, SIDE>;

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

// Column and line of the window, and four of channels, that a step of the product takes.
fn tap_of(step: u32, channels: u32) -> vec3u {
  let tap = step / channels;
  let ky = tap / K_W;
  return vec3u(tap - ky * K_W, ky, step - tap * channels);
}

// Four steps of the inner length by four channels; times a vector along it it gives four outputs.
fn block(depth: u32, four: u32) -> mat4x4f {
  let at = depth * 4u * FOURS + four;
  return mat4x4f(tile_b[at], tile_b[at + FOURS],
                 tile_b[at + 2u * FOURS], tile_b[at + 3u * FOURS]);
}

@compute @workgroup_size(8, 8, 1)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) index: u32) {
  let pixels = OUT_H * OUT_W;
  let first = group.y * SIDE;
  let first_four = group.x * FOURS;
  let n = group.z;
  let channels = (IN_C + 3u) / 4u;
  let steps = K_H * K_W * channels;
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let dilation = vec2u(DILATION_W, DILATION_H);
  // What this invocation brings: 4 pixels at one depth, 4 inner steps of one four of channels.
  let a_depth = index % DEPTH;
  let a_row = index / DEPTH;
  let b_four = index % FOURS;
  let b_k = index / FOURS * 4u;
  let from_four = min(first_four + b_four, (OUT_C + 3u) / 4u - 1u);
  corners[index] = corner(min(first + index, pixels - 1u));
  var s0a = vec4f(); var s0b = vec4f();
  var s1a = vec4f(); var s1b = vec4f();
  var s2a = vec4f(); var s2b = vec4f();
  var s3a = vec4f(); var s3b = vec4f();
  var s4a = vec4f(); var s4b = vec4f();
  var s5a = vec4f(); var s5b = vec4f();
  var s6a = vec4f(); var s6b = vec4f();
  var s7a = vec4f(); var s7b = vec4f();
  for (var step = 0u; step < steps; step += DEPTH) {
    // All have read what is overwritten, and all corners are there.
    workgroupBarrier();
    // Past the end both are zero: what lies there, times zero, need not be.
    let a_step = step + a_depth;
    let a_tap = tap_of(min(a_step, steps - 1u), channels);
    let tap = a_tap.xy * dilation;
    for (var i = 0u; i < 4u; i++) {
      let row = a_row + i * 16u;
      let value = pixel(n, corners[row] + tap, last, a_tap.z);
      tile_a[a_depth * PITCH + row] = select(vec4f(), value, a_step < steps);
    }
    let b_step = step + b_k / 4u;
    let b_tap = tap_of(min(b_step, steps - 1u), channels);
    let b_first = b_tap.z * 4u + b_k % 4u;
    for (var i = 0u; i < 4u; i++) {
      let value = load_w(b_tap.y, b_tap.x, b_first + i, from_four);
      tile_b[(b_k + i) * FOURS + b_four] = select(vec4f(), value, b_step < steps);
    }
    workgroupBarrier();
    for (var depth = 0u; depth < DEPTH; depth++) {
      let row = depth * PITCH + local.y;
      let wa = block(depth, local.x);
      let wb = block(depth, local.x + 8u);
      let a0 = tile_a[row];
      s0a += wa * a0;
      s0b += wb * a0;
      let a1 = tile_a[row + 8u];
      s1a += wa * a1;
      s1b += wb * a1;
      let a2 = tile_a[row + 16u];
      s2a += wa * a2;
      s2b += wb * a2;
      let a3 = tile_a[row + 24u];
      s3a += wa * a3;
      s3b += wb * a3;
      let a4 = tile_a[row + 32u];
      s4a += wa * a4;
      s4b += wb * a4;
      let a5 = tile_a[row + 40u];
      s5a += wa * a5;
      s5b += wb * a5;
      let a6 = tile_a[row + 48u];
      s6a += wa * a6;
      s6b += wb * a6;
      let a7 = tile_a[row + 56u];
      s7a += wa * a7;
      s7b += wb * a7;
    }
  }
  // An array, so that what is fused in store_out is compiled once; the loop has a fixed length,
  // for compilers to keep the array in registers.
  var left = array<vec4f, 8>(s0a, s1a, s2a, s3a, s4a, s5a, s6a, s7a);
  var right = array<vec4f, 8>(s0b, s1b, s2b, s3b, s4b, s5b, s6b, s7b);
  let four = first_four + local.x;
  for (var r = 0u; r < TILE_ROWS; r++) {
    let row = first + local.y + r * 8u;
    let y = row / OUT_W;
    let x = row - y * OUT_W;
    if (row < pixels && four * 4u < OUT_C) {
      store_out(n, y, x, four, left[r]);
    }
    if (row < pixels && (four + 8u) * 4u < OUT_C) {
      store_out(n, y, x, four + 8u, right[r]);
    }
  }
}
