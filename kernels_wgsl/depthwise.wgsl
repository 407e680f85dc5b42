// Depthwise convolution (IN_C = OUT_C = groups), channels-last, any window, stride and dilation:
// 4 pixels of a row x 4 channels a thread.

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
const TILE_CHANNELS = 4u;

@group(0) @binding(0) var<storage, read> image: array<vec4f>;
@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x: u32, c: u32) -> vec4f {
  return image[(((n * IN_H + y) * IN_W + x) * IN_C + c) / 4u];
}

fn load_w(ky: u32, kx: u32, c: u32) -> vec4f {
  return weight[((ky * K_W + kx) * IN_C + c) / 4u];
}

fn store_out(n: u32, y: u32, x: u32, c: u32, value: vec4f) {
  out[(((n * OUT_H + y) * OUT_W + x) * OUT_C + c) / 4u] = value;
}

// The input at column x of row y; zero in the padding left and right of the row.
fn pixel(n: u32, y: u32, x: i32, c: u32) -> vec4f {
  return select(vec4f(), load_x(n, y, u32(clamp(x, 0, i32(IN_W) - 1)), c),
                x >= 0 && x < i32(IN_W));
}

@compute @workgroup_size(4, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let tiles = (OUT_W + TILE_PIXELS - 1u) / TILE_PIXELS;
  let c = id.x * TILE_CHANNELS;
  let oy = id.y / tiles;
  let ox = (id.y % tiles) * TILE_PIXELS;
  let n = id.z;
  if (c >= OUT_C || oy >= OUT_H) {
    return;
  }
  let top = i32(oy * STRIDE_H) - i32(PAD_TOP);
  let left = i32(ox * STRIDE_W) - i32(PAD_LEFT);
  var s0 = vec4f();
  var s1 = vec4f();
  var s2 = vec4f();
  var s3 = vec4f();
  for (var ky = 0u; ky < K_H; ky++) {
    let row = top + i32(ky * DILATION_H);
    if (row < 0 || row >= i32(IN_H)) {
      continue;
    }
    let y = u32(row);
    for (var kx = 0u; kx < K_W; kx++) {
      let w = load_w(ky, kx, c);
      let x = left + i32(kx * DILATION_W);
      s0 += w * pixel(n, y, x, c);
      s1 += w * pixel(n, y, x + i32(STRIDE_W), c);
      s2 += w * pixel(n, y, x + i32(2u * STRIDE_W), c);
      s3 += w * pixel(n, y, x + i32(3u * STRIDE_W), c);
    }
  }
  store_out(n, oy, ox, c, s0);
  if (ox + 1u < OUT_W) { store_out(n, oy, ox + 1u, c, s1); }
  if (ox + 2u < OUT_W) { store_out(n, oy, ox + 2u, c, s2); }
  if (ox + 3u < OUT_W) { store_out(n, oy, ox + 3u, c, s3); }
}
