// An LSTM with 8-bit weights (ops/dynamic_recurrence.py): a workgroup takes the steps of all
// sequences in one direction, since their states are rounded by one range. It keeps the states in
// its memory, as they are and rounded. A lane has the elements lane, lane + LANES ... of all
// sequences. Coordinates count elements.

override TIME: u32;
override BATCH: u32;
override DIRECTIONS: u32;
override HIDDEN: u32;
// A bit for each direction.
override BACKWARD: u32;
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
const LANES = 256u;
const EACH = 8u; // elements of a lane

@group(0) @binding(0) var<storage, read> projected: array<f32>;
@group(0) @binding(1) var<storage, read> weights: array<vec4i>;
@group(0) @binding(2) var<storage, read> scales: array<f32>;
@group(0) @binding(3) var<storage, read> states: array<f32>;
@group(0) @binding(4) var<storage, read> extra: array<f32>;
@group(0) @binding(5) var<storage, read> lengths: array<i32>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;

var<workgroup> hidden: array<f32, 2048>;
// The rounded states of a sequence, less 128, four in a word.
var<workgroup> rounded: array<u32, 2048>;
var<workgroup> lows: array<f32, 256>;
var<workgroup> highs: array<f32, 256>;

fn load_x(t: u32, b: u32, d: u32, gate: u32, unit: u32) -> f32 {
  return projected[(((t * BATCH + b) * DIRECTIONS + d) * 4u + gate) * HIDDEN + unit];
}

// For each gate, the weights of four elements of a state; after the last ones, their sums, and
// their zero points.
fn load_hidden(d: u32, k: u32, unit: u32, all: u32) -> vec4i {
  return weights[(d * (words() + 2u) + k) * HIDDEN + unit + all];
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

fn sum(word: u32) -> i32 {
  return dot4I8Packed(word, 0x01010101u);
}

// The products of the states, less their zero point, and the weights, less theirs.
fn products(d: u32, b: u32, unit: u32, zero: i32) -> vec4f {
  let first = b * words();
  var sums = vec4i();
  var total = 0;
  for (var k = 0u; k < words(); k += 4u) {
    let at = first + k;
    let four = vec4u(rounded[at], rounded[at + 1u], rounded[at + 2u], rounded[at + 3u]);
    sums += product(d, k, unit, four.x) + product(d, k + 1u, unit, four.y);
    sums += product(d, k + 2u, unit, four.z) + product(d, k + 3u, unit, four.w);
    total += (sum(four.x) + sum(four.y)) + (sum(four.z) + sum(four.w));
  }
  let less = 128 - zero;
  total += less * i32(HIDDEN);
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

fn rounded_to(value: f32, factor: f32, zero: f32) -> i32 {
  return i32(clamp(round(value / factor) + zero, 0.0, 255.0)) - 128;
}

@compute @workgroup_size(256, 1, 1)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let d = group.z;
  let back = ((BACKWARD >> d) & 1u) == 1u;
  let count = BATCH * HIDDEN;
  var cell: array<f32, EACH>;
  for (var element = lane; element < count; element += LANES) {
    hidden[element] = load_state(0u, d, element / HIDDEN, element % HIDDEN);
    cell[element / LANES] = load_state(1u, d, element / HIDDEN, element % HIDDEN);
  }
  for (var step = 0u; step < TIME; step++) {
    var low = 0.0;
    var high = 0.0;
    for (var element = lane; element < count; element += LANES) {
      // A sequence that is over counts for one step more.
      let seen = select(0.0, hidden[element], i32(step) <= load_length(element / HIDDEN));
      low = min(low, seen);
      high = max(high, seen);
    }
    lows[lane] = low;
    highs[lane] = high;
    workgroupBarrier();
    for (var apart = LANES / 4u; apart > 0u; apart /= 4u) {
      if (lane < apart) {
        for (var other = lane + apart; other < 4u * apart; other += apart) {
          lows[lane] = min(lows[lane], lows[other]);
          highs[lane] = max(highs[lane], highs[other]);
        }
      }
      workgroupBarrier();
    }
    low = lows[0];
    high = highs[0];
    let factor = select((high - low) / 255.0, 1.0, low == high);
    let zero = clamp(round(-low / factor), 0.0, 255.0);
    for (var at = lane; at < BATCH * words(); at += LANES) {
      let start = at / words() * HIDDEN;
      let k = at % words() * 4u;
      var word = 0u;
      for (var part = 0u; part < 4u && k + part < HIDDEN; part++) {
        let value = rounded_to(hidden[start + k + part], factor, zero);
        word |= (bitcast<u32>(value) & 255u) << (8u * part);
      }
      rounded[at] = word;
    }
    workgroupBarrier();
    let t = select(step, TIME - 1u - step, back);
    for (var element = lane; element < count; element += LANES) {
      let own = element / LANES;
      let b = element / HIDDEN;
      let unit = element % HIDDEN;
      let scale = vec4f(
        load_scale(d, 0u, unit),
        load_scale(d, 1u, unit),
        load_scale(d, 2u, unit),
        load_scale(d, 3u, unit),
      );
      let sums = products(d, b, unit, i32(zero)) * (factor * scale);
      let old = cell[own];
      let enter = gate_0(sums.x + load_x(t, b, d, 0u, unit) + load_extra(d, 0u, unit) * old);
      let rest = sums.z + load_x(t, b, d, 2u, unit) + load_extra(d, 2u, unit) * old;
      let kept = select(gate_0(rest), 1.0 - enter, INPUT_FORGET != 0u);
      let next = kept * old + enter * gate_1(sums.w + load_x(t, b, d, 3u, unit));
      let leave = sums.y + load_x(t, b, d, 1u, unit) + load_extra(d, 1u, unit) * next;
      let shown = activate(FUNCTION_2, bitcast<f32>(ALPHA_2), bitcast<f32>(BETA_2), next);
      let after = gate_0(leave) * shown;
      let alive = i32(step) < load_length(b);
      if (alive) {
        hidden[element] = after;
        cell[own] = next;
      }
      store_out(t, d, b, unit, select(0.0, after, alive));
    }
  }
  for (var element = lane; element < count; element += LANES) {
    let own = element / LANES;
    store_out(TIME, d, element / HIDDEN, element % HIDDEN, hidden[element]);
    store_out(TIME + 1u, d, element / HIDDEN, element % HIDDEN, cell[own]);
  }
}
