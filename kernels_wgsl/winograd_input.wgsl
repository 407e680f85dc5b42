// Winograd F(2x2, 3x3), the image: B^T d B of each 4x4 patch d, which begins at every second pixel.
// One patch x 4 channels an invocation. out[place, tile, channel], 16 places of a patch row-major.

override IN_H: u32;
override IN_W: u32;
override IN_C: u32;
override PAD_TOP: u32;
override PAD_LEFT: u32;
override TILES_H: u32;
override TILES_W: u32;
override TILES: u32;

const TILE_CHANNELS = 4u;

@group(0) @binding(0) var<storage, read> image: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x: u32, c4: u32) -> vec4f {
  return image[((n * IN_H + y) * IN_W + x) * (IN_C / 4u) + c4];
}

fn store_out(place: u32, tile: u32, c4: u32, value: vec4f) {
  out[(place * TILES + tile) * (IN_C / 4u) + c4] = value;
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

@compute @workgroup_size(4, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c4 = id.x;
  let ty = id.y / TILES_W;
  let tx = id.y % TILES_W;
  let n = id.z;
  if (c4 * 4u >= IN_C || ty >= TILES_H) {
    return;
  }
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let x = 2u * tx - PAD_LEFT;
  let y = 2u * ty - PAD_TOP;
  let a = line(n, y, x, last, c4);
  let b = line(n, y + 1u, x, last, c4);
  let c = line(n, y + 2u, x, last, c4);
  let d = line(n, y + 3u, x, last, c4);
  let tile = (n * TILES_H + ty) * TILES_W + tx;
  var lines = array<mat4x4f, 4>(a - c, b + c, c - b, b - d);
  for (var i = 0u; i < 4u; i++) {
    let v = lines[i];
    store_out(4u * i, tile, c4, v[0]);
    store_out(4u * i + 1u, tile, c4, v[1]);
    store_out(4u * i + 2u, tile, c4, v[2]);
    store_out(4u * i + 3u, tile, c4, v[3]);
  }
}
