// A step of an LSTM with 8-bit weights (ops/dynamic_recurrence.py), whose states dynamic_round.wgsl has
// rounded: a lane has an element of a sequence. Without barriers, which CPUs are slow at.

override BATCH: u32;
override DIRECTIONS: u32;
override HIDDEN: u32;
override INPUT_FORGET: u32;
// Clip, alphas and betas are the bits of f32 numbers.
override CLIP: u32;
override FUNCTION_0: u32;
override ALPHA_0: u32;
override BETA_0: u32;
override FUNCTION_1: u32;
override ALPHA_1: u32;
override BETA_1: u32;
override FUNCTION_2: u32;
override ALPHA_2: u32;
override BETA_2: u32;

const TILE_COLS = 1u;
const LANES = 64u;

@group(0) @binding(0) var<storage, read> projected: array<f32>;
@group(0) @binding(1) var<storage, read> weights: array<vec4i>;
@group(0) @binding(2) var<storage, read> rounded: array<i32>;
@group(0) @binding(3) var<storage, read> scales: array<f32>;
@group(0) @binding(4) var<storage, read> states: array<f32>;
@group(0) @binding(5) var<storage, read> extra: array<f32>;
@group(0) @binding(6) var<storage, read> lengths: array<i32>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;

fn load_x(b: u32, d: u32, gate: u32, unit: u32) -> f32 {
  return projected[((b * DIRECTIONS + d) * 4u + gate) * HIDDEN + unit];
}

// For each gate, the weights of four elements of a state; after the last ones, their sums, and
// their zero points.
fn load_hidden(d: u32, k: u32, unit: u32, all: u32) -> vec4i {
  return weights[(d * (words() + 2u) + k) * HIDDEN + unit + all];
}

// A sequence's words, their sum, the zero point, the bits of the scale.
fn load_rounded(d: u32, b: u32, at: u32) -> i32 {
  return rounded[(d * BATCH + b) * (words() + 3u) + at];
}

fn load_scale(d: u32, gate: u32, unit: u32) -> f32 {
  return scales[(d * 4u + gate) * HIDDEN + unit];
}

fn load_state(number: u32, d: u32, b: u32, unit: u32) -> f32 {
  return states[((number * DIRECTIONS + d) * BATCH + b) * HIDDEN + unit];
}

fn load_extra(d: u32, gate: u32, unit: u32) -> f32 {
  return extra[(d * 4u + gate) * HIDDEN + unit];
}

fn load_length(b: u32) -> i32 {
  return lengths[b];
}

fn store_out(row: u32, d: u32, b: u32, unit: u32, value: f32) {
  out[((row * DIRECTIONS + d) * BATCH + b) * HIDDEN + unit] = value;
}

// Words of a sequence's rounded states: HIDDEN / 4, and zeros up to a multiple of 4.
fn words() -> u32 {
  return (HIDDEN + 15u) / 16u * 4u;
}

// Four elements of the rounded states times the weights of each gate.
fn product(d: u32, k: u32, unit: u32, word: u32) -> vec4i {
  let four = bitcast<vec4u>(load_hidden(d, k, unit, 0u));
  return vec4i(
    dot4I8Packed(four.x, word),
    dot4I8Packed(four.y, word),
    dot4I8Packed(four.z, word),
    dot4I8Packed(four.w, word),
  );
}

// The products of the states, less their zero point, and the weights, less theirs.
fn products(d: u32, b: u32, unit: u32) -> vec4f {
  var sums = vec4i();
  for (var k = 0u; k < words(); k++) {
    sums += product(d, k, unit, bitcast<u32>(load_rounded(d, b, k)));
  }
  let less = 128 - load_rounded(d, b, words() + 1u);
  let total = load_rounded(d, b, words()) + less * i32(HIDDEN);
  sums += less * load_hidden(d, words(), unit, 0u);
  return vec4f(sums - load_hidden(d, words() + 1u, unit, 0u) * total);
}

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

fn gate_0(x: f32) -> f32 {
  return activate(FUNCTION_0, bitcast<f32>(ALPHA_0), bitcast<f32>(BETA_0), clipped(x));
}

fn gate_1(x: f32) -> f32 {
  return activate(FUNCTION_1, bitcast<f32>(ALPHA_1), bitcast<f32>(BETA_1), clipped(x));
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) invocation: vec3u) {
  let element = invocation.x;
  let d = invocation.z;
  if (element >= BATCH * HIDDEN) {
    return;
  }
  let b = element / HIDDEN;
  let unit = element % HIDDEN;
  let factor = bitcast<f32>(load_rounded(d, b, words() + 2u));
  let scale = vec4f(
    load_scale(d, 0u, unit),
    load_scale(d, 1u, unit),
    load_scale(d, 2u, unit),
    load_scale(d, 3u, unit),
  );
  let sums = products(d, b, unit) * (factor * scale);
  let before = load_state(0u, d, b, unit);
  let old = load_state(1u, d, b, unit);
  let enter = gate_0(sums.x + load_x(b, d, 0u, unit) + load_extra(d, 0u, unit) * old);
  let rest = sums.z + load_x(b, d, 2u, unit) + load_extra(d, 2u, unit) * old;
  let kept = select(gate_0(rest), 1.0 - enter, INPUT_FORGET != 0u);
  let next = kept * old + enter * gate_1(sums.w + load_x(b, d, 3u, unit));
  let leave = sums.y + load_x(b, d, 1u, unit) + load_extra(d, 1u, unit) * next;
  let shown = activate(FUNCTION_2, bitcast<f32>(ALPHA_2), bitcast<f32>(BETA_2), next);
  let after = gate_0(leave) * shown;
  let alive = load_length(b) > 0;
  store_out(0u, d, b, unit, select(0.0, after, alive));
  store_out(1u, d, b, unit, select(before, after, alive));
  store_out(2u, d, b, unit, select(old, next, alive));
}
