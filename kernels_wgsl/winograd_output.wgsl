// Winograd F(2x2, 3x3), the result: A^T m A, 2x2 pixels, of the 16 products m of each tile.
// One tile x 4 channels an invocation. m[position, tile, channel], 16 positions of a patch row-major.
//# Calls load_m(position, tile, c4), store_out(n, y, x, c4, value).

override OUT_H: u32; override OUT_W: u32; override OUT_C: u32;
override TILES_H: u32; override TILES_W: u32; override TILES: u32;

const TILE_CHANNELS = 4u;

// A line of products times A.
fn line(i: u32, tile: u32, c4: u32) -> mat2x4f {
  let m${j} = load_m(4u * i${plus(j)}, tile, c4); //#for j in range(4)
  return mat2x4f(m0 + m1 + m2, m1 - m2 - m3);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = id.x;
  let ty = id.y / TILES_W;
  let tx = id.y % TILES_W;
  let n = id.z;
  if (c4 * 4u >= OUT_C || ty >= TILES_H) { return; }
  let tile = (n * TILES_H + ty) * TILES_W + tx;
  let ${"abcd"[i]} = line(${i}u, tile, c4); //#for i in range(4)
  let above = a + b + c;
  let below = b - c - d;
  let y = 2u * ty;
  let x = 2u * tx;
  let right = x + 1u < OUT_W;
  store_out(n, y, x, c4, above[0]);
  if (right) { store_out(n, y, x + 1u, c4, above[1]); }
  if (y + 1u < OUT_H) {
    store_out(n, y + 1u, x, c4, below[0]);
    if (right) { store_out(n, y + 1u, x + 1u, c4, below[1]); }
  }
}
