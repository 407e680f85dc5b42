//#if WINDOW
// Convolution, channels-last, groups = 1, as a matrix product of output pixels by channels.
//#else
// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
//#end
// A workgroup takes ${8 * ROWS} rows x ${8 * ROWS} columns, ${ROWS} x ${ROWS} an invocation, and
// brings what these need into workgroup memory first: for real GPUs.
//#if HALF
// There it lies as float16, rounded, and lost where it is beyond 65504; products and sums are
// float32, so that errors do not add up.
//#end
//# ROWS: 4 or 8, of a tile that is as wide. HALF: whether operands wait as float16. WINDOW: whether
//# rows are the pixels of a convolution and columns its channels. ENDS: as in product.wgsl.
//# Calls load_a(batch, row, k4), load_b(batch, k, col4), store_out(batch, row, col4, value); with a
//# window load_x(n, y, x, c4), load_w(ky, kx, c, o4), store_out(n, y, x, o4, value).
//#let BOTH = ROWS == 8
//#let HEIGHT = "pixels" if WINDOW else "M"
//#let WIDTH = "OUT_C" if WINDOW else "N"
//#let IMAGE = "n" if WINDOW else "batch"
//#let STEPS = ["", " + FOURS", " + 2u * FOURS", " + 3u * FOURS"]
//#let WAITS = "vec4h" if HALF else "vec4f"
//#let AS = "vec4h(" if HALF else ""
//#let BACK = "vec4f(" if HALF else ""
//#let END = ")" if HALF else ""

enable f16; //#if HALF
//#if WINDOW
//#include window.wgsl
//#else
override M: u32; override K: u32; override N: u32;
//#end
const TILE_ROWS = ${ROWS}u;
const TILE_COLS = ${ROWS}u;

// Of a workgroup: its rows, fours of columns, DEPTH fours of the inner length at a time.
// Invocation (x, y) takes the rows y, y + 8 and so on, and the fours of columns x and, of
// two, x + 8: neighbours read neighbouring words, or the same.
const SIDE = ${8 * ROWS}u;
const FOURS = ${2 * ROWS}u;
const DEPTH = 4u;
const PITCH = ${8 * ROWS + 2}u; // not SIDE: invocations that write at once do so in different banks
var<workgroup> tile_a: array<${WAITS}, DEPTH * PITCH>;
var<workgroup> tile_b: array<${WAITS}, DEPTH * 4u * FOURS>;
//#if WINDOW
var<workgroup> corners: array<vec2u, SIDE>;

//#include corner.wgsl

// Column and line of the window, and four of channels, that a step of the product takes.
fn tap_of(step: u32, channels: u32) -> vec3u {
  let tap = step / channels;
  let ky = tap / K_W;
  return vec3u(tap - ky * K_W, ky, step - tap * channels);
}
//#end

// Four steps of the inner length by four columns; times a vector along it it gives four outputs.
fn block(depth: u32, four: u32) -> mat4x4f {
  let at = depth * 4u * FOURS + four;
  return mat4x4f(${each(BACK + "tile_b[at#]" + END, STEPS)});
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) index: u32) {
  let pixels = OUT_H * OUT_W; //#if WINDOW
  let first = group.y * SIDE;
  let first_four = group.x * FOURS;
  let ${IMAGE} = group.z;
//#if WINDOW
  let channels = (IN_C + 3u) / 4u;
  let steps = K_H * K_W * channels;
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let dilation = vec2u(DILATION_W, DILATION_H);
//#else
  let steps = (${"end_of_sums()" if ENDS else "K"} + 3u) / 4u;
//#end
  // What this invocation brings: rows at one depth, inner steps of one four of columns.
  let a_depth = index % DEPTH;
  let a_row = index / DEPTH;
  let b_four = index % FOURS;
  let b_k = index / FOURS * ${ROWS // 2}u;
  let from_four = min(first_four + b_four, (${WIDTH} + 3u) / 4u - 1u);
//#if WINDOW
  corners[index] = corner(min(first + index, pixels - 1u)); //#if BOTH
  if (index < SIDE) { corners[index] = corner(min(first + index, pixels - 1u)); } //#if not BOTH
//#end
  var s${r}${sum} = vec4f(); //#for sum in "ab"[:ROWS // 4] //#for r in range(ROWS)
  for (var step = 0u; step < steps; step += DEPTH) {
    // All have read what is overwritten${", and all corners are there" if WINDOW else ""}.
    workgroupBarrier();
    // Past the end both are zero: what lies there, times zero, need not be.
    let a_step = step + a_depth;
//#if WINDOW
    let a_tap = tap_of(min(a_step, steps - 1u), channels);
    let tap = a_tap.xy * dilation;
//#else
    let a_k4 = min(a_step, steps - 1u);
//#end
    for (var i = 0u; i < ${ROWS // 2}u; i++) {
      let row = a_row + i * 16u;
//#if WINDOW
      let value = pixel(n, corners[row] + tap, last, a_tap.z);
//#else
      let value = load_a(batch, min(first + row, M - 1u), a_k4);
//#end
      tile_a[a_depth * PITCH + row] = ${AS}select(vec4f(), value, a_step < steps)${END};
    }
    let b_step = step + b_k / 4u;
//#if WINDOW
    let b_tap = tap_of(min(b_step, steps - 1u), channels);
    let b_first = b_tap.z * 4u + b_k % 4u;
//#else
    let b_first = min(b_step, steps - 1u) * 4u + b_k % 4u;
//#end
    for (var i = 0u; i < ${ROWS // 2}u; i++) {
      let value = ${"load_w(b_tap.y, b_tap.x, " if WINDOW else "load_b(batch, "}b_first + i, from_four);
      tile_b[(b_k + i) * FOURS + b_four] = ${AS}select(vec4f(), value, b_step < steps)${END};
    }
    workgroupBarrier();
    for (var depth = 0u; depth < DEPTH; depth++) {
      let row = depth * PITCH + local.y;
      let wa = block(depth, local.x);
      let wb = block(depth, local.x + 8u); //#if BOTH
//#for r in range(ROWS)
      let x${r} = ${BACK}tile_a[row${plus(8 * r)}]${END};
      s${r}a += wa * x${r};
      s${r}b += wb * x${r}; //#if BOTH
//#end
    }
  }
  // An array, so that what is fused in store_out is compiled once; the loop has a fixed length,
  // for compilers to keep the array in registers.
  var left = array<vec4f, ${ROWS}>(${each("s#a", range(ROWS))});
  var right = array<vec4f, ${ROWS}>(${each("s#b", range(ROWS))}); //#if BOTH
  let four = first_four + local.x;
  for (var r = 0u; r < TILE_ROWS; r++) {
    let row = first + local.y + r * 8u;
//#if WINDOW
    let y = row / OUT_W;
    let x = row - y * OUT_W;
//#end
//#let at = "n, y, x" if WINDOW else "batch, row"
    if (row < ${HEIGHT} && four * 4u < ${WIDTH}) {
      store_out(${at}, four, left[r]);
    }
//#if BOTH
    if (row < ${HEIGHT} && (four + 8u) * 4u < ${WIDTH}) {
      store_out(${at}, four + 8u, right[r]);
    }
//#end
  }
}
