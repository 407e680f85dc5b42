// Product of rows and a weight in blocks of few bits, which is read as it lies in its file:
// out[row, col] = sum over k of a[row, k] * ((code[col, k] - zero) * scale[col, block] + minimum[col, block]).
//#if SPLIT > 1
// A row x 4 columns by the ${SPLIT} invocations of one y and z, neighbours in x, each of which takes
// every ${SPLIT}th step of 32 elements: for real GPUs.
//#else
// A row x ${COLUMNS} columns an invocation, which share what a step of 32 elements reads of the row.
//#end
//# COLUMNS: 4, or 8 where SPLIT is 1. SPLIT: invocations that share columns. BITS: of an element, 4 or
//# 8. TURN: bits of a word that are turned, so that signed elements are not negative. ZERO: what is
//# taken from them then. BLOCK: elements of a block, 16 or a multiple of 32. BLOCKS: of a column.
//# MINIMA: whether blocks have minima.
//# Calls load_a(batch, row, k4), load_words(col, word4), load_scale(col, block), and with MINIMA
//# load_minimum(col, block); store_out(batch, row, col4, value).
//#let WHOLE = "0u" if BLOCKS == 1 else "step" if BLOCK == 32 else f"step / {BLOCK // 32 or 1}u"
//#let OF_STEP = [("step * 2u", 0, 4), ("step * 2u + 1u", 4, 8)] if BLOCK == 16 else [(WHOLE, 0, 8)]
//#let FOURS_OF_4 = [f"vec4u(words0.{'xyzw'[q // 2]}{' >> 16u' if q % 2 else ''})" for q in range(8)]
//#let PLACES = [f"words{q // 4}.{'xyzw'[q % 4]}" for q in range(8)]
//#let FOURS = FOURS_OF_4 if BITS == 4 else [f"vec2u({at}, {at} >> 16u).xxyy" for at in PLACES]

override K: u32; override N: u32;
const TILE_COLS = ${COLUMNS}u;

//#include masks.wgsl

// Four elements of a column times four of the row.
fn four(words: vec4u, x: vec4f) -> f32 {
  return dot(masked(words), x);
}

//#if SPLIT > 1
const ACROSS = 8u;
var<workgroup> sums: array<vec4f, ACROSS * ${SPLIT}u>;

//#end
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) index: u32) {
  let first = id.y * TILE_COLS;
  let row = id.z;
  if (first >= N) { return; } //#if SPLIT == 1
  var sum${c} = 0f; //#for c in range(COLUMNS)
  for (var step = local.x; step < K / 32u; step += ${SPLIT}u) {
    let a${q} = load_a(0u, row, step * 8u${plus(q)}); //#for q in range(8)
    let x${q} = a${q} * SMALLER; //#for q in range(8)
//#if MINIMA
//#for place in OF_STEP
//#let all = " + ".join([f"a{q}" for q in range(*place[1:])])
    let all${place[1]} = dot(${all}, vec4f(1));
//#end
//#end
//#for c in range(COLUMNS)
    {
      let col = first${plus(c)};
      let words${v} = load_words(col, step${" * 2u" if BITS == 8 else ""}${plus(v)}) ^ vec4u(${TURN}); //#for v in range(BITS // 4)
//#for place in OF_STEP
//#let fours = " + ".join([f"four({FOURS[q]}, x{q})" for q in range(*place[1:])])
      sum${c} += load_scale(col, ${place[0]}) * (${fours});
      sum${c} += load_minimum(col, ${place[0]}) * all${place[1]}; //#if MINIMA
//#end
    }
//#end
  }
//#if SPLIT > 1
  sums[index] = vec4f(sum0, sum1, sum2, sum3);
  for (var half = ${SPLIT // 2}u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local.x < half) {
      sums[index] += sums[index + half];
    }
  }
  if (local.x == 0u && first < N) {
    store_out(0u, row, id.y, sums[index]);
  }
//#else
  let col4 = id.y${" * 2u" if COLUMNS == 8 else ""};
  store_out(0u, row, col4, vec4f(sum0, sum1, sum2, sum3));
  if (first + 4u < N) { store_out(0u, row, col4 + 1u, vec4f(sum4, sum5, sum6, sum7)); } //#if COLUMNS == 8
//#end
}
