// Depthwise convolution (IN_C = OUT_C = groups), channels-last, any window, stride and dilation:
// ${PIXELS} pixels of a line x 4 channels an invocation.
//# Calls load_x(n, y, x, c4), load_w(ky, kx, c4), store_out(n, y, x, c4, value).
//# PIXELS: of a line in an invocation's tile.

//#include window.wgsl
const TILE_PIXELS = ${PIXELS}u;
const TILE_CHANNELS = 4u;

//#include pixel.wgsl

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let tiles = (OUT_W + TILE_PIXELS - 1u) / TILE_PIXELS;
  let c4 = id.x;
  let oy = id.y / tiles;
  let ox = id.y % tiles * TILE_PIXELS;
  let n = id.z;
  if (c4 * 4u >= OUT_C || oy >= OUT_H) { return; }
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let top = oy * STRIDE_H - PAD_TOP;
  let left = ox * STRIDE_W - PAD_LEFT;
  var s${p} = vec4f(); //#for p in range(PIXELS)
  for (var ky = 0u; ky < K_H; ky++) {
    let y = top + ky * DILATION_H;
    for (var kx = 0u; kx < K_W; kx++) {
      let x = left + kx * DILATION_W;
      let w = load_w(ky, kx, c4);
//#for p in range(PIXELS)
//#let to = ("", " + STRIDE_W")[p] if p < 2 else f" + {p}u * STRIDE_W"
      s${p} += w * pixel(n, y, x${to}, last, c4);
//#end
    }
  }
  store_out(n, oy, ox, c4, s0);
  if (ox + ${p}u < OUT_W) { store_out(n, oy, ox + ${p}u, c4, s${p}); } //#for p in range(1, PIXELS)
}
