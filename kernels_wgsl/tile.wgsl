//# Included by products in registers, at their beginning: which rows and columns an invocation takes,
//# and its sums. ROWS, COLUMNS, QUAD as in product.wgsl.
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
