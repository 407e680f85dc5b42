// RNN, GRU and LSTM (ops/recurrence.py): a workgroup takes the steps of one sequence in one
// direction, and keeps the hidden state in its memory. A lane has the hidden elements lane,
// lane + LANES ...; what is theirs alone it keeps to itself. Coordinates count elements.
//# Calls load_x(t, b, d, gate, unit), load_hidden(d, k, unit): the weights of all gates, 0 beyond the
//# state; load_state(number, d, b, unit), load_extra(d, gate, unit), load_length(b),
//# store_out(row, d, b, unit, value).

//#include layer.wgsl
//#include gates.wgsl
// Whether what a step computes is stored for the gradient's kernel (ops/recurrence_training.py).
override KEEPS: bool;

const EACH = 8u; // hidden elements of a lane

var<workgroup> state: array<f32, 2051>;

fn keep(number: u32, row: u32, d: u32, b: u32, unit: u32, value: f32) {
  if (KEEPS) {
    store_out(STEPS * (1u + number) + select(1u, 2u, GATES == 4) + row, d, b, unit, value);
  }
}

// The state times the weights of all gates.
fn products(d: u32, unit: u32) -> vec4f {
  var sums = vec4f();
  for (var k = 0u; k < HIDDEN; k += 4u) {
    let weights = mat4x4f(${each("load_hidden(d, k#, unit)", FOUR)});
    sums += weights * vec4f(${each("state[k#]", FOUR)});
  }
  return sums;
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
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
        let shown = shown_of(next);
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
