// Maximum (IS_MAX) or sum over windows, channels-last, 4 channels of one pixel a thread. Padding is
// skipped; a window that holds nothing but padding gives -infinity (max) or zero (sum).
// Invocation (x, y, z) computes channels 4x .. 4x+3 of output pixel y (row-major) of image z.

override IN_H: u32;
override IN_W: u32;
override IN_C: u32;
override OUT_H: u32;
override OUT_W: u32;
override K_H: u32;
override K_W: u32;
override STRIDE_H: u32;
override STRIDE_W: u32;
override PAD_TOP: u32;
override PAD_LEFT: u32;
override DILATION_H: u32;
override DILATION_W: u32;
override IS_MAX: bool;

const TILE_PIXELS = 1u;
const TILE_CHANNELS = 4u;

@group(0) @binding(0) var<storage, read> image: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x: u32, c: u32) -> vec4f {
  return image[(((n * IN_H + y) * IN_W + x) * IN_C + c) / 4u];
}

fn store_out(n: u32, y: u32, x: u32, c: u32, value: vec4f) {
  out[(((n * OUT_H + y) * OUT_W + x) * IN_C + c) / 4u] = value;
}

@compute @workgroup_size(4, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x * TILE_CHANNELS;
  let oy = id.y / OUT_W;
  let ox = id.y % OUT_W;
  let n = id.z;
  if (c >= IN_C || oy >= OUT_H) {
    return;
  }
  let top = i32(oy * STRIDE_H) - i32(PAD_TOP);
  let left = i32(ox * STRIDE_W) - i32(PAD_LEFT);
  // WGSL refuses a constant infinity, so the bits of -inf are shifted into place at run time.
  var result = vec4f();
  if (IS_MAX) {
    result = vec4f(bitcast<f32>(0xff800000u | (id.z & 0u)));
  }
  for (var ky = 0u; ky < K_H; ky++) {
    let y = top + i32(ky * DILATION_H);
    if (y < 0 || y >= i32(IN_H)) {
      continue;
    }
    for (var kx = 0u; kx < K_W; kx++) {
      let x = left + i32(kx * DILATION_W);
      if (x < 0 || x >= i32(IN_W)) {
        continue;
      }
      let value = load_x(n, u32(y), u32(x), c);
      if (IS_MAX) {
        result = max(result, value);
      } else {
        result += value;
      }
    }
  }
  store_out(n, oy, ox, c, result);
}
