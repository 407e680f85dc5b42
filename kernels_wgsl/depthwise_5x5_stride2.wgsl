// Depthwise convolution 5x5, stride 2, no dilation (IN_C = OUT_C = groups), channels-last.
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
  let w03 = load_w(0u, 3u, c4); let w04 = load_w(0u, 4u, c4);
  let w10 = load_w(1u, 0u, c4); let w11 = load_w(1u, 1u, c4); let w12 = load_w(1u, 2u, c4);
  let w13 = load_w(1u, 3u, c4); let w14 = load_w(1u, 4u, c4);
  let w20 = load_w(2u, 0u, c4); let w21 = load_w(2u, 1u, c4); let w22 = load_w(2u, 2u, c4);
  let w23 = load_w(2u, 3u, c4); let w24 = load_w(2u, 4u, c4);
  let w30 = load_w(3u, 0u, c4); let w31 = load_w(3u, 1u, c4); let w32 = load_w(3u, 2u, c4);
  let w33 = load_w(3u, 3u, c4); let w34 = load_w(3u, 4u, c4);
  let w40 = load_w(4u, 0u, c4); let w41 = load_w(4u, 1u, c4); let w42 = load_w(4u, 2u, c4);
  let w43 = load_w(4u, 3u, c4); let w44 = load_w(4u, 4u, c4);
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let lines = min(TILE_LINES, OUT_H - oy);
  let x = ox * 2u - PAD_LEFT;
  var y = oy * 2u - PAD_TOP;
  var a0 = vec4f(); var a1 = vec4f(); var a2 = vec4f(); var a3 = vec4f();
  var b0 = vec4f(); var b1 = vec4f(); var b2 = vec4f(); var b3 = vec4f();
  var c0 = vec4f(); var c1 = vec4f(); var c2 = vec4f(); var c3 = vec4f();
  for (var line = 0u; line < lines + 2u; line++) {
    let u0 = pixel(n, y, x, last, c4);
    a0 += w00 * u0; b0 += w20 * u0; c0 += w40 * u0;
    let u1 = pixel(n, y, x + 1u, last, c4);
    a0 += w01 * u1; b0 += w21 * u1; c0 += w41 * u1;
    let u2 = pixel(n, y, x + 2u, last, c4);
    a0 += w02 * u2; b0 += w22 * u2; c0 += w42 * u2;
    a1 += w00 * u2; b1 += w20 * u2; c1 += w40 * u2;
    let u3 = pixel(n, y, x + 3u, last, c4);
    a0 += w03 * u3; b0 += w23 * u3; c0 += w43 * u3;
    a1 += w01 * u3; b1 += w21 * u3; c1 += w41 * u3;
    let u4 = pixel(n, y, x + 4u, last, c4);
    a0 += w04 * u4; b0 += w24 * u4; c0 += w44 * u4;
    a1 += w02 * u4; b1 += w22 * u4; c1 += w42 * u4;
    a2 += w00 * u4; b2 += w20 * u4; c2 += w40 * u4;
    let u5 = pixel(n, y, x + 5u, last, c4);
    a1 += w03 * u5; b1 += w23 * u5; c1 += w43 * u5;
    a2 += w01 * u5; b2 += w21 * u5; c2 += w41 * u5;
    let u6 = pixel(n, y, x + 6u, last, c4);
    a1 += w04 * u6; b1 += w24 * u6; c1 += w44 * u6;
    a2 += w02 * u6; b2 += w22 * u6; c2 += w42 * u6;
    a3 += w00 * u6; b3 += w20 * u6; c3 += w40 * u6;
    let u7 = pixel(n, y, x + 7u, last, c4);
    a2 += w03 * u7; b2 += w23 * u7; c2 += w43 * u7;
    a3 += w01 * u7; b3 += w21 * u7; c3 += w41 * u7;
    let u8 = pixel(n, y, x + 8u, last, c4);
    a2 += w04 * u8; b2 += w24 * u8; c2 += w44 * u8;
    a3 += w02 * u8; b3 += w22 * u8; c3 += w42 * u8;
    let u9 = pixel(n, y, x + 9u, last, c4);
    a3 += w03 * u9; b3 += w23 * u9; c3 += w43 * u9;
    let u10 = pixel(n, y, x + 10u, last, c4);
    a3 += w04 * u10; b3 += w24 * u10; c3 += w44 * u10;
    let d0 = pixel(n, y + 1u, x, last, c4);
    a0 += w10 * d0; b0 += w30 * d0;
    let d1 = pixel(n, y + 1u, x + 1u, last, c4);
    a0 += w11 * d1; b0 += w31 * d1;
    let d2 = pixel(n, y + 1u, x + 2u, last, c4);
    a0 += w12 * d2; b0 += w32 * d2;
    a1 += w10 * d2; b1 += w30 * d2;
    let d3 = pixel(n, y + 1u, x + 3u, last, c4);
    a0 += w13 * d3; b0 += w33 * d3;
    a1 += w11 * d3; b1 += w31 * d3;
    let d4 = pixel(n, y + 1u, x + 4u, last, c4);
    a0 += w14 * d4; b0 += w34 * d4;
    a1 += w12 * d4; b1 += w32 * d4;
    a2 += w10 * d4; b2 += w30 * d4;
    let d5 = pixel(n, y + 1u, x + 5u, last, c4);
    a1 += w13 * d5; b1 += w33 * d5;
    a2 += w11 * d5; b2 += w31 * d5;
    let d6 = pixel(n, y + 1u, x + 6u, last, c4);
    a1 += w14 * d6; b1 += w34 * d6;
    a2 += w12 * d6; b2 += w32 * d6;
    a3 += w10 * d6; b3 += w30 * d6;
    let d7 = pixel(n, y + 1u, x + 7u, last, c4);
    a2 += w13 * d7; b2 += w33 * d7;
    a3 += w11 * d7; b3 += w31 * d7;
    let d8 = pixel(n, y + 1u, x + 8u, last, c4);
    a2 += w14 * d8; b2 += w34 * d8;
    a3 += w12 * d8; b3 += w32 * d8;
    let d9 = pixel(n, y + 1u, x + 9u, last, c4);
    a3 += w13 * d9; b3 += w33 * d9;
    let d10 = pixel(n, y + 1u, x + 10u, last, c4);
    a3 += w14 * d10; b3 += w34 * d10;
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
    y += 2u;
  }
}
