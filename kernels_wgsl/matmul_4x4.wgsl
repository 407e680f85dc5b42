// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
// 4 rows x 4 columns an invocation: for few rows or columns.

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 4u;
const TILE_COLS = 4u;

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
  let col4 = id.x;
  let row = id.y * TILE_ROWS;
  let batch = id.z;
  if (col4 * 4u >= N || row >= M) {
    return;
  }
  let row1 = min(row + 1u, M - 1u);
  let row2 = min(row + 2u, M - 1u);
  let row3 = min(row + 3u, M - 1u);
  var s0 = vec4f(); var s1 = vec4f(); var s2 = vec4f(); var s3 = vec4f();
  let steps = (K + 3u) / 4u;
  for (var k4 = 0u; k4 < steps; k4++) {
    let w = block(batch, k4, col4);
    s0 += w * load_a(batch, row, k4);
    s1 += w * load_a(batch, row1, k4);
    s2 += w * load_a(batch, row2, k4);
    s3 += w * load_a(batch, row3, k4);
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var tile = array<vec4f, 4>(
    s0, s1, s2, s3);
  for (var r = 0u; r < min(TILE_ROWS, M - row); r++) {
    store_out(batch, row + r, col4, tile[r]);
  }
}
