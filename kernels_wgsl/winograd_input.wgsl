// Winograd F(2x2, 3x3), the image: B^T d B of each 4x4 patch d, which begins at every second pixel.
// A strip of patches x 4 channels an invocation, 8 down: neighbours share two lines, read once.
// out[position, tile, channel], 16 positions of a patch row-major.

override IN_H: u32;
override IN_W: u32;
override IN_C: u32;
override PAD_TOP: u32;
override PAD_LEFT: u32;
override TILES_H: u32;
override TILES_W: u32;
override TILES: u32;

const TILE_LINES = 8u;
const TILE_CHANNELS = 4u;

@group(0) @binding(0) var<storage, read> image: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x: u32, c4: u32) -> vec4f {
  return image[((n * IN_H + y) * IN_W + x) * (IN_C / 4u) + c4];
}

fn store_out(position: u32, tile: u32, c4: u32, value: vec4f) {
  out[(position * TILES + tile) * (IN_C / 4u) + c4] = value;
}

// A pixel of the image, whose last corner is `last`; zero in the padding, where coordinates lie
// beyond it or wrap to huge ones.
fn pixel(n: u32, y: u32, x: u32, last: vec2u, c4: u32) -> vec4f {
  let at = vec2u(x, y);
  let inside = min(at, last);
  return select(vec4f(), load_x(n, inside.y, inside.x, c4), all(inside == at));
}

// A line of a patch times B.
fn line(n: u32, y: u32, x: u32, last: vec2u, c4: u32) -> mat4x4f {
  let d0 = pixel(n, y, x, last, c4);
  let d1 = pixel(n, y, x + 1u, last, c4);
  let d2 = pixel(n, y, x + 2u, last, c4);
  let d3 = pixel(n, y, x + 3u, last, c4);
  return mat4x4f(d0 - d2, d1 + d2, d2 - d1, d1 - d3);
}

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = id.x;
  let first = id.y / TILES_W * TILE_LINES;
  let tx = id.y % TILES_W;
  let n = id.z;
  if (c4 * 4u >= IN_C || first >= TILES_H) {
    return;
  }
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
    store_out(0u, tile, c4, v0[0]);
    store_out(1u, tile, c4, v0[1]);
    store_out(2u, tile, c4, v0[2]);
    store_out(3u, tile, c4, v0[3]);
    store_out(4u, tile, c4, v1[0]);
    store_out(5u, tile, c4, v1[1]);
    store_out(6u, tile, c4, v1[2]);
    store_out(7u, tile, c4, v1[3]);
    store_out(8u, tile, c4, v2[0]);
    store_out(9u, tile, c4, v2[1]);
    store_out(10u, tile, c4, v2[2]);
    store_out(11u, tile, c4, v2[3]);
    store_out(12u, tile, c4, v3[0]);
    store_out(13u, tile, c4, v3[1]);
    store_out(14u, tile, c4, v3[2]);
    store_out(15u, tile, c4, v3[3]);
    a = c;
    b = d;
    tile += TILES_W;
  }
}
