// Convolution with any number of groups, channels-last, one output element a thread: correct for
// every case, fast for none. The rare grouped convolutions come here.
// Invocation (x, y, z) computes output channel x of output pixel y (row-major) of image z.

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
override GROUPS: u32;

const TILE_PIXELS = 1u;
const TILE_CHANNELS = 1u;

@group(0) @binding(0) var<storage, read> image: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

fn load_x(n: u32, y: u32, x: u32, c: u32) -> f32 {
  return image[((n * IN_H + y) * IN_W + x) * IN_C + c];
}

// c counts within the group of output channel o: the weight is (K_H, K_W, IN_C / GROUPS, OUT_C).
fn load_w(ky: u32, kx: u32, c: u32, o: u32) -> f32 {
  return weight[((ky * K_W + kx) * (IN_C / GROUPS) + c) * OUT_C + o];
}

fn store_out(n: u32, y: u32, x: u32, o: u32, value: f32) {
  out[((n * OUT_H + y) * OUT_W + x) * OUT_C + o] = value;
}

@compute @workgroup_size(16, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let o = id.x;
  let oy = id.y / OUT_W;
  let ox = id.y % OUT_W;
  let n = id.z;
  if (o >= OUT_C || oy >= OUT_H) {
    return;
  }
  let group_channels = IN_C / GROUPS;
  let first = (o / (OUT_C / GROUPS)) * group_channels;
  let top = i32(oy * STRIDE_H) - i32(PAD_TOP);
  let left = i32(ox * STRIDE_W) - i32(PAD_LEFT);
  var sum = 0.0;
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
      for (var c = 0u; c < group_channels; c++) {
        sum += load_x(n, u32(y), u32(x), first + c) * load_w(ky, kx, c, o);
      }
    }
  }
  store_out(n, oy, ox, o, sum);
}
