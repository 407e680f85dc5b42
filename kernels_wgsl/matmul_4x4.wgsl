// Matrix product: 4 x 4 outputs a thread, for small products that need more threads.

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 4u;
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

@compute @workgroup_size(4, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let col = id.x * TILE_COLS;
  let row = id.y * TILE_ROWS;
  let batch = id.z;
  if (col >= N || row >= M) {
    return;
  }
  let row1 = min(row + 1u, M - 1u);
  let row2 = min(row + 2u, M - 1u);
  let row3 = min(row + 3u, M - 1u);
  var s00 = vec4f();
  var s10 = vec4f();
  var s20 = vec4f();
  var s30 = vec4f();
  for (var k = 0u; k < K; k += 4u) {
    let a0 = load_a(batch, row, k);
    let a1 = load_a(batch, row1, k);
    let a2 = load_a(batch, row2, k);
    let a3 = load_a(batch, row3, k);
    let bx0 = load_b(batch, k + 0u, col + 0u);
    s00 += a0.x * bx0;
    s10 += a1.x * bx0;
    s20 += a2.x * bx0;
    s30 += a3.x * bx0;
    let by0 = load_b(batch, k + 1u, col + 0u);
    s00 += a0.y * by0;
    s10 += a1.y * by0;
    s20 += a2.y * by0;
    s30 += a3.y * by0;
    let bz0 = load_b(batch, k + 2u, col + 0u);
    s00 += a0.z * bz0;
    s10 += a1.z * bz0;
    s20 += a2.z * bz0;
    s30 += a3.z * bz0;
    let bw0 = load_b(batch, k + 3u, col + 0u);
    s00 += a0.w * bw0;
    s10 += a1.w * bw0;
    s20 += a2.w * bw0;
    s30 += a3.w * bw0;
  }
  if (row + 0u < M && col + 0u < N) { store_out(batch, row + 0u, col + 0u, s00); }
  if (row + 1u < M && col + 0u < N) { store_out(batch, row + 1u, col + 0u, s10); }
  if (row + 2u < M && col + 0u < N) { store_out(batch, row + 2u, col + 0u, s20); }
  if (row + 3u < M && col + 0u < N) { store_out(batch, row + 3u, col + 0u, s30); }
}
