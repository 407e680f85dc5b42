// The gradient of recurrent layers (ops/recurrence_training.py): a workgroup goes back along one
// sequence in one direction, and keeps the gradients of the gates of a step in its memory. A lane
// has the elements lane, lane + LANES ... of the states. Coordinates count elements.
//# Calls load_gradient(t, d, b, unit), load_whole(row, d, b, unit), load_hidden(d, gate, unit, column),
//# load_state(number, d, b, unit), load_extra(d, gate, unit), load_length(b), and
//# store_out(row, b, d, gate, unit, value).

//#include layer.wgsl
//#include gates.wgsl
const EACH = 4u; // elements of a lane

// Of each element, the gradients of what goes into its gates.
var<workgroup> given: array<vec4f, 1024>;

// What the forward kernel stored: a block of rows behind its result.
fn kept(number: u32, row: u32, d: u32, b: u32, unit: u32) -> f32 {
  return load_whole(STEPS * (1u + number) + select(1u, 2u, GATES == 4) + row, d, b, unit);
}

fn slope(which: u32, alpha: u32, y: f32) -> f32 {
  switch (which) {
    case 0u: { return bitcast<f32>(alpha); }
    case 2u: { return select(0.0, bitcast<f32>(alpha), y > 0.0 && y < 1.0); }
    case 4u: { return select(1.0, 0.0, y <= 0.0); }
    case 6u: { return y * (1.0 - y); }
    default: { return 1.0 - y * y; }
  }
}

// The gradients of an element's gates times a column of their weights; of a GRU that resets before
// its product, either those of the first two gates or that of the last.
fn products_of(d: u32, unit: u32, column: u32, last: bool) -> f32 {
  let here = given[unit];
  if (GATES == 1) {
    return here.x * load_hidden(d, 0u, unit, column);
  }
  if (GATES == 3 && !LINEAR && last) {
    return here.z * load_hidden(d, 2u, unit, column);
  }
  var sum = here.x * load_hidden(d, 0u, unit, column) + here.y * load_hidden(d, 1u, unit, column);
  if (GATES == 4 || LINEAR) { sum += here.z * load_hidden(d, 2u, unit, column); }
  if (GATES == 4) { sum += here.w * load_hidden(d, 3u, unit, column); }
  return sum;
}

fn products(d: u32, column: u32, last: bool) -> f32 {
  var sums = vec4f();
  let whole_end = HIDDEN / 4u * 4u;
  for (var unit = 0u; unit < whole_end; unit += 4u) {
    sums += vec4f(${each("products_of(d, unit#, column, last)", FOUR)});
  }
  for (var unit = whole_end; unit < HIDDEN; unit++) {
    sums.x += products_of(d, unit, column, last);
  }
  return (sums.x + sums.y) + (sums.z + sums.w);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let b = group.y;
  let d = group.z;
  let back = ((BACKWARD >> d) & 1u) == 1u;
  let length = load_length(b);
  var h: array<f32, EACH>;
  var c: array<f32, EACH>;
  var rest: array<f32, EACH>; // of a GRU: what is added to the product
  for (var unit = lane; unit < HIDDEN; unit += LANES) {
    h[unit / LANES] = load_state(0u, d, b, unit);
    if (GATES == 4) {
      c[unit / LANES] = load_state(1u, d, b, unit);
    }
  }
  for (var turn = 0u; turn < STEPS; turn++) {
    let step = STEPS - 1u - turn;
    let t = select(START + step, TIME - 1u - START - step, back);
    let row = select(step, turn, back);
    let alive = i32(t) < length;
    for (var unit = lane; unit < HIDDEN; unit += LANES) {
      let own = unit / LANES;
      let total = h[own] + load_gradient(t, d, b, unit);
      var found = vec4f();
      rest[own] = 0.0;
      if (GATES == 1) {
        found.x = total * slope(FUNCTION_0, ALPHA_0, load_whole(row, d, b, unit));
        given[unit] = select(vec4f(), found, alive);
      }
      if (GATES == 3) {
        let update = kept(1u, row, d, b, unit);
        let reset = kept(2u, row, d, b, unit);
        let candidate = kept(3u, row, d, b, unit);
        let change = kept(0u, row, d, b, unit) - candidate;
        found.x = total * change * slope(FUNCTION_0, ALPHA_0, update);
        found.z = total * (1.0 - update) * slope(FUNCTION_1, ALPHA_1, candidate);
        rest[own] = total * update;
        var behind = found;
        if (LINEAR) {
          found.y = found.z * kept(4u, row, d, b, unit) * slope(FUNCTION_0, ALPHA_0, reset);
          behind = vec4f(found.xy, found.z * reset, 0.0);
        }
        given[unit] = select(vec4f(), behind, alive);
      }
      if (GATES == 4) {
        let enter = kept(1u, row, d, b, unit);
        let leave = kept(2u, row, d, b, unit);
        let forget = kept(3u, row, d, b, unit);
        let new_cell = kept(4u, row, d, b, unit);
        let old = kept(5u, row, d, b, unit);
        let coupled = INPUT_FORGET != 0u;
        let keeps = select(forget, 1.0 - enter, coupled);
        let shown = shown_of(keeps * old + enter * new_cell);
        found.y = total * shown * slope(FUNCTION_0, ALPHA_0, leave);
        let all = c[own] + total * leave * slope(FUNCTION_2, ALPHA_2, shown)
          + found.y * load_extra(d, 1u, unit);
        found.x = all * select(new_cell, new_cell - old, coupled)
          * slope(FUNCTION_0, ALPHA_0, enter);
        found.z = select(all * old * slope(FUNCTION_0, ALPHA_0, forget), 0.0, coupled);
        found.w = all * enter * slope(FUNCTION_1, ALPHA_1, new_cell);
        let peeped = found.x * load_extra(d, 0u, unit) + found.z * load_extra(d, 2u, unit);
        c[own] = select(c[own], all * keeps + peeped, alive);
        given[unit] = select(vec4f(), found, alive);
      }
      store_out(row, b, d, 0u, unit, select(0.0, found.x, alive));
      if (GATES > 1) { store_out(row, b, d, 2u, unit, select(0.0, found.z, alive)); }
      if (GATES == 4 || LINEAR) { store_out(row, b, d, 1u, unit, select(0.0, found.y, alive)); }
      if (GATES == 4) { store_out(row, b, d, 3u, unit, select(0.0, found.w, alive)); }
    }
    workgroupBarrier();
    if (GATES == 3 && !LINEAR) {
      var second: array<f32, EACH>;
      for (var unit = lane; unit < HIDDEN; unit += LANES) {
        let own = unit / LANES;
        let reset = kept(2u, row, d, b, unit);
        let behind = products(d, unit, true);
        let met = behind * kept(0u, row, d, b, unit) * slope(FUNCTION_0, ALPHA_0, reset);
        second[own] = select(0.0, met, alive);
        rest[own] += behind * reset;
        store_out(row, b, d, 1u, unit, second[own]);
      }
      workgroupBarrier();
      for (var unit = lane; unit < HIDDEN; unit += LANES) {
        given[unit].y = second[unit / LANES];
      }
      workgroupBarrier();
    }
    for (var unit = lane; unit < HIDDEN; unit += LANES) {
      let own = unit / LANES;
      h[own] = select(h[own], products(d, unit, false) + rest[own], alive);
    }
    workgroupBarrier();
  }
  for (var unit = lane; unit < HIDDEN; unit += LANES) {
    for (var gate = 0u; gate < u32(GATES); gate++) {
      let cell = select(0.0, c[unit / LANES], gate == 1u && GATES == 4);
      store_out(STEPS, b, d, gate, unit, select(cell, h[unit / LANES], gate == 0u));
    }
  }
}
