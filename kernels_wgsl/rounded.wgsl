//# Included by LSTMs with 8-bit weights: their rounded states.
// Words of those of a sequence: HIDDEN / 4, and zeros up to a multiple of 4.
fn words() -> u32 {
  return (HIDDEN + 15u) / 16u * 4u;
}

// A state as an 8-bit integer, less 128.
fn rounded_to(value: f32, factor: f32, zero: f32) -> i32 {
  return i32(clamp(round(value / factor) + zero, 0.0, 255.0)) - 128;
}
