// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
// As matmul_quad_16x8, with twice the rows: a quarter fewer reads, and a module that takes twice as
// long to compile.

enable subgroups;

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 32u;
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
  let row4 = min(row + 16u + lane, M - 1u);
  let row5 = min(row + 20u + lane, M - 1u);
  let row6 = min(row + 24u + lane, M - 1u);
  let row7 = min(row + 28u + lane, M - 1u);
  var a0 = vec4f(); var b0 = vec4f(); var a1 = vec4f(); var b1 = vec4f();
  var a2 = vec4f(); var b2 = vec4f(); var a3 = vec4f(); var b3 = vec4f();
  var a4 = vec4f(); var b4 = vec4f(); var a5 = vec4f(); var b5 = vec4f();
  var a6 = vec4f(); var b6 = vec4f(); var a7 = vec4f(); var b7 = vec4f();
  var a8 = vec4f(); var b8 = vec4f(); var a9 = vec4f(); var b9 = vec4f();
  var a10 = vec4f(); var b10 = vec4f(); var a11 = vec4f(); var b11 = vec4f();
  var a12 = vec4f(); var b12 = vec4f(); var a13 = vec4f(); var b13 = vec4f();
  var a14 = vec4f(); var b14 = vec4f(); var a15 = vec4f(); var b15 = vec4f();
  var a16 = vec4f(); var b16 = vec4f(); var a17 = vec4f(); var b17 = vec4f();
  var a18 = vec4f(); var b18 = vec4f(); var a19 = vec4f(); var b19 = vec4f();
  var a20 = vec4f(); var b20 = vec4f(); var a21 = vec4f(); var b21 = vec4f();
  var a22 = vec4f(); var b22 = vec4f(); var a23 = vec4f(); var b23 = vec4f();
  var a24 = vec4f(); var b24 = vec4f(); var a25 = vec4f(); var b25 = vec4f();
  var a26 = vec4f(); var b26 = vec4f(); var a27 = vec4f(); var b27 = vec4f();
  var a28 = vec4f(); var b28 = vec4f(); var a29 = vec4f(); var b29 = vec4f();
  var a30 = vec4f(); var b30 = vec4f(); var a31 = vec4f(); var b31 = vec4f();
  let steps = (K + 3u) / 4u;
  for (var k4 = 0u; k4 < steps; k4++) {
    let wa = block(batch, k4, col4);
    let wb = block(batch, k4, col4 + 1u);
    let mine0 = load_a(batch, row0, k4);
    let mine1 = load_a(batch, row1, k4);
    let mine2 = load_a(batch, row2, k4);
    let mine3 = load_a(batch, row3, k4);
    let mine4 = load_a(batch, row4, k4);
    let mine5 = load_a(batch, row5, k4);
    let mine6 = load_a(batch, row6, k4);
    let mine7 = load_a(batch, row7, k4);
    let x0 = quadBroadcast(mine0, 0u);
    a0 += wa * x0;
    b0 += wb * x0;
    let x1 = quadBroadcast(mine0, 1u);
    a1 += wa * x1;
    b1 += wb * x1;
    let x2 = quadBroadcast(mine0, 2u);
    a2 += wa * x2;
    b2 += wb * x2;
    let x3 = quadBroadcast(mine0, 3u);
    a3 += wa * x3;
    b3 += wb * x3;
    let x4 = quadBroadcast(mine1, 0u);
    a4 += wa * x4;
    b4 += wb * x4;
    let x5 = quadBroadcast(mine1, 1u);
    a5 += wa * x5;
    b5 += wb * x5;
    let x6 = quadBroadcast(mine1, 2u);
    a6 += wa * x6;
    b6 += wb * x6;
    let x7 = quadBroadcast(mine1, 3u);
    a7 += wa * x7;
    b7 += wb * x7;
    let x8 = quadBroadcast(mine2, 0u);
    a8 += wa * x8;
    b8 += wb * x8;
    let x9 = quadBroadcast(mine2, 1u);
    a9 += wa * x9;
    b9 += wb * x9;
    let x10 = quadBroadcast(mine2, 2u);
    a10 += wa * x10;
    b10 += wb * x10;
    let x11 = quadBroadcast(mine2, 3u);
    a11 += wa * x11;
    b11 += wb * x11;
    let x12 = quadBroadcast(mine3, 0u);
    a12 += wa * x12;
    b12 += wb * x12;
    let x13 = quadBroadcast(mine3, 1u);
    a13 += wa * x13;
    b13 += wb * x13;
    let x14 = quadBroadcast(mine3, 2u);
    a14 += wa * x14;
    b14 += wb * x14;
    let x15 = quadBroadcast(mine3, 3u);
    a15 += wa * x15;
    b15 += wb * x15;
    let x16 = quadBroadcast(mine4, 0u);
    a16 += wa * x16;
    b16 += wb * x16;
    let x17 = quadBroadcast(mine4, 1u);
    a17 += wa * x17;
    b17 += wb * x17;
    let x18 = quadBroadcast(mine4, 2u);
    a18 += wa * x18;
    b18 += wb * x18;
    let x19 = quadBroadcast(mine4, 3u);
    a19 += wa * x19;
    b19 += wb * x19;
    let x20 = quadBroadcast(mine5, 0u);
    a20 += wa * x20;
    b20 += wb * x20;
    let x21 = quadBroadcast(mine5, 1u);
    a21 += wa * x21;
    b21 += wb * x21;
    let x22 = quadBroadcast(mine5, 2u);
    a22 += wa * x22;
    b22 += wb * x22;
    let x23 = quadBroadcast(mine5, 3u);
    a23 += wa * x23;
    b23 += wb * x23;
    let x24 = quadBroadcast(mine6, 0u);
    a24 += wa * x24;
    b24 += wb * x24;
    let x25 = quadBroadcast(mine6, 1u);
    a25 += wa * x25;
    b25 += wb * x25;
    let x26 = quadBroadcast(mine6, 2u);
    a26 += wa * x26;
    b26 += wb * x26;
    let x27 = quadBroadcast(mine6, 3u);
    a27 += wa * x27;
    b27 += wb * x27;
    let x28 = quadBroadcast(mine7, 0u);
    a28 += wa * x28;
    b28 += wb * x28;
    let x29 = quadBroadcast(mine7, 1u);
    a29 += wa * x29;
    b29 += wb * x29;
    let x30 = quadBroadcast(mine7, 2u);
    a30 += wa * x30;
    b30 += wb * x30;
    let x31 = quadBroadcast(mine7, 3u);
    a31 += wa * x31;
    b31 += wb * x31;
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
  var left = array<vec4f, 32>(
    a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15,
    a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31);
  var right = array<vec4f, 32>(
    b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15,
    b16, b17, b18, b19, b20, b21, b22, b23, b24, b25, b26, b27, b28, b29, b30, b31);
  for (var r = 0u; r < min(TILE_ROWS, M - row); r++) {
    if (col4 * 4u < N) {
      store_out(batch, row + r, col4, left[r]);
    }
    if (col4 * 4u + 4u < N) {
      store_out(batch, row + r, col4 + 1u, right[r]);
    }
  }
}
