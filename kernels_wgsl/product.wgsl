// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
// ${ROWS} rows x ${COLUMNS} columns an invocation, in registers.
//#if QUAD
// The four invocations of a quad take the same rows and neighbouring columns: each reads a quarter of
// the rows and hands it round, since on a software adapter a read costs as much as a dozen vector
// multiplications. Needs subgroups, with quads that are four neighbours in x.
//#end
//# ROWS, COLUMNS: of the tile; 4 or 8 columns, and in a quad rows by fours. QUAD: whether quads share
//# reads. DOWN: whether b is read along k, by load_column. ENDS: whether sums end at a length that is read.
//# Calls load_a(batch, row, k4), load_b(batch, k, col4), store_out(batch, row, col4, value); with
//# ENDS, end_of_sums().
//#let BOTH = COLUMNS == 8

enable subgroups; //#if QUAD
override M: u32; override K: u32; override N: u32;
const TILE_ROWS = ${ROWS}u;
const TILE_COLS = ${COLUMNS}u;

//#include block.wgsl

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let col4 = id.x${" * 2u" if BOTH else ""};
  let row = id.y * TILE_ROWS;
  let batch = id.z;
//#if QUAD
  // Reads past the last row or column stay in: a quad must not lose a member.
  let lane = id.x % 4u;
  let row${i} = min(row${plus(4 * i)} + lane, M - 1u); //#for i in range(ROWS // 4)
//#else
  if (col4 * 4u >= N || row >= M) { return; }
  let row${r} = min(row + ${r}u, M - 1u); //#for r in range(1, ROWS)
//#end
  var s${r}${sum} = vec4f(); //#for sum in "ab"[:COLUMNS // 4] //#for r in range(ROWS)
  let steps = (${"end_of_sums()" if ENDS else "K"} + 3u) / 4u;
  for (var k4 = 0u; k4 < steps; k4++) {
    let wa = block(batch, k4, col4);
    let wb = block(batch, k4, col4 + 1u); //#if BOTH
    let mine${i} = load_a(batch, row${i}, k4); //#for i in range(ROWS // 4) //#if QUAD
//#let QUARTERS = [f"quadBroadcast(mine{r // 4}, {r % 4}u)" for r in range(ROWS)]
//#let READS = QUARTERS if QUAD else [f"load_a(batch, row{r or ''}, k4)" for r in range(ROWS)]
//#include sums.wgsl
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var left = array<vec4f, ${ROWS}>(${each("s#a", range(ROWS))});
  var right = array<vec4f, ${ROWS}>(${each("s#b", range(ROWS))}); //#if BOTH
//#if QUAD and not BOTH
  if (col4 * 4u < N) {
    for (var r = 0u; r < min(TILE_ROWS, M - row); r++) {
      store_out(batch, row + r, col4, left[r]);
    }
  }
//#else
  for (var r = 0u; r < min(TILE_ROWS, M - row); r++) {
    store_out(batch, row + r, col4, left[r]); //#if not QUAD
    if (col4 * 4u < N) { store_out(batch, row + r, col4, left[r]); } //#if QUAD
    if (col4 * 4u + 4u < N) { store_out(batch, row + r, col4 + 1u, right[r]); } //#if BOTH
  }
//#end
}
