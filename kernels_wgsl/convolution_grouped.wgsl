// Convolution with any number of groups, channels-last, one output element a thread: correct for
// every case, fast for none. The rare grouped convolutions come here.
// Invocation (x, y, z) computes output channel x of output pixel y (row-major) of image z.
//# Calls load_x(n, y, x, c), load_w(ky, kx, c, o), where c counts within the group of channel o, and
//# store_out(n, y, x, o, value).

//#include window.wgsl
override GROUPS: u32;

const TILE_PIXELS = 1u;
const TILE_CHANNELS = 1u;

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let o = id.x;
  let oy = id.y / OUT_W;
  let ox = id.y % OUT_W;
  let n = id.z;
  if (o >= OUT_C || oy >= OUT_H) { return; }
  let group_channels = IN_C / GROUPS;
  let first = (o / (OUT_C / GROUPS)) * group_channels;
  let top = i32(oy * STRIDE_H) - i32(PAD_TOP);
  let left = i32(ox * STRIDE_W) - i32(PAD_LEFT);
  var sum = 0.0;
  for (var ky = 0u; ky < K_H; ky++) {
    let y = top + i32(ky * DILATION_H);
    if (y < 0 || y >= i32(IN_H)) { continue; }
    for (var kx = 0u; kx < K_W; kx++) {
      let x = left + i32(kx * DILATION_W);
      if (x < 0 || x >= i32(IN_W)) { continue; }
      for (var c = 0u; c < group_channels; c++) {
        sum += load_x(n, u32(y), u32(x), first + c) * load_w(ky, kx, c, o);
      }
    }
  }
  store_out(n, oy, ox, o, sum);
}
