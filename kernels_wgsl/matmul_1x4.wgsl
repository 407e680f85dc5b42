// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
// One row x 4 columns an invocation: for a single row.

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 1u;
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

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let col4 = id.x;
  let row = id.y;
  let batch = id.z;
  if (col4 * 4u >= N) {
    return;
  }
  var sum = vec4f();
  let steps = (K + 3u) / 4u;
  for (var k4 = 0u; k4 < steps; k4++) {
    sum += block(batch, k4, col4) * load_a(batch, row, k4);
  }
  store_out(batch, row, col4, sum);
}
