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
//#include tile.wgsl
  let steps = (${"end_of_sums()" if ENDS else "K"} + 3u) / 4u;
  for (var k4 = 0u; k4 < steps; k4++) {
    let wa = block(batch, k4, col4);
    let wb = block(batch, k4, col4 + 1u); //#if BOTH
    let mine${i} = load_a(batch, row${i}, k4); //#for i in range(ROWS // 4) //#if QUAD
//#let QUARTERS = [f"quadBroadcast(mine{r // 4}, {r % 4}u)" for r in range(ROWS)]
//#let READS = QUARTERS if QUAD else [f"load_a(batch, row{r or ''}, k4)" for r in range(ROWS)]
//#include sums.wgsl
  }
//#include stores.wgsl
}
