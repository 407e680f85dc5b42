// Maximum (IS_MAX) or sum over windows, channels-last: 4 channels of one pixel an invocation, those of
// a line of pixels along x. Padding is skipped; a window of nothing but padding gives -infinity
// (maximum) or 0.
//# Calls load_x(n, y, x, c4), store_out(n, y, x, c4, value).

override IN_H: u32; override IN_W: u32; override IN_C: u32; override OUT_H: u32; override OUT_W: u32;
override K_H: u32; override K_W: u32; override STRIDE_H: u32; override STRIDE_W: u32;
override PAD_TOP: u32; override PAD_LEFT: u32; override DILATION_H: u32; override DILATION_W: u32;
override IS_MAX: bool;

const TILE_PIXELS = 1u;
const TILE_CHANNELS = 4u;

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let fours = (IN_C + 3u) / 4u;
  let ox = id.x / fours;
  let c4 = id.x - ox * fours;
  let oy = id.y;
  let n = id.z;
  if (ox >= OUT_W) { return; }
  // Of padding, the maximum takes -infinity. WGSL refuses to write it: made from bits at run time.
  let nothing = select(vec4f(), vec4f(bitcast<f32>(0xff800000u | (id.x & 0u))), IS_MAX);
  var result = nothing;
  // The bits of the greatest magnitude: those of NaN are beyond infinity's. A maximum may lose NaN.
  var size = vec4u();
  // Above and left of the image coordinates wrap round to huge ones.
  let corner = vec2u(ox * STRIDE_W - PAD_LEFT, oy * STRIDE_H - PAD_TOP);
  let last = vec2u(IN_W - 1u, IN_H - 1u);
  let dilation = vec2u(DILATION_W, DILATION_H);
  let taps = K_H * K_W;
  let across = K_W;
  var ky = 0u;
  var kx = 0u;
  for (var tap = 0u; tap < taps; tap++) {
    let at = corner + vec2u(kx, ky) * dilation;
    let inside = min(at, last);
    let value = select(nothing, load_x(n, inside.y, inside.x, c4), all(inside == at));
    if (IS_MAX) {
      result = max(result, value);
      size = max(size, bitcast<vec4u>(value) & vec4u(0x7fffffffu));
    } else {
      result += value;
    }
    kx++;
    let next_y = kx == across;
    kx = select(kx, 0u, next_y);
    ky = select(ky, ky + 1u, next_y);
  }
  store_out(n, oy, ox, c4, select(result, bitcast<vec4f>(size), size > vec4u(0x7f800000u)));
}
