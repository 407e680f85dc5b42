// Product of many rows and a weight in blocks of few bits, as product_blocks.wgsl has it of few:
// ${ROWS} rows x ${COLUMNS} columns an invocation, in registers. The elements of a block are decoded as
// they are read, for all rows; its scale is read once.
//#if QUAD
// The four invocations of a quad take the same rows and neighbouring columns: each reads a quarter of
// the rows and hands it round. Needs subgroups, with quads that are four neighbours in x.
//#end
//# ROWS, COLUMNS: of the tile; 4 or 8 columns, and in a quad rows by fours. QUAD: whether quads share
//# reads. BITS, TURN, ZERO, BLOCK, MINIMA: as in product_blocks.wgsl.
//# Calls load_a(batch, row, k4), load_word(col, word), load_scale(col, block), and with MINIMA
//# load_minimum(col, block); store_out(batch, row, col4, value).
//#let BOTH = COLUMNS == 8

enable subgroups; //#if QUAD
override M: u32; override K: u32; override N: u32;
const TILE_ROWS = ${ROWS}u;
const TILE_COLS = ${COLUMNS}u;

//#include masks.wgsl

// Four elements of a column, as numbers.
fn four(col: u32, k4: u32, scale: f32, minimum: f32) -> vec4f {
//#if BITS == 4
  let word = load_word(col, k4 / 2u) ^ ${TURN};
  return masked(vec4u(select(word, word >> 16u, k4 % 2u == 1u))) * SMALLER * scale + minimum;
//#else
  let word = load_word(col, k4) ^ ${TURN};
  return masked(vec2u(word, word >> 16u).xxyy) * SMALLER * scale + minimum;
//#end
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
//#include tile.wgsl
  for (var number = 0u; number < K / ${BLOCK}u; number++) {
//#for c in range(COLUMNS)
    let scale${c} = load_scale(col4 * 4u${plus(c)}, number);
    let minimum${c} = 0f; //#if not MINIMA
    let minimum${c} = load_minimum(col4 * 4u${plus(c)}, number); //#if MINIMA
//#end
    for (var k4 = number * ${BLOCK // 4}u; k4 < (number + 1u) * ${BLOCK // 4}u; k4++) {
      let v${c} = four(col4 * 4u${plus(c)}, k4, scale${c}, minimum${c}); //#for c in range(COLUMNS)
      let wa = transpose(mat4x4f(v0, v1, v2, v3));
      let wb = transpose(mat4x4f(v4, v5, v6, v7)); //#if BOTH
      let mine${i} = load_a(batch, row${i}, k4); //#for i in range(ROWS // 4) //#if QUAD
//#let QUARTERS = [f"quadBroadcast(mine{r // 4}, {r % 4}u)" for r in range(ROWS)]
//#let READS = QUARTERS if QUAD else [f"load_a(batch, row{r or ''}, k4)" for r in range(ROWS)]
//#include sums.wgsl
    }
  }
//#include stores.wgsl
}
