// Depthwise convolution (IN_C = OUT_C = groups), channels-last, any window, stride and dilation:
// 4 pixels of a line x 4 channels an invocation.

override IN_H: u32;
override IN_W: u32;
override IN_C: u32;
override OUT_H: u32;
override OUT_W: u32;
override OUT_C: u32;
override K_H: u32;
override K_W: u32;
override STRIDE_H: u32;
override STRIDE_W: u32;
override PAD_TOP: u32;
override PAD_LEFT: u32;
override DILATION_H: u32;
override DILATION_W: u32;

const TILE_PIXELS = 4u;
const TILE_CHANNELS = 4u;

@group(0) @binding(0) var<storage, read> image: array<vec4f>;
@group(0) @binding(1) var<storage, read> weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x: u32, c4: u32) -> vec4f {
  return image[((n * IN_H + y) * IN_W + x) * (IN_C / 4u) + c4];
}

fn load_w(ky: u32, kx: u32, c4: u32) -> vec4f {
  return weight[(ky * K_W + kx) * (IN_C / 4u) + c4];
}

fn store_out(n: u32, y: u32, x: u32, c4: u32, value: vec4f) {
  out[((n * OUT_H + y) * OUT_W + x) * (OUT_C / 4u) + c4] = value;
}

// A pixel of the image, whose last corner is `last`; zero in the padding, where coordinates lie
// beyond it or wrap to huge ones.
fn pixel(n: u32, y: u32, x: u32, last: vec2u, c4: u32) -> vec4f {
  let at = vec2u(x, y);
  let inside = min(at, last);
  return select(vec4f(), load_x(n, inside.y, inside.x, c4), all(inside == at));
}

@compute @workgroup_size(4, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let tiles = (OUT_W + TILE_PIXELS - 1u) / TILE_PIXELS;
  let c4 = id.x;
  let oy = id.y / tiles;
  let ox = id.y % tiles * TILE_PIXELS;
  let n = id.z;
  if (c4 * 4u >= OUT_C || oy >= OUT_H) {
    return;
  }
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let top = oy * STRIDE_H - PAD_TOP;
  let left = ox * STRIDE_W - PAD_LEFT;
  var s0 = vec4f();
  var s1 = vec4f();
  var s2 = vec4f();
  var s3 = vec4f();
  for (var ky = 0u; ky < K_H; ky++) {
    let y = top + ky * DILATION_H;
    for (var kx = 0u; kx < K_W; kx++) {
      let x = left + kx * DILATION_W;
      let w = load_w(ky, kx, c4);
      s0 += w * pixel(n, y, x, last, c4);
      s1 += w * pixel(n, y, x + STRIDE_W, last, c4);
      s2 += w * pixel(n, y, x + 2u * STRIDE_W, last, c4);
      s3 += w * pixel(n, y, x + 3u * STRIDE_W, last, c4);
    }
  }
  store_out(n, oy, ox, c4, s0);
  if (ox + 1u < OUT_W) {
    store_out(n, oy, ox + 1u, c4, s1);
  }
  if (ox + 2u < OUT_W) {
    store_out(n, oy, ox + 2u, c4, s2);
  }
  if (ox + 3u < OUT_W) {
    store_out(n, oy, ox + 3u, c4, s3);
  }
}
