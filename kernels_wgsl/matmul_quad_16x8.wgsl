// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
// 16 rows x 8 columns an invocation. The four invocations of a quad take the same rows and
// neighbouring columns: each reads a quarter of the rows and hands it round, since on a software
// adapter a read costs as much as a dozen vector multiplications. Needs subgroups, with quads that
// are four neighbours in x.

enable subgroups;

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 16u;
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

@compute @workgroup_size(4, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let col4 = id.x * 2u;
  let row = id.y * TILE_ROWS;
  let batch = id.z;
  // Reads past the last row or column stay in: a quad must not lose a member.
  let lane = id.x % 4u;
  let row0 = min(row + lane, M - 1u);
  let row1 = min(row + 4u + lane, M - 1u);
  let row2 = min(row + 8u + lane, M - 1u);
  let row3 = min(row + 12u + lane, M - 1u);
  var s0a = vec4f(); var s0b = vec4f();
  var s1a = vec4f(); var s1b = vec4f();
  var s2a = vec4f(); var s2b = vec4f();
  var s3a = vec4f(); var s3b = vec4f();
  var s4a = vec4f(); var s4b = vec4f();
  var s5a = vec4f(); var s5b = vec4f();
  var s6a = vec4f(); var s6b = vec4f();
  var s7a = vec4f(); var s7b = vec4f();
  var s8a = vec4f(); var s8b = vec4f();
  var s9a = vec4f(); var s9b = vec4f();
  var saa = vec4f(); var sab = vec4f();
  var sba = vec4f(); var sbb = vec4f();
  var sca = vec4f(); var scb = vec4f();
  var sda = vec4f(); var sdb = vec4f();
  var sea = vec4f(); var seb = vec4f();
  var sfa = vec4f(); var sfb = vec4f();
  let steps = (K + 3u) / 4u;
  for (var k4 = 0u; k4 < steps; k4++) {
    let wa = block(batch, k4, col4);
    let wb = block(batch, k4, col4 + 1u);
    let mine0 = load_a(batch, row0, k4);
    let mine1 = load_a(batch, row1, k4);
    let mine2 = load_a(batch, row2, k4);
    let mine3 = load_a(batch, row3, k4);
    let a0 = quadBroadcast(mine0, 0u);
    s0a += wa * a0;
    s0b += wb * a0;
    let a1 = quadBroadcast(mine0, 1u);
    s1a += wa * a1;
    s1b += wb * a1;
    let a2 = quadBroadcast(mine0, 2u);
    s2a += wa * a2;
    s2b += wb * a2;
    let a3 = quadBroadcast(mine0, 3u);
    s3a += wa * a3;
    s3b += wb * a3;
    let a4 = quadBroadcast(mine1, 0u);
    s4a += wa * a4;
    s4b += wb * a4;
    let a5 = quadBroadcast(mine1, 1u);
    s5a += wa * a5;
    s5b += wb * a5;
    let a6 = quadBroadcast(mine1, 2u);
    s6a += wa * a6;
    s6b += wb * a6;
    let a7 = quadBroadcast(mine1, 3u);
    s7a += wa * a7;
    s7b += wb * a7;
    let a8 = quadBroadcast(mine2, 0u);
    s8a += wa * a8;
    s8b += wb * a8;
    let a9 = quadBroadcast(mine2, 1u);
    s9a += wa * a9;
    s9b += wb * a9;
    let aa = quadBroadcast(mine2, 2u);
    saa += wa * aa;
    sab += wb * aa;
    let ab = quadBroadcast(mine2, 3u);
    sba += wa * ab;
    sbb += wb * ab;
    let ac = quadBroadcast(mine3, 0u);
    sca += wa * ac;
    scb += wb * ac;
    let ad = quadBroadcast(mine3, 1u);
    sda += wa * ad;
    sdb += wb * ad;
    let ae = quadBroadcast(mine3, 2u);
    sea += wa * ae;
    seb += wb * ae;
    let af = quadBroadcast(mine3, 3u);
    sfa += wa * af;
    sfb += wb * af;
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var left = array<vec4f, 16>(
    s0a, s1a, s2a, s3a, s4a, s5a, s6a, s7a, s8a, s9a, saa, sba, sca, sda, sea, sfa);
  var right = array<vec4f, 16>(
    s0b, s1b, s2b, s3b, s4b, s5b, s6b, s7b, s8b, s9b, sab, sbb, scb, sdb, seb, sfb);
  for (var r = 0u; r < min(TILE_ROWS, M - row); r++) {
    if (col4 * 4u < N) {
      store_out(batch, row + r, col4, left[r]);
    }
    if (col4 * 4u + 4u < N) {
      store_out(batch, row + r, col4 + 1u, right[r]);
    }
  }
}
