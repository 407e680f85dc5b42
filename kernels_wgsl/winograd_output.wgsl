// Winograd F(2x2, 3x3), the result: A^T m A, 2x2 pixels, of the 16 products m of each tile.
// One tile x 4 channels an invocation. m[position, tile, channel], 16 positions of a patch row-major.

override OUT_H: u32;
override OUT_W: u32;
override OUT_C: u32;
override TILES_H: u32;
override TILES_W: u32;
override TILES: u32;

const TILE_CHANNELS = 4u;

@group(0) @binding(0) var<storage, read> m: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

fn load_m(position: u32, tile: u32, c4: u32) -> vec4f {
  return m[(position * TILES + tile) * (OUT_C / 4u) + c4];
}

fn store_out(n: u32, y: u32, x: u32, c4: u32, value: vec4f) {
  out[((n * OUT_H + y) * OUT_W + x) * (OUT_C / 4u) + c4] = value;
}

// A line of products times A.
fn line(i: u32, tile: u32, c4: u32) -> mat2x4f {
  let m0 = load_m(4u * i, tile, c4);
  let m1 = load_m(4u * i + 1u, tile, c4);
  let m2 = load_m(4u * i + 2u, tile, c4);
  let m3 = load_m(4u * i + 3u, tile, c4);
  return mat2x4f(m0 + m1 + m2, m1 - m2 - m3);
}

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = id.x;
  let ty = id.y / TILES_W;
  let tx = id.y % TILES_W;
  let n = id.z;
  if (c4 * 4u >= OUT_C || ty >= TILES_H) {
    return;
  }
  let tile = (n * TILES_H + ty) * TILES_W + tx;
  let a = line(0u, tile, c4);
  let b = line(1u, tile, c4);
  let c = line(2u, tile, c4);
  let d = line(3u, tile, c4);
  let above = a + b + c;
  let below = b - c - d;
  let y = 2u * ty;
  let x = 2u * tx;
  let right = x + 1u < OUT_W;
  store_out(n, y, x, c4, above[0]);
  if (right) {
    store_out(n, y, x + 1u, c4, above[1]);
  }
  if (y + 1u < OUT_H) {
    store_out(n, y + 1u, x, c4, below[0]);
    if (right) {
      store_out(n, y + 1u, x + 1u, c4, below[1]);
    }
  }
}
