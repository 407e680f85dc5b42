// Matrix product for few rows (M = 1..3): one row and 4 columns a thread.

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 1u;
const TILE_COLS = 4u;

@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_a(batch: u32, row: u32, k: u32) -> vec4f {
  return a[((batch * M + row) * K + k) / 4u];
}

fn load_b(batch: u32, k: u32, col: u32) -> vec4f {
  return b[((batch * K + k) * N + col) / 4u];
}

fn store_out(batch: u32, row: u32, col: u32, value: vec4f) {
  out[((batch * M + row) * N + col) / 4u] = value;
}

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let col = id.x * TILE_COLS;
  let row = id.y * TILE_ROWS;
  let batch = id.z;
  if (col >= N || row >= M) {
    return;
  }
  var s00 = vec4f();
  for (var k = 0u; k < K; k += 4u) {
    let a0 = load_a(batch, row, k);
    let bx0 = load_b(batch, k + 0u, col + 0u);
    s00 += a0.x * bx0;
    let by0 = load_b(batch, k + 1u, col + 0u);
    s00 += a0.y * by0;
    let bz0 = load_b(batch, k + 2u, col + 0u);
    s00 += a0.z * bz0;
    let bw0 = load_b(batch, k + 3u, col + 0u);
    s00 += a0.w * bw0;
  }
  if (row + 0u < M && col + 0u < N) { store_out(batch, row + 0u, col + 0u, s00); }
}
