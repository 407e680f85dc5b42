//# Included where lines of an image are read from pixel to pixel.
// A pixel of the image, whose last corner is `last`; zero in the padding, where coordinates lie
// beyond it or wrap to huge ones.
fn pixel(n: u32, y: u32, x: u32, last: vec2u, c4: u32) -> vec4f {
  let at = vec2u(x, y);
  let inside = min(at, last);
  return select(vec4f(), load_x(n, inside.y, inside.x, c4), all(inside == at));
}
