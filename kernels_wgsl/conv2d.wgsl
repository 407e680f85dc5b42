// Convolution, channels-last, groups = 1: 4 pixels of a row x 8 output channels a thread.

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
const TILE_CHANNELS = 8u;

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> w: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x_: u32, c: u32) -> vec4f {
  return x[(((n * IN_H + y) * IN_W + x_) * IN_C + c) / 4u];
}

fn load_w(ky: u32, kx: u32, c: u32, o: u32) -> vec4f {
  return w[(((ky * K_W + kx) * IN_C + c) * OUT_C + o) / 4u];
}

fn store_out(n: u32, y: u32, x_: u32, o: u32, value: vec4f) {
  out[(((n * OUT_H + y) * OUT_W + x_) * OUT_C + o) / 4u] = value;
}

@compute @workgroup_size(4, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let tiles = (OUT_W + TILE_PIXELS - 1u) / TILE_PIXELS;
  let o = id.x * TILE_CHANNELS;
  let oy = id.y / tiles;
  let ox = (id.y % tiles) * TILE_PIXELS;
  let n = id.z;
  if (o >= OUT_C || oy >= OUT_H) {
    return;
  }
  let top = i32(oy * STRIDE_H) - i32(PAD_TOP);
  let left = i32(ox * STRIDE_W) - i32(PAD_LEFT);
  var s00 = vec4f(); var s01 = vec4f();
  var s10 = vec4f(); var s11 = vec4f();
  var s20 = vec4f(); var s21 = vec4f();
  var s30 = vec4f(); var s31 = vec4f();
  for (var ky = 0u; ky < K_H; ky++) {
    let y = top + i32(ky * DILATION_H);
    if (y < 0 || y >= i32(IN_H)) {
      continue;
    }
    for (var kx = 0u; kx < K_W; kx++) {
      let x0 = left + i32(0u * STRIDE_W + kx * DILATION_W);
      let in0 = x0 >= 0 && x0 < i32(IN_W);
      let at0 = u32(clamp(x0, 0, i32(IN_W) - 1));
      let x1 = left + i32(1u * STRIDE_W + kx * DILATION_W);
      let in1 = x1 >= 0 && x1 < i32(IN_W);
      let at1 = u32(clamp(x1, 0, i32(IN_W) - 1));
      let x2 = left + i32(2u * STRIDE_W + kx * DILATION_W);
      let in2 = x2 >= 0 && x2 < i32(IN_W);
      let at2 = u32(clamp(x2, 0, i32(IN_W) - 1));
      let x3 = left + i32(3u * STRIDE_W + kx * DILATION_W);
      let in3 = x3 >= 0 && x3 < i32(IN_W);
      let at3 = u32(clamp(x3, 0, i32(IN_W) - 1));
      for (var c = 0u; c < IN_C; c += 4u) {
        let x_0 = select(vec4f(), load_x(n, u32(y), at0, c), in0);
        let x_1 = select(vec4f(), load_x(n, u32(y), at1, c), in1);
        let x_2 = select(vec4f(), load_x(n, u32(y), at2, c), in2);
        let x_3 = select(vec4f(), load_x(n, u32(y), at3, c), in3);
        let wx0 = load_w(ky, kx, c + 0u, o + 0u);
        let wx1 = load_w(ky, kx, c + 0u, o + 4u);
        s00 += x_0.x * wx0; s01 += x_0.x * wx1;
        s10 += x_1.x * wx0; s11 += x_1.x * wx1;
        s20 += x_2.x * wx0; s21 += x_2.x * wx1;
        s30 += x_3.x * wx0; s31 += x_3.x * wx1;
        let wy0 = load_w(ky, kx, c + 1u, o + 0u);
        let wy1 = load_w(ky, kx, c + 1u, o + 4u);
        s00 += x_0.y * wy0; s01 += x_0.y * wy1;
        s10 += x_1.y * wy0; s11 += x_1.y * wy1;
        s20 += x_2.y * wy0; s21 += x_2.y * wy1;
        s30 += x_3.y * wy0; s31 += x_3.y * wy1;
        let wz0 = load_w(ky, kx, c + 2u, o + 0u);
        let wz1 = load_w(ky, kx, c + 2u, o + 4u);
        s00 += x_0.z * wz0; s01 += x_0.z * wz1;
        s10 += x_1.z * wz0; s11 += x_1.z * wz1;
        s20 += x_2.z * wz0; s21 += x_2.z * wz1;
        s30 += x_3.z * wz0; s31 += x_3.z * wz1;
        let ww0 = load_w(ky, kx, c + 3u, o + 0u);
        let ww1 = load_w(ky, kx, c + 3u, o + 4u);
        s00 += x_0.w * ww0; s01 += x_0.w * ww1;
        s10 += x_1.w * ww0; s11 += x_1.w * ww1;
        s20 += x_2.w * ww0; s21 += x_2.w * ww1;
        s30 += x_3.w * ww0; s31 += x_3.w * ww1;
      }
    }
  }
  if (ox + 0u < OUT_W && o + 0u < OUT_C) { store_out(n, oy, ox + 0u, o + 0u, s00); }
  if (ox + 0u < OUT_W && o + 4u < OUT_C) { store_out(n, oy, ox + 0u, o + 4u, s01); }
  if (ox + 1u < OUT_W && o + 0u < OUT_C) { store_out(n, oy, ox + 1u, o + 0u, s10); }
  if (ox + 1u < OUT_W && o + 4u < OUT_C) { store_out(n, oy, ox + 1u, o + 4u, s11); }
  if (ox + 2u < OUT_W && o + 0u < OUT_C) { store_out(n, oy, ox + 2u, o + 0u, s20); }
  if (ox + 2u < OUT_W && o + 4u < OUT_C) { store_out(n, oy, ox + 2u, o + 4u, s21); }
  if (ox + 3u < OUT_W && o + 0u < OUT_C) { store_out(n, oy, ox + 3u, o + 0u, s30); }
  if (ox + 3u < OUT_W && o + 4u < OUT_C) { store_out(n, oy, ox + 3u, o + 4u, s31); }
}
