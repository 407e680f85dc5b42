// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
// As matmul_quad_16x8, with 4 columns an invocation: for widths that would leave it idle lanes.

enable subgroups;

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 16u;
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

@compute @workgroup_size(4, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let col4 = id.x;
  let row = id.y * TILE_ROWS;
  let batch = id.z;
  // Reads past the last row or column stay in: a quad must not lose a member.
  let lane = id.x % 4u;
  let row0 = min(row + lane, M - 1u);
  let row1 = min(row + 4u + lane, M - 1u);
  let row2 = min(row + 8u + lane, M - 1u);
  let row3 = min(row + 12u + lane, M - 1u);
  var s0 = vec4f(); var s1 = vec4f(); var s2 = vec4f(); var s3 = vec4f();
  var s4 = vec4f(); var s5 = vec4f(); var s6 = vec4f(); var s7 = vec4f();
  var s8 = vec4f(); var s9 = vec4f(); var sa = vec4f(); var sb = vec4f();
  var sc = vec4f(); var sd = vec4f(); var se = vec4f(); var sf = vec4f();
  let steps = (K + 3u) / 4u;
  for (var k4 = 0u; k4 < steps; k4++) {
    let w = block(batch, k4, col4);
    let mine0 = load_a(batch, row0, k4);
    let mine1 = load_a(batch, row1, k4);
    let mine2 = load_a(batch, row2, k4);
    let mine3 = load_a(batch, row3, k4);
    s0 += w * quadBroadcast(mine0, 0u);
    s1 += w * quadBroadcast(mine0, 1u);
    s2 += w * quadBroadcast(mine0, 2u);
    s3 += w * quadBroadcast(mine0, 3u);
    s4 += w * quadBroadcast(mine1, 0u);
    s5 += w * quadBroadcast(mine1, 1u);
    s6 += w * quadBroadcast(mine1, 2u);
    s7 += w * quadBroadcast(mine1, 3u);
    s8 += w * quadBroadcast(mine2, 0u);
    s9 += w * quadBroadcast(mine2, 1u);
    sa += w * quadBroadcast(mine2, 2u);
    sb += w * quadBroadcast(mine2, 3u);
    sc += w * quadBroadcast(mine3, 0u);
    sd += w * quadBroadcast(mine3, 1u);
    se += w * quadBroadcast(mine3, 2u);
    sf += w * quadBroadcast(mine3, 3u);
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var tile = array<vec4f, 16>(
    s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf);
  if (col4 * 4u < N) {
    for (var r = 0u; r < min(TILE_ROWS, M - row); r++) {
      store_out(batch, row + r, col4, tile[r]);
    }
  }
}
