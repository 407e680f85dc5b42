// Depthwise convolution 3x3, stride 2, no dilation (IN_C = OUT_C = groups), channels-last.
// A strip of 4 pixels x 4 channels an invocation, 28 lines down: each line of the image is read
// once and added to the 2 output lines it touches (a*: the newest, b*: the one that it completes).

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
  let x = ox * 2u - PAD_LEFT;
  var y = oy * 2u - PAD_TOP;
  var a0 = vec4f(); var a1 = vec4f(); var a2 = vec4f(); var a3 = vec4f();
  var b0 = vec4f(); var b1 = vec4f(); var b2 = vec4f(); var b3 = vec4f();
  for (var line = 0u; line < lines + 1u; line++) {
    let u0 = pixel(n, y, x, last, c4);
    a0 += w00 * u0; b0 += w20 * u0;
    let u1 = pixel(n, y, x + 1u, last, c4);
    a0 += w01 * u1; b0 += w21 * u1;
    let u2 = pixel(n, y, x + 2u, last, c4);
    a0 += w02 * u2; b0 += w22 * u2;
    a1 += w00 * u2; b1 += w20 * u2;
    let u3 = pixel(n, y, x + 3u, last, c4);
    a1 += w01 * u3; b1 += w21 * u3;
    let u4 = pixel(n, y, x + 4u, last, c4);
    a1 += w02 * u4; b1 += w22 * u4;
    a2 += w00 * u4; b2 += w20 * u4;
    let u5 = pixel(n, y, x + 5u, last, c4);
    a2 += w01 * u5; b2 += w21 * u5;
    let u6 = pixel(n, y, x + 6u, last, c4);
    a2 += w02 * u6; b2 += w22 * u6;
    a3 += w00 * u6; b3 += w20 * u6;
    let u7 = pixel(n, y, x + 7u, last, c4);
    a3 += w01 * u7; b3 += w21 * u7;
    let u8 = pixel(n, y, x + 8u, last, c4);
    a3 += w02 * u8; b3 += w22 * u8;
    let d0 = pixel(n, y + 1u, x, last, c4);
    a0 += w10 * d0;
    let d1 = pixel(n, y + 1u, x + 1u, last, c4);
    a0 += w11 * d1;
    let d2 = pixel(n, y + 1u, x + 2u, last, c4);
    a0 += w12 * d2;
    a1 += w10 * d2;
    let d3 = pixel(n, y + 1u, x + 3u, last, c4);
    a1 += w11 * d3;
    let d4 = pixel(n, y + 1u, x + 4u, last, c4);
    a1 += w12 * d4;
    a2 += w10 * d4;
    let d5 = pixel(n, y + 1u, x + 5u, last, c4);
    a2 += w11 * d5;
    let d6 = pixel(n, y + 1u, x + 6u, last, c4);
    a2 += w12 * d6;
    a3 += w10 * d6;
    let d7 = pixel(n, y + 1u, x + 7u, last, c4);
    a3 += w11 * d7;
    let d8 = pixel(n, y + 1u, x + 8u, last, c4);
    a3 += w12 * d8;
    if (line >= 1u) {
      let row = oy + line - 1u;
      store_out(n, row, ox, c4, b0);
      if (ox + 1u < OUT_W) {
        store_out(n, row, ox + 1u, c4, b1);
      }
      if (ox + 2u < OUT_W) {
        store_out(n, row, ox + 2u, c4, b2);
      }
      if (ox + 3u < OUT_W) {
        store_out(n, row, ox + 3u, c4, b3);
      }
    }
    b0 = a0; b1 = a1; b2 = a2; b3 = a3;
    a0 = vec4f(); a1 = vec4f(); a2 = vec4f(); a3 = vec4f();
    y += 2u;
  }
}
