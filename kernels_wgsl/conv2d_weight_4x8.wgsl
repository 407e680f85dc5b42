// The gradient of a convolution's weight, channels-last, groups = 1: a product of what each element
// of the filters meets and the gradient of the result, over all output pixels of some images.
// 4 channels of one tap x 8 filters an invocation: for few channels. A part of the images for each z.

override IMAGES: u32;
override IMAGES_A_PART: u32;
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

const TILE_ROWS = 4u;
const TILE_COLS = 8u;

@group(0) @binding(0) var<storage, read> image: array<vec4f>;
@group(0) @binding(1) var<storage, read> gradient: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_x(n: u32, y: u32, x: u32, c4: u32) -> vec4f {
  return image[((n * IN_H + y) * IN_W + x) * (IN_C / 4u) + c4];
}

fn load_g(n: u32, oy: u32, ox: u32, o4: u32) -> vec4f {
  return gradient[((n * OUT_H + oy) * OUT_W + ox) * (OUT_C / 4u) + o4];
}

fn store_out(part: u32, row: u32, o4: u32, value: vec4f) {
  out[(part * (K_H * K_W * IN_C) + row) * (OUT_C / 4u) + o4] = value;
}

@compute @workgroup_size(4, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let o4 = id.x * 2u;
  let tiles = (IN_C + TILE_ROWS - 1u) / TILE_ROWS;
  let tap = id.y / tiles;
  let c4 = id.y - tap * tiles;
  let part = id.z;
  let first = part * IMAGES_A_PART;
  if (o4 * 4u >= OUT_C || tap >= K_H * K_W) {
    return;
  }
  let ky = tap / K_W;
  let offset = vec2u(tap - ky * K_W, ky) * vec2u(DILATION_W, DILATION_H) - vec2u(PAD_LEFT, PAD_TOP);
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let stride = vec2u(STRIDE_W, STRIDE_H);
  var a0 = vec4f(); var a1 = vec4f(); var a2 = vec4f(); var a3 = vec4f();
  var b0 = vec4f(); var b1 = vec4f(); var b2 = vec4f(); var b3 = vec4f();
  // One loop over images and pixels: nested ones would move all sums at each level.
  var n = first;
  var oy = 0u;
  var ox = 0u;
  let across = OUT_W;
  let down = OUT_H;
  let steps = min(IMAGES_A_PART, IMAGES - min(first, IMAGES)) * down * across;
  for (var step = 0u; step < steps; step++) {
    // In the padding above or left of the image, coordinates wrap round to huge ones.
    let at = vec2u(ox, oy) * stride + offset;
    let inside = min(at, last);
    let seen = all(inside == at);
    let low = select(vec4f(), load_x(n, inside.y, inside.x, c4), seen);
    let g = load_g(n, oy, ox, o4);
    let h = load_g(n, oy, ox, o4 + 1u);
    a0 += low.x * g; a1 += low.y * g; a2 += low.z * g; a3 += low.w * g;
    b0 += low.x * h; b1 += low.y * h; b2 += low.z * h; b3 += low.w * h;
    ox++;
    let next_y = ox == across;
    ox = select(ox, 0u, next_y);
    oy = select(oy, oy + 1u, next_y);
    let next_n = oy == down;
    oy = select(oy, 0u, next_n);
    n = select(n, n + 1u, next_n);
  }
  var left = array<vec4f, 4>(
    a0, a1, a2, a3);
  var right = array<vec4f, 4>(
    b0, b1, b2, b3);
  let c = c4 * 4u;
  for (var r = 0u; r < min(TILE_ROWS, IN_C - c); r++) {
    store_out(part, tap * IN_C + c + r, o4, left[r]);
    if ((o4 + 1u) * 4u < OUT_C) {
      store_out(part, tap * IN_C + c + r, o4 + 1u, right[r]);
    }
  }
}
