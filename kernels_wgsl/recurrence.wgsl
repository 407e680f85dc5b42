// RNN, GRU and LSTM (ops/recurrence.py): a workgroup takes the steps of one sequence in one
// direction, and keeps the hidden state in its memory. A lane has the hidden elements lane,
// lane + LANES ...; what is theirs alone it keeps to itself. Coordinates count elements.

override TIME: u32;
override START: u32;
override STEPS: u32;
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
// 1: RNN; 3: GRU (update, reset, hidden); 4: LSTM (input, output, forget, cell).
override GATES: i32;
override LINEAR: bool;
// Whether what a step computes is stored for the gradient's kernel (ops/recurrence_training.py).
override KEEPS: bool;

const TILE_COLS = 1u;
const LANES = 256u;
const EACH = 8u; // hidden elements of a lane

@group(0) @binding(0) var<storage, read> projected: array<f32>;
@group(0) @binding(1) var<storage, read> weights: array<vec4f>;
@group(0) @binding(2) var<storage, read> states: array<f32>;
@group(0) @binding(3) var<storage, read> extra: array<f32>;
@group(0) @binding(4) var<storage, read> lengths: array<i32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

var<workgroup> state: array<f32, 2051>;

fn load_x(t: u32, b: u32, d: u32, gate: u32, unit: u32) -> f32 {
  return projected[(((t * BATCH + b) * DIRECTIONS + d) * u32(GATES) + gate) * HIDDEN + unit];
}

// The weights of all gates; 0 beyond the state.
fn load_hidden(d: u32, k: u32, unit: u32) -> vec4f {
  return select(vec4f(), weights[(d * HIDDEN + k) * HIDDEN + unit], k < HIDDEN);
}

fn load_state(number: u32, d: u32, b: u32, unit: u32) -> f32 {
  return states[((number * DIRECTIONS + d) * BATCH + b) * HIDDEN + unit];
}

fn load_extra(d: u32, gate: u32, unit: u32) -> f32 {
  return extra[(d * u32(GATES) + gate) * HIDDEN + unit];
}

fn load_length(b: u32) -> i32 {
  return lengths[b];
}

fn store_out(row: u32, d: u32, b: u32, unit: u32, value: f32) {
  out[((row * DIRECTIONS + d) * BATCH + b) * HIDDEN + unit] = value;
}

fn keep(number: u32, row: u32, d: u32, b: u32, unit: u32, value: f32) {
  if (KEEPS) {
    store_out(STEPS * (1u + number) + select(1u, 2u, GATES == 4) + row, d, b, unit, value);
  }
}

// The state times the weights of all gates.
fn products(d: u32, unit: u32) -> vec4f {
  var sums = vec4f();
  for (var k = 0u; k < HIDDEN; k += 4u) {
    let weights = mat4x4f(
      load_hidden(d, k, unit),
      load_hidden(d, k + 1u, unit),
      load_hidden(d, k + 2u, unit),
      load_hidden(d, k + 3u, unit),
    );
    sums += weights * vec4f(state[k], state[k + 1u], state[k + 2u], state[k + 3u]);
  }
  return sums;
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

@compute @workgroup_size(256, 1, 1)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let b = group.y;
  let d = group.z;
  let back = ((BACKWARD >> d) & 1u) == 1u;
  let length = load_length(b);
  var before: array<f32, EACH>;
  var cell: array<f32, EACH>; // of a GRU: its update gate
  var after: array<f32, EACH>;
  for (var unit = lane; unit < HIDDEN; unit += LANES) {
    let own = unit / LANES;
    before[own] = load_state(0u, d, b, unit);
    state[unit] = before[own];
    if (GATES == 4) {
      cell[own] = load_state(1u, d, b, unit);
    }
  }
  // Products read fours, and not every driver clears a workgroup's memory: 0 times NaN is NaN.
  if (lane < 3u) {
    state[HIDDEN + lane] = 0.0;
  }
  workgroupBarrier();
  for (var step = 0u; step < STEPS; step++) {
    let t = select(START + step, TIME - 1u - START - step, back);
    let row = select(step, STEPS - 1u - step, back);
    let alive = i32(t) < length;
    for (var unit = lane; unit < HIDDEN; unit += LANES) {
      let own = unit / LANES;
      let sums = products(d, unit);
      let first = sums.x + load_x(t, b, d, 0u, unit);
      keep(0u, row, d, b, unit, select(0.0, before[own], alive));
      if (GATES == 1) {
        after[own] = gate_0(first);
      }
      if (GATES == 3) {
        let reset = gate_0(sums.y + load_x(t, b, d, 1u, unit));
        cell[own] = gate_0(first);
        keep(1u, row, d, b, unit, select(0.0, cell[own], alive));
        keep(2u, row, d, b, unit, select(0.0, reset, alive));
        if (LINEAR) {
          let behind = sums.z + load_extra(d, 2u, unit);
          let candidate = gate_1(load_x(t, b, d, 2u, unit) + reset * behind);
          keep(3u, row, d, b, unit, select(0.0, candidate, alive));
          keep(4u, row, d, b, unit, select(0.0, behind, alive));
          after[own] = (1.0 - cell[own]) * candidate + cell[own] * before[own];
        } else {
          after[own] = reset * before[own];
        }
      }
      if (GATES == 4) {
        let old = cell[own];
        let enter = gate_0(first + load_extra(d, 0u, unit) * old);
        let rest = sums.z + load_x(t, b, d, 2u, unit) + load_extra(d, 2u, unit) * old;
        let forget = gate_0(rest);
        let kept = select(forget, 1.0 - enter, INPUT_FORGET != 0u);
        let new_cell = gate_1(sums.w + load_x(t, b, d, 3u, unit));
        let next = kept * old + enter * new_cell;
        let leave = gate_0(sums.y + load_x(t, b, d, 1u, unit) + load_extra(d, 1u, unit) * next);
        let shown = activate(FUNCTION_2, bitcast<f32>(ALPHA_2), bitcast<f32>(BETA_2), next);
        after[own] = leave * shown;
        keep(1u, row, d, b, unit, select(0.0, enter, alive));
        keep(2u, row, d, b, unit, select(0.0, leave, alive));
        keep(3u, row, d, b, unit, select(0.0, forget, alive));
        keep(4u, row, d, b, unit, select(0.0, new_cell, alive));
        keep(5u, row, d, b, unit, select(0.0, old, alive));
        cell[own] = select(old, next, alive);
      }
    }
    workgroupBarrier();
    if (GATES == 3 && !LINEAR) {
      for (var unit = lane; unit < HIDDEN; unit += LANES) {
        state[unit] = after[unit / LANES];
      }
      workgroupBarrier();
      for (var unit = lane; unit < HIDDEN; unit += LANES) {
        let own = unit / LANES;
        let candidate = gate_1(load_x(t, b, d, 2u, unit) + products(d, unit).z);
        keep(3u, row, d, b, unit, select(0.0, candidate, alive));
        after[own] = (1.0 - cell[own]) * candidate + cell[own] * before[own];
      }
      workgroupBarrier();
    }
    for (var unit = lane; unit < HIDDEN; unit += LANES) {
      let own = unit / LANES;
      before[own] = select(before[own], after[own], alive);
      state[unit] = before[own];
      store_out(row, d, b, unit, select(0.0, after[own], alive));
    }
    workgroupBarrier();
  }
  for (var unit = lane; unit < HIDDEN; unit += LANES) {
    let own = unit / LANES;
    store_out(STEPS, d, b, unit, before[own]);
    if (GATES == 4) {
      store_out(STEPS + 1u, d, b, unit, cell[own]);
    }
  }
}
