// Winograd F(2x2, 3x3), the image: B^T d B of each 4x4 patch d, which begins at every second pixel.
// A strip of patches x 4 channels an invocation, ${LINES} down: neighbours share two lines, read once.
// out[position, tile, channel], 16 positions of a patch row-major.
//# Calls load_x(n, y, x, c4), store_out(position, tile, c4, value).
//# LINES: patches of an invocation's strip.

override IN_H: u32; override IN_W: u32; override IN_C: u32;
override PAD_TOP: u32; override PAD_LEFT: u32;
override TILES_H: u32; override TILES_W: u32; override TILES: u32;

const TILE_LINES = ${LINES}u;
const TILE_CHANNELS = 4u;

//#include pixel.wgsl

// A line of a patch times B.
fn line(n: u32, y: u32, x: u32, last: vec2u, c4: u32) -> mat4x4f {
  let d${i} = pixel(n, y, x${plus(i)}, last, c4); //#for i in range(4)
  return mat4x4f(d0 - d2, d1 + d2, d2 - d1, d1 - d3);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = id.x;
  let first = id.y / TILES_W * TILE_LINES;
  let tx = id.y % TILES_W;
  let n = id.z;
  if (c4 * 4u >= IN_C || first >= TILES_H) { return; }
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let x = 2u * tx - PAD_LEFT;
  var y = 2u * first - PAD_TOP;
  var tile = (n * TILES_H + first) * TILES_W + tx;
  var a = line(n, y, x, last, c4);
  var b = line(n, y + 1u, x, last, c4);
  let lines = min(TILE_LINES, TILES_H - first);
  for (var i = 0u; i < lines; i++) {
    y += 2u;
    let c = line(n, y, x, last, c4);
    let d = line(n, y + 1u, x, last, c4);
    let v0 = a - c;
    let v1 = b + c;
    let v2 = c - b;
    let v3 = b - d;
    store_out(${4 * i + j}u, tile, c4, v${i}[${j}]); //#for j in range(4) //#for i in range(4)
    a = c;
    b = d;
    tile += TILES_W;
  }
}
