// Convolution, channels-last, groups = 1, as a matrix product of output pixels by channels.
// ${ROWS} pixels (in row-major order) x ${COLUMNS} channels an invocation, in registers.
//#if QUAD
// The four invocations of a quad take the same ${"channels" if ACROSS else "pixels"}: each reads a
// quarter of what they share and hands it round. Needs subgroups, with quads that are four neighbours
// in x.
//#end
//# ROWS, COLUMNS: of the tile; 4 or 8 channels, and in a quad pixels by fours. QUAD: whether quads
//# share reads. ACROSS: whether pixels lie along x and channels along y, so that quads share the weights.
//# Calls load_x(n, y, x, c4), load_w(ky, kx, c, o4), store_out(n, y, x, o4, value).
//#let BOTH = COLUMNS == 8
//#let SHARED = QUAD and not ACROSS

enable subgroups; //#if QUAD
//#include window.wgsl
const TILE_ROWS = ${ROWS}u;
const TILE_COLS = ${COLUMNS}u;

//#if ACROSS
// Four input channels by four output channels of one tap, of which this invocation has a row.
fn block(row: vec4f) -> mat4x4f {
  return mat4x4f(${each("quadBroadcast(row, #u)", range(4))});
}
//#else
// Four input channels by four output channels of one tap.
fn block(ky: u32, kx: u32, c4: u32, o4: u32) -> mat4x4f {
  let c = c4 * 4u;
  return mat4x4f(${each("load_w(ky, kx, c#, o4)", FOUR)});
}
//#end

//#include corner.wgsl

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let pixels = OUT_H * OUT_W;
  let o4 = id.${"y" if ACROSS else "x"}${" * 2u" if BOTH else ""};
  let first = id.${"x" if ACROSS else "y"} * TILE_ROWS;
  let n = id.z;
//#if QUAD
  // Reads past the last pixel or channel stay in: a quad must not lose a member.
  let lane = id.x % 4u;
//#else
  if (o4 * 4u >= OUT_C || first >= pixels) { return; }
//#end
//#if SHARED
  let corner${i} = corner(min(first${plus(4 * i)} + lane, pixels - 1u)); //#for i in range(ROWS // 4)
//#else
  let corner${r} = corner(min(first${plus(r)}, pixels - 1u)); //#for r in range(ROWS)
//#end
  var s${r}${sum} = vec4f(); //#for sum in "ab"[:COLUMNS // 4] //#for r in range(ROWS)
  // One loop over taps and channels: nested ones would move all sums at each level.
  let channels = (IN_C + 3u) / 4u;
  let taps_across = K_W;
  let steps = K_H * K_W * channels;
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let dilation = vec2u(DILATION_W, DILATION_H);
  var ky = 0u;
  var kx = 0u;
  var c4 = 0u;
  for (var step = 0u; step < steps; step++) {
    let tap = vec2u(kx, ky) * dilation;
//#for fours in range(COLUMNS // 4)
//#let of = "load_w(ky, kx, c4 * 4u + lane, o4#)" if ACROSS else "ky, kx, c4, o4#"
    let w${"ab"[fours]} = block(${each(of, [plus(fours)])});
//#end
    let mine${i} = pixel(n, corner${i} + tap, last, c4); //#for i in range(ROWS // 4) //#if SHARED
//#let QUARTERS = [f"quadBroadcast(mine{r // 4}, {r % 4}u)" for r in range(ROWS)]
//#let OWN = [f"pixel(n, corner{r} + tap, last, c4)" for r in range(ROWS)]
//#let READS = QUARTERS if SHARED else OWN
//#include sums.wgsl
    c4++;
    let next_x = c4 == channels;
    c4 = select(c4, 0u, next_x);
    kx = select(kx, kx + 1u, next_x);
    let next_y = kx == taps_across;
    kx = select(kx, 0u, next_y);
    ky = select(ky, ky + 1u, next_y);
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var left = array<vec4f, ${ROWS}>(${each("s#a", range(ROWS))});
  var right = array<vec4f, ${ROWS}>(${each("s#b", range(ROWS))}); //#if BOTH
  var y = first / OUT_W;
  var x = first - y * OUT_W;
  for (var r = 0u; r < min(TILE_ROWS, ${"max(pixels, first)" if ACROSS else "pixels"} - first); r++) {
    store_out(n, y, x, o4, left[r]); //#if not SHARED
    if (o4 * 4u < OUT_C) { store_out(n, y, x, o4, left[r]); } //#if SHARED
    if (o4 * 4u + 4u < OUT_C) { store_out(n, y, x, o4 + 1u, right[r]); } //#if BOTH
    x++;
    let wrap = x == OUT_W;
    x = select(x, 0u, wrap);
    y = select(y, y + 1u, wrap);
  }
}
