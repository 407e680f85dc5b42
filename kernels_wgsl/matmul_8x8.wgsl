// Matrix product out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col]:
// 8 x 8 outputs a thread in registers, no workgroup memory.

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 8u;
const TILE_COLS = 8u;

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
  let row4 = min(row + 4u, M - 1u);
  let row5 = min(row + 5u, M - 1u);
  let row6 = min(row + 6u, M - 1u);
  let row7 = min(row + 7u, M - 1u);
  var s00 = vec4f(); var s01 = vec4f();
  var s10 = vec4f(); var s11 = vec4f();
  var s20 = vec4f(); var s21 = vec4f();
  var s30 = vec4f(); var s31 = vec4f();
  var s40 = vec4f(); var s41 = vec4f();
  var s50 = vec4f(); var s51 = vec4f();
  var s60 = vec4f(); var s61 = vec4f();
  var s70 = vec4f(); var s71 = vec4f();
  for (var k = 0u; k < K; k += 4u) {
    let a0 = load_a(batch, row, k);
    let a1 = load_a(batch, row1, k);
    let a2 = load_a(batch, row2, k);
    let a3 = load_a(batch, row3, k);
    let a4 = load_a(batch, row4, k);
    let a5 = load_a(batch, row5, k);
    let a6 = load_a(batch, row6, k);
    let a7 = load_a(batch, row7, k);
    let bx0 = load_b(batch, k + 0u, col + 0u);
    let bx1 = load_b(batch, k + 0u, col + 4u);
    s00 += a0.x * bx0; s01 += a0.x * bx1;
    s10 += a1.x * bx0; s11 += a1.x * bx1;
    s20 += a2.x * bx0; s21 += a2.x * bx1;
    s30 += a3.x * bx0; s31 += a3.x * bx1;
    s40 += a4.x * bx0; s41 += a4.x * bx1;
    s50 += a5.x * bx0; s51 += a5.x * bx1;
    s60 += a6.x * bx0; s61 += a6.x * bx1;
    s70 += a7.x * bx0; s71 += a7.x * bx1;
    let by0 = load_b(batch, k + 1u, col + 0u);
    let by1 = load_b(batch, k + 1u, col + 4u);
    s00 += a0.y * by0; s01 += a0.y * by1;
    s10 += a1.y * by0; s11 += a1.y * by1;
    s20 += a2.y * by0; s21 += a2.y * by1;
    s30 += a3.y * by0; s31 += a3.y * by1;
    s40 += a4.y * by0; s41 += a4.y * by1;
    s50 += a5.y * by0; s51 += a5.y * by1;
    s60 += a6.y * by0; s61 += a6.y * by1;
    s70 += a7.y * by0; s71 += a7.y * by1;
    let bz0 = load_b(batch, k + 2u, col + 0u);
    let bz1 = load_b(batch, k + 2u, col + 4u);
    s00 += a0.z * bz0; s01 += a0.z * bz1;
    s10 += a1.z * bz0; s11 += a1.z * bz1;
    s20 += a2.z * bz0; s21 += a2.z * bz1;
    s30 += a3.z * bz0; s31 += a3.z * bz1;
    s40 += a4.z * bz0; s41 += a4.z * bz1;
    s50 += a5.z * bz0; s51 += a5.z * bz1;
    s60 += a6.z * bz0; s61 += a6.z * bz1;
    s70 += a7.z * bz0; s71 += a7.z * bz1;
    let bw0 = load_b(batch, k + 3u, col + 0u);
    let bw1 = load_b(batch, k + 3u, col + 4u);
    s00 += a0.w * bw0; s01 += a0.w * bw1;
    s10 += a1.w * bw0; s11 += a1.w * bw1;
    s20 += a2.w * bw0; s21 += a2.w * bw1;
    s30 += a3.w * bw0; s31 += a3.w * bw1;
    s40 += a4.w * bw0; s41 += a4.w * bw1;
    s50 += a5.w * bw0; s51 += a5.w * bw1;
    s60 += a6.w * bw0; s61 += a6.w * bw1;
    s70 += a7.w * bw0; s71 += a7.w * bw1;
  }
  if (row + 0u < M && col + 0u < N) { store_out(batch, row + 0u, col + 0u, s00); }
  if (row + 0u < M && col + 4u < N) { store_out(batch, row + 0u, col + 4u, s01); }
  if (row + 1u < M && col + 0u < N) { store_out(batch, row + 1u, col + 0u, s10); }
  if (row + 1u < M && col + 4u < N) { store_out(batch, row + 1u, col + 4u, s11); }
  if (row + 2u < M && col + 0u < N) { store_out(batch, row + 2u, col + 0u, s20); }
  if (row + 2u < M && col + 4u < N) { store_out(batch, row + 2u, col + 4u, s21); }
  if (row + 3u < M && col + 0u < N) { store_out(batch, row + 3u, col + 0u, s30); }
  if (row + 3u < M && col + 4u < N) { store_out(batch, row + 3u, col + 4u, s31); }
  if (row + 4u < M && col + 0u < N) { store_out(batch, row + 4u, col + 0u, s40); }
  if (row + 4u < M && col + 4u < N) { store_out(batch, row + 4u, col + 4u, s41); }
  if (row + 5u < M && col + 0u < N) { store_out(batch, row + 5u, col + 0u, s50); }
  if (row + 5u < M && col + 4u < N) { store_out(batch, row + 5u, col + 4u, s51); }
  if (row + 6u < M && col + 0u < N) { store_out(batch, row + 6u, col + 0u, s60); }
  if (row + 6u < M && col + 4u < N) { store_out(batch, row + 6u, col + 4u, s61); }
  if (row + 7u < M && col + 0u < N) { store_out(batch, row + 7u, col + 0u, s70); }
  if (row + 7u < M && col + 4u < N) { store_out(batch, row + 7u, col + 4u, s71); }
}
