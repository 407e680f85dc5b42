//# Included by products over pixels, behind window.wgsl: which pixel of the image a tap meets.
// Where the window of an output pixel begins. In the padding above or left of the image the
// coordinates wrap round to huge ones, which `pixel` takes for outside like any other.
fn corner(pixel_index: u32) -> vec2u {
  let y = pixel_index / OUT_W;
  return vec2u(pixel_index - y * OUT_W, y) * vec2u(STRIDE_W, STRIDE_H) - vec2u(PAD_LEFT, PAD_TOP);
}

// A pixel of the image, zero in the padding; `last` is the image's last corner.
fn pixel(n: u32, at: vec2u, last: vec2u, c4: u32) -> vec4f {
  let inside = min(at, last);
  return select(vec4f(), load_x(n, inside.y, inside.x, c4), all(inside == at));
}
