//# Included by products in registers, at their end, with tile.wgsl.
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
