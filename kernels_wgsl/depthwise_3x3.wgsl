// Depthwise convolution 3x3, stride 1, no dilation (IN_C = OUT_C = groups), channels-last.
// A strip of 4 pixels x 4 channels an invocation, 28 lines down: each line of the image is read
// once and added to the 3 output lines it touches (a*: the newest, c*: the one that it completes).

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

const TILE_PIXELS = 4u;
const TILE_LINES = 28u;
const TILE_CHANNELS = 4u;

@group(0) @binding(0) var<storage, read> image: array<vec4f>;
@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x: u32, c4: u32) -> vec4f {
  return image[((n * IN_H + y) * IN_W + x) * (IN_C / 4u) + c4];
}

fn load_w(ky: u32, kx: u32, c4: u32) -> vec4f {
  return weight[(ky * K_W + kx) * (IN_C / 4u) + c4];
}

fn store_out(n: u32, y: u32, x: u32, c4: u32, value: vec4f) {
  out[((n * OUT_H + y) * OUT_W + x) * (OUT_C / 4u) + c4] = value;
}

// A pixel of the image, whose last corner is `last`; zero in the padding, where coordinates lie
// beyond it or wrap to huge ones.
fn pixel(n: u32, y: u32, x: u32, last: vec2u, c4: u32) -> vec4f {
  let at = vec2u(x, y);
  let inside = min(at, last);
  return select(vec4f(), load_x(n, inside.y, inside.x, c4), all(inside == at));
}

@compute @workgroup_size(4, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let strips = (OUT_W + TILE_PIXELS - 1u) / TILE_PIXELS;
  let c4 = id.x;
  let oy = id.y / strips * TILE_LINES;
  let ox = id.y % strips * TILE_PIXELS;
  let n = id.z;
  if (c4 * 4u >= OUT_C || oy >= OUT_H) {
    return;
  }
  let w00 = load_w(0u, 0u, c4); let w01 = load_w(0u, 1u, c4); let w02 = load_w(0u, 2u, c4);
  let w10 = load_w(1u, 0u, c4); let w11 = load_w(1u, 1u, c4); let w12 = load_w(1u, 2u, c4);
  let w20 = load_w(2u, 0u, c4); let w21 = load_w(2u, 1u, c4); let w22 = load_w(2u, 2u, c4);
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let lines = min(TILE_LINES, OUT_H - oy);
  let x = ox - PAD_LEFT;
  var y = oy - PAD_TOP;
  var a0 = vec4f(); var a1 = vec4f(); var a2 = vec4f(); var a3 = vec4f();
  var b0 = vec4f(); var b1 = vec4f(); var b2 = vec4f(); var b3 = vec4f();
  var c0 = vec4f(); var c1 = vec4f(); var c2 = vec4f(); var c3 = vec4f();
  for (var line = 0u; line < lines + 2u; line++) {
    let v0 = pixel(n, y, x, last, c4);
    a0 += w00 * v0; b0 += w10 * v0; c0 += w20 * v0;
    let v1 = pixel(n, y, x + 1u, last, c4);
    a0 += w01 * v1; b0 += w11 * v1; c0 += w21 * v1;
    a1 += w00 * v1; b1 += w10 * v1; c1 += w20 * v1;
    let v2 = pixel(n, y, x + 2u, last, c4);
    a0 += w02 * v2; b0 += w12 * v2; c0 += w22 * v2;
    a1 += w01 * v2; b1 += w11 * v2; c1 += w21 * v2;
    a2 += w00 * v2; b2 += w10 * v2; c2 += w20 * v2;
    let v3 = pixel(n, y, x + 3u, last, c4);
    a1 += w02 * v3; b1 += w12 * v3; c1 += w22 * v3;
    a2 += w01 * v3; b2 += w11 * v3; c2 += w21 * v3;
    a3 += w00 * v3; b3 += w10 * v3; c3 += w20 * v3;
    let v4 = pixel(n, y, x + 4u, last, c4);
    a2 += w02 * v4; b2 += w12 * v4; c2 += w22 * v4;
    a3 += w01 * v4; b3 += w11 * v4; c3 += w21 * v4;
    let v5 = pixel(n, y, x + 5u, last, c4);
    a3 += w02 * v5; b3 += w12 * v5; c3 += w22 * v5;
    if (line >= 2u) {
      let row = oy + line - 2u;
      store_out(n, row, ox, c4, c0);
      if (ox + 1u < OUT_W) {
        store_out(n, row, ox + 1u, c4, c1);
      }
      if (ox + 2u < OUT_W) {
        store_out(n, row, ox + 2u, c4, c2);
      }
      if (ox + 3u < OUT_W) {
        store_out(n, row, ox + 3u, c4, c3);
      }
    }
    c0 = b0; c1 = b1; c2 = b2; c3 = b3;
    b0 = a0; b1 = a1; b2 = a2; b3 = a3;
    a0 = vec4f(); a1 = vec4f(); a2 = vec4f(); a3 = vec4f();
    y += 1u;
  }
}
