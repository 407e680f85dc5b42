// The gradient of a convolution's weight, channels-last, groups = 1: a product of what each element
// of the filters meets and the gradient of the result, over all output pixels of some images; a part
// of the images for each z. ${ROWS} channels of one tap x ${COLUMNS} filters an invocation.
//#if QUAD
// Four pixels at a time. The four invocations of a quad take the same channels and neighbouring
// filters: each reads a quarter of the channels and hands it round. Needs subgroups, with quads that
// are four neighbours in x.
//#end
//# ROWS, COLUMNS: of the tile: 16 x 8 or 16 x 4 in a quad, else 8 x 8. QUAD: whether quads share reads.
//# Calls load_x(n, y, x, c4), load_g(n, oy, ox, o4), store_out(part, row, o4, value).
//#let BOTH = COLUMNS == 8

enable subgroups; //#if QUAD
override IMAGES: u32; override IMAGES_A_PART: u32;
//#include window.wgsl
const TILE_ROWS = ${ROWS}u;
const TILE_COLS = ${COLUMNS}u;

//#if QUAD
// The pixel (x, y, image) of the gradient after another one.
fn following(at: vec3u) -> vec3u {
  let x = at.x + 1u;
  let wraps = x == OUT_W;
  let y = select(at.y, at.y + 1u, wraps);
  let ends = y == OUT_H;
  return vec3u(select(x, 0u, wraps), select(y, 0u, ends), select(at.z, at.z + 1u, ends));
}

// What a tap meets for a pixel of the gradient: zero in the padding, and from the image `end` on.
// In the padding above or left of the image, coordinates wrap round to huge ones.
fn met(at: vec3u, end: u32, offset: vec2u, c4: u32) -> vec4f {
  let corner = at.xy * vec2u(STRIDE_W, STRIDE_H) + offset;
  let inside = min(corner, vec2u(IN_W - 1u, IN_H - 1u));
  let seen = all(inside == corner) & (at.z < end);
  return select(vec4f(), load_x(min(at.z, IMAGES - 1u), inside.y, inside.x, c4), seen);
}

fn filters(at: vec3u, o4: u32) -> vec4f {
  return load_g(min(at.z, IMAGES - 1u), at.y, at.x, o4);
}

//#end
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let o4 = id.x${" * 2u" if BOTH else ""};
  let tiles = (IN_C + TILE_ROWS - 1u) / TILE_ROWS;
  let tap = id.y / tiles;
  let c = (id.y - tap * tiles) * TILE_ROWS; //#if QUAD
  let c4 = (id.y - tap * tiles) * 2u; //#if not QUAD
  let part = id.z;
  let first = part * IMAGES_A_PART;
//#if QUAD
  let end = min(first + IMAGES_A_PART, IMAGES);
  // Reads past the last channel or filter stay in: a quad must not lose a member.
  let own_c4 = min(c / 4u + id.x % 4u, (IN_C + 3u) / 4u - 1u);
//#else
  if (o4 * 4u >= OUT_C || tap >= K_H * K_W) { return; }
//#end
  let ky = tap / K_W;
  let offset = vec2u(tap - ky * K_W, ky) * vec2u(DILATION_W, DILATION_H) - vec2u(PAD_LEFT, PAD_TOP);
//#if QUAD
  var s${r}${sum} = vec4f(); //#for sum in "ab"[:COLUMNS // 4] //#for r in range(ROWS)
  // One loop over images and pixels: nested ones would move all sums at each level.
  var at = vec3u(0u, 0u, first);
  // The same for all parts: quads need uniform control flow.
  let steps = (IMAGES_A_PART * OUT_H * OUT_W + 3u) / 4u;
  for (var step = 0u; step < steps; step++) {
    let at1 = following(at);
    let at2 = following(at1);
    let at3 = following(at2);
//#let each_at = ("at", "at1", "at2", "at3")
    let mine = transpose(mat4x4f(${each("met(#, end, offset, own_c4)", each_at)}));
    let wa = mat4x4f(${each("filters(#, o4)", each_at)});
    let wb = mat4x4f(${each("filters(#, o4 + 1u)", each_at)}); //#if BOTH
//#let READS = [f"quadBroadcast(mine[{r % 4}], {r // 4}u)" for r in range(ROWS)]
//#include sums.wgsl
    at = following(at3);
  }
  // An indexed array is slow, but read only once, and what is fused in store_out stays short.
//#else
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let stride = vec2u(STRIDE_W, STRIDE_H);
  let end_c4 = (IN_C + 3u) / 4u - 1u;
  var s${r}${sum} = vec4f(); //#for r in range(ROWS) //#for sum in "ab"
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
    let high = select(vec4f(), load_x(n, inside.y, inside.x, min(c4 + 1u, end_c4)), seen);
    let g = load_g(n, oy, ox, o4);
    let h = load_g(n, oy, ox, o4 + 1u);
//#for sum in "ab"
//#for r in range(ROWS)
    s${r}${sum} += ${"low" if r < 4 else "high"}.${"xyzw"[r % 4]} * ${"g" if sum == "a" else "h"};
//#end
//#end
    ox++;
    let next_y = ox == across;
    ox = select(ox, 0u, next_y);
    oy = select(oy, oy + 1u, next_y);
    let next_n = oy == down;
    oy = select(oy, 0u, next_n);
    n = select(n, n + 1u, next_n);
  }
//#end
  var left = array<vec4f, ${ROWS}>(${each("s#a", range(ROWS))});
  var right = array<vec4f, ${ROWS}>(${each("s#b", range(ROWS))}); //#if BOTH
  let c = c4 * 4u; //#if not QUAD
  for (var r = 0u; r < min(TILE_ROWS, IN_C - c); r++) {
    store_out(part, tap * IN_C + c + r, o4, left[r]); //#if not QUAD
    if (o4 * 4u < OUT_C) { store_out(part, tap * IN_C + c + r, o4, left[r]); } //#if QUAD
//#if BOTH
    if (${"o4 * 4u + 4u" if QUAD else "(o4 + 1u) * 4u"} < OUT_C) {
      store_out(part, tap * IN_C + c + r, o4 + 1u, right[r]);
    }
//#end
  }
}
