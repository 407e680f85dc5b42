//# Included where a gate may be a hyperbolic tangent.
// Beyond 10 the answer is 1 to the last bit, while exp in tanh may overflow; near 0 some drivers
// lose digits.
fn steady_tanh(x: f32) -> f32 {
  let square = x * x;
  let series = x - x * square * (0.33333333 - square * 0.13333333);
  return select(tanh(clamp(x, -10.0, 10.0)), series, square < 0.01);
}
