//# Included by recurrent layers and by their gradient: their functions of activation.
override INPUT_FORGET: u32;
// Clip, alphas and betas are the bits of f32 numbers.
override CLIP: u32;
override FUNCTION_${i}: u32; override ALPHA_${i}: u32; override BETA_${i}: u32; //#for i in range(3)

// Beyond 10 the answer is 1 to the last bit, while exp in tanh may overflow; near 0 some drivers
// lose digits.
fn steady_tanh(x: f32) -> f32 {
  let square = x * x;
  let series = x - x * square * (0.33333333 - square * 0.13333333);
  return select(tanh(clamp(x, -10.0, 10.0)), series, square < 0.01);
}

// exp(x) - 1, as a part of its series where the difference loses digits.
fn steady_expm1(x: f32) -> f32 {
  let tail = 0.041666667 + x * (0.0083333333 + x * 0.0013888889);
  let series = x + x * x * (0.5 + x * (0.16666667 + x * tail));
  return select(exp(x) - 1.0, series, abs(x) < 0.25);
}

// log(1 + x) of x >= 0, likewise.
fn steady_log1p(x: f32) -> f32 {
  let series = x - x * x * (0.5 - x * (0.33333333 - x * 0.25));
  return select(log(1.0 + x), series, x < 0.05);
}

fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn activate(which: u32, a: f32, b: f32, x: f32) -> f32 {
  if (is_nan(x) && which != 10u) { // compilers may assume that there is none
    return x;
  }
  switch (which) {
    case 0u: { return x * a + b; }
    case 1u: { return select(steady_expm1(min(x, 0.0)) * a, x, x >= 0.0); }
    case 2u: { return clamp(x * a + b, 0.0, 1.0); }
    case 3u: { return select(x * a, x, x >= 0.0); }
    case 4u: { return max(x, 0.0); }
    case 5u: { return steady_tanh(x * b) * a; }
    case 6u: { return 1.0 / (exp(-x) + 1.0); }
    case 7u: { return max(x, 0.0) + steady_log1p(exp(-abs(x))); }
    case 8u: { return x / (abs(x) + 1.0); }
    case 9u: { return steady_tanh(x); }
    default: { return select(0.0, x, x >= a); }
  }
}

fn clipped(x: f32) -> f32 {
  let bound = bitcast<f32>(CLIP);
  return select(x, clamp(x, -bound, bound), CLIP != 0u && !is_nan(x));
}

//#for i in range(2)
fn gate_${i}(x: f32) -> f32 {
  return activate(FUNCTION_${i}, bitcast<f32>(ALPHA_${i}), bitcast<f32>(BETA_${i}), clipped(x));
}
//#end

// What an LSTM shows of its cell, before the gate in front.
fn shown_of(x: f32) -> f32 {
  return activate(FUNCTION_2, bitcast<f32>(ALPHA_2), bitcast<f32>(BETA_2), x);
}
