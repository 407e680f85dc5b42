// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
// One row x 4 columns by the 16 invocations of one y and x, each of which takes every 16th step
// of K: for few rows on real GPUs, which one invocation for each output would leave idle.

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 1u;
const TILE_COLS = 4u;
const TILE_SPLIT = 16u; // invocations for the same outputs, neighbours in y

@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_a(batch: u32, row: u32, k4: u32) -> vec4f {
  return a[(batch * M + row) * (K / 4u) + k4];
}

fn load_b(batch: u32, k: u32, col4: u32) -> vec4f {
  return b[(batch * K + k) * (N / 4u) + col4];
}

fn store_out(batch: u32, row: u32, col4: u32, value: vec4f) {
  out[(batch * M + row) * (N / 4u) + col4] = value;
}

// Rows 4 * k4 .. of b, four columns wide; times a vector along k it gives four outputs.
fn block(batch: u32, k4: u32, col4: u32) -> mat4x4f {
  let k = k4 * 4u;
  return mat4x4f(load_b(batch, k, col4), load_b(batch, k + 1u, col4),
                 load_b(batch, k + 2u, col4), load_b(batch, k + 3u, col4));
}

const ACROSS = 8u;
var<workgroup> sums: array<vec4f, ACROSS * TILE_SPLIT>;

@compute @workgroup_size(8, 16, 1)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) index: u32) {
  let col4 = group.x * ACROSS + local.x;
  let row = group.y;
  let batch = group.z;
  // Reads past the last column stay in: all must come to the barriers.
  let from_col4 = min(col4, (N + 3u) / 4u - 1u);
  var sum = vec4f();
  let steps = (K + 3u) / 4u;
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
}
