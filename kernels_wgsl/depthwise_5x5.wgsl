// Depthwise convolution 5x5, stride 1, no dilation (IN_C = OUT_C = groups), channels-last.
// A strip of 4 pixels x 4 channels an invocation, 28 lines down: each line of the image is read
// once and added to the 5 output lines it touches (a*: the newest, e*: the one that it completes).

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
  let x = ox - PAD_LEFT;
  var y = oy - PAD_TOP;
  var a0 = vec4f(); var a1 = vec4f(); var a2 = vec4f(); var a3 = vec4f();
  var b0 = vec4f(); var b1 = vec4f(); var b2 = vec4f(); var b3 = vec4f();
  var c0 = vec4f(); var c1 = vec4f(); var c2 = vec4f(); var c3 = vec4f();
  var d0 = vec4f(); var d1 = vec4f(); var d2 = vec4f(); var d3 = vec4f();
  var e0 = vec4f(); var e1 = vec4f(); var e2 = vec4f(); var e3 = vec4f();
  for (var line = 0u; line < lines + 4u; line++) {
    let v0 = pixel(n, y, x, last, c4);
    a0 += w00 * v0; b0 += w10 * v0; c0 += w20 * v0; d0 += w30 * v0; e0 += w40 * v0;
    let v1 = pixel(n, y, x + 1u, last, c4);
    a0 += w01 * v1; b0 += w11 * v1; c0 += w21 * v1; d0 += w31 * v1; e0 += w41 * v1;
    a1 += w00 * v1; b1 += w10 * v1; c1 += w20 * v1; d1 += w30 * v1; e1 += w40 * v1;
    let v2 = pixel(n, y, x + 2u, last, c4);
    a0 += w02 * v2; b0 += w12 * v2; c0 += w22 * v2; d0 += w32 * v2; e0 += w42 * v2;
    a1 += w01 * v2; b1 += w11 * v2; c1 += w21 * v2; d1 += w31 * v2; e1 += w41 * v2;
    a2 += w00 * v2; b2 += w10 * v2; c2 += w20 * v2; d2 += w30 * v2; e2 += w40 * v2;
    let v3 = pixel(n, y, x + 3u, last, c4);
    a0 += w03 * v3; b0 += w13 * v3; c0 += w23 * v3; d0 += w33 * v3; e0 += w43 * v3;
    a1 += w02 * v3; b1 += w12 * v3; c1 += w22 * v3; d1 += w32 * v3; e1 += w42 * v3;
    a2 += w01 * v3; b2 += w11 * v3; c2 += w21 * v3; d2 += w31 * v3; e2 += w41 * v3;
    a3 += w00 * v3; b3 += w10 * v3; c3 += w20 * v3; d3 += w30 * v3; e3 += w40 * v3;
    let v4 = pixel(n, y, x + 4u, last, c4);
    a0 += w04 * v4; b0 += w14 * v4; c0 += w24 * v4; d0 += w34 * v4; e0 += w44 * v4;
    a1 += w03 * v4; b1 += w13 * v4; c1 += w23 * v4; d1 += w33 * v4; e1 += w43 * v4;
    a2 += w02 * v4; b2 += w12 * v4; c2 += w22 * v4; d2 += w32 * v4; e2 += w42 * v4;
    a3 += w01 * v4; b3 += w11 * v4; c3 += w21 * v4; d3 += w31 * v4; e3 += w41 * v4;
    let v5 = pixel(n, y, x + 5u, last, c4);
    a1 += w04 * v5; b1 += w14 * v5; c1 += w24 * v5; d1 += w34 * v5; e1 += w44 * v5;
    a2 += w03 * v5; b2 += w13 * v5; c2 += w23 * v5; d2 += w33 * v5; e2 += w43 * v5;
    a3 += w02 * v5; b3 += w12 * v5; c3 += w22 * v5; d3 += w32 * v5; e3 += w42 * v5;
    let v6 = pixel(n, y, x + 6u, last, c4);
    a2 += w04 * v6; b2 += w14 * v6; c2 += w24 * v6; d2 += w34 * v6; e2 += w44 * v6;
    a3 += w03 * v6; b3 += w13 * v6; c3 += w23 * v6; d3 += w33 * v6; e3 += w43 * v6;
    let v7 = pixel(n, y, x + 7u, last, c4);
    a3 += w04 * v7; b3 += w14 * v7; c3 += w24 * v7; d3 += w34 * v7; e3 += w44 * v7;
    if (line >= 4u) {
      let row = oy + line - 4u;
      store_out(n, row, ox, c4, e0);
      if (ox + 1u < OUT_W) {
        store_out(n, row, ox + 1u, c4, e1);
      }
      if (ox + 2u < OUT_W) {
        store_out(n, row, ox + 2u, c4, e2);
      }
      if (ox + 3u < OUT_W) {
        store_out(n, row, ox + 3u, c4, e3);
      }
    }
    e0 = d0; e1 = d1; e2 = d2; e3 = d3;
    d0 = c0; d1 = c1; d2 = c2; d3 = c3;
    c0 = b0; c1 = b1; c2 = b2; c3 = b3;
    b0 = a0; b1 = a1; b2 = a2; b3 = a3;
    a0 = vec4f(); a1 = vec4f(); a2 = vec4f(); a3 = vec4f();
    y += 1u;
  }
}
