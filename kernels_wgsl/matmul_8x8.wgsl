// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
// 8 rows x 8 columns an invocation, in registers.

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 8u;
const TILE_COLS = 8u;

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

@compute @workgroup_size(4, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let col4 = id.x * 2u;
  let row = id.y * TILE_ROWS;
  let batch = id.z;
  if (col4 * 4u >= N || row >= M) {
    return;
  }
  let row1 = min(row + 1u, M - 1u);
  let row2 = min(row + 2u, M - 1u);
  let row3 = min(row + 3u, M - 1u);
  let row4 = min(row + 4u, M - 1u);
  let row5 = min(row + 5u, M - 1u);
  let row6 = min(row + 6u, M - 1u);
  let row7 = min(row + 7u, M - 1u);
  var s0a = vec4f(); var s0b = vec4f();
  var s1a = vec4f(); var s1b = vec4f();
  var s2a = vec4f(); var s2b = vec4f();
  var s3a = vec4f(); var s3b = vec4f();
  var s4a = vec4f(); var s4b = vec4f();
  var s5a = vec4f(); var s5b = vec4f();
  var s6a = vec4f(); var s6b = vec4f();
  var s7a = vec4f(); var s7b = vec4f();
  let steps = (K + 3u) / 4u;
  for (var k4 = 0u; k4 < steps; k4++) {
    let wa = block(batch, k4, col4);
    let wb = block(batch, k4, col4 + 1u);
    let a0 = load_a(batch, row, k4);
    s0a += wa * a0;
    s0b += wb * a0;
    let a1 = load_a(batch, row1, k4);
    s1a += wa * a1;
    s1b += wb * a1;
    let a2 = load_a(batch, row2, k4);
    s2a += wa * a2;
    s2b += wb * a2;
    let a3 = load_a(batch, row3, k4);
    s3a += wa * a3;
    s3b += wb * a3;
    let a4 = load_a(batch, row4, k4);
    s4a += wa * a4;
    s4b += wb * a4;
    let a5 = load_a(batch, row5, k4);
    s5a += wa * a5;
    s5b += wb * a5;
    let a6 = load_a(batch, row6, k4);
    s6a += wa * a6;
    s6b += wb * a6;
    let a7 = load_a(batch, row7, k4);
    s7a += wa * a7;
    s7b += wb * a7;
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var left = array<vec4f, 8>(
    s0a, s1a, s2a, s3a, s4a, s5a, s6a, s7a);
  var right = array<vec4f, 8>(
    s0b, s1b, s2b, s3b, s4b, s5b, s6b, s7b);
  for (var r = 0u; r < min(TILE_ROWS, M - row); r++) {
    store_out(batch, row + r, col4, left[r]);
    if (col4 * 4u + 4u < N) {
      store_out(batch, row + r, col4 + 1u, right[r]);
    }
  }
}
