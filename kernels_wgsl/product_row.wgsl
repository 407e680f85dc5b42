// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
//#if SPLIT > 1
// One row x 4 columns by the ${SPLIT} invocations of one y and x, each of which takes every ${SPLIT}th
// step of K: for few rows on real GPUs, which one invocation for each output would leave idle.
//#else
// One row x 4 columns an invocation: for a single row.
//#end
//# SPLIT: invocations that share a row's columns, neighbours in y. DOWN, ENDS: as in product.wgsl.
//# Calls load_a(batch, row, k4), load_b(batch, k, col4), store_out(batch, row, col4, value).

override M: u32; override K: u32; override N: u32;
const TILE_ROWS = 1u;
const TILE_COLS = 4u;
const TILE_SPLIT = ${SPLIT}u; //#if SPLIT > 1

//#include block.wgsl

//#if SPLIT > 1
const ACROSS = 8u;
var<workgroup> sums: array<vec4f, ACROSS * TILE_SPLIT>;

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) index: u32) {
  let col4 = group.x * ACROSS + local.x;
  let row = group.y;
  let batch = group.z;
  // Reads past the last column stay in: all must come to the barriers.
  let from_col4 = min(col4, (N + 3u) / 4u - 1u);
//#else
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let col4 = id.x;
  let row = id.y;
  let batch = id.z;
  if (col4 * 4u >= N) { return; }
//#end
  var sum = vec4f();
  let steps = (${"end_of_sums()" if ENDS else "K"} + 3u) / 4u;
//#if SPLIT > 1
  for (var k4 = local.y; k4 < steps; k4 += TILE_SPLIT) {
    sum += block(batch, k4, from_col4) * load_a(batch, row, k4);
  }
  sums[index] = sum;
  for (var half = TILE_SPLIT / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local.y < half) {
      sums[index] += sums[index + half * ACROSS];
    }
  }
  if (local.y == 0u && col4 * 4u < N) {
    store_out(batch, row, col4, sums[index]);
  }
//#else
  for (var k4 = 0u; k4 < steps; k4++) {
    sum += block(batch, k4, col4) * load_a(batch, row, k4);
  }
  store_out(batch, row, col4, sum);
//#end
}
