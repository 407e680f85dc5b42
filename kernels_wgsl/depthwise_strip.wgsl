//#let SUMS = "abcde"[:(SIZE + STRIDE - 1) // STRIDE]
// Depthwise convolution ${SIZE}x${SIZE}, stride ${STRIDE}, no dilation (IN_C = OUT_C = groups),
// channels-last. A strip of ${PIXELS} pixels x 4 channels an invocation, ${LINES} lines down: each line
// of the image is read once and added to the ${len(SUMS)} output lines it touches (a*: the newest,
// ${SUMS[-1]}*: the one that it completes).
//# SIZE: its height and width, odd. STRIDE: lines of the image that a turn reads, too. PIXELS, LINES:
//# of the strip.
//# Calls load_x(n, y, x, c4), load_w(ky, kx, c4), store_out(n, y, x, c4, value).
//#let BEHIND = len(SUMS) - 1

//#include window.wgsl
const TILE_PIXELS = ${PIXELS}u;
const TILE_LINES = ${LINES}u;
const TILE_CHANNELS = 4u;

//#include pixel.wgsl

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let strips = (OUT_W + TILE_PIXELS - 1u) / TILE_PIXELS;
  let c4 = id.x;
  let oy = id.y / strips * TILE_LINES;
  let ox = id.y % strips * TILE_PIXELS;
  let n = id.z;
  if (c4 * 4u >= OUT_C || oy >= OUT_H) { return; }
  let w${ky}${kx} = load_w(${ky}u, ${kx}u, c4); //#for kx in range(SIZE) //#for ky in range(SIZE)
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let lines = min(TILE_LINES, OUT_H - oy);
  let x = ox${" * 2u" if STRIDE == 2 else ""} - PAD_LEFT;
  var y = oy${" * 2u" if STRIDE == 2 else ""} - PAD_TOP;
  var ${sum}${p} = vec4f(); //#for p in range(PIXELS) //#for sum in SUMS
  for (var line = 0u; line < lines + ${BEHIND}u; line++) {
//#for step in range(STRIDE)
//#for at in range(STRIDE * (PIXELS - 1) + SIZE)
//#let v = f"{'vd'[step]}{at}"
    let ${v} = pixel(n, y${plus(step)}, x${plus(at)}, last, c4);
//#for p in range(PIXELS)
//#let kx = at - STRIDE * p
//#let lines = range(step, SIZE if 0 <= kx < SIZE else 0, STRIDE)
    ${SUMS[ky // STRIDE]}${p} += w${ky}${kx} * ${v}; //#for ky in lines
//#end
//#end
//#end
    if (line >= ${BEHIND}u) {
      let row = oy + line - ${BEHIND}u;
      store_out(n, row, ox, c4, ${SUMS[-1]}0);
//#for p in range(1, PIXELS)
      if (ox + ${p}u < OUT_W) { store_out(n, row, ox + ${p}u, c4, ${SUMS[-1]}${p}); }
//#end
    }
//#for i in range(len(SUMS) - 1, -1, -1)
//#let newer = f"{SUMS[i - 1]}#" if i else "vec4f()"
    ${SUMS[i]}${p} = ${each(newer, [p])}; //#for p in range(PIXELS)
//#end
    y += ${STRIDE}u;
  }
}
