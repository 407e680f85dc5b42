// An LSTM with 8-bit weights (ops/dynamic_recurrence.py). Coordinates count elements.
//#if STEP
// A step of it, whose states dynamic_round has rounded: a lane has an element of a sequence. Without
// barriers, which CPUs are slow at.
//#else
// A workgroup takes the steps of all sequences in one direction, since their states are rounded by one
// range. It keeps the states in its memory, as they are and rounded. A lane has the elements lane,
// lane + LANES ... of all sequences.
//#end
//# STEP: whether it is one step, with dynamic_round before it.
//# Calls load_x(t, b, d, gate, unit), of a step without t; load_hidden(d, k, unit, 0): for each gate,
//# the weights of four elements of a state, after the last ones their sums and their zero points;
//# load_scale(d, gate, unit), load_state(number, d, b, unit), load_extra(d, gate, unit),
//# load_length(b), store_out(row, d, b, unit, value); load_rounded(d, b, at): what dynamic_round stores.

override TIME: u32; //#if not STEP
override BATCH: u32; override DIRECTIONS: u32; override HIDDEN: u32;
// A bit for each direction.
override BACKWARD: u32; //#if not STEP

const TILE_COLS = 1u;
const LANES = ${"64" if STEP else "256"}u;
//#if not STEP
const EACH = 8u; // elements of a lane

var<workgroup> hidden: array<f32, 2048>;
// The rounded states of a sequence, less 128, four in a word.
var<workgroup> rounded: array<u32, 2048>;
var<workgroup> lows: array<f32, 256>;
var<workgroup> highs: array<f32, 256>;
//#end

//#include rounded.wgsl

// Four elements of the rounded states times the weights of each gate.
fn product(d: u32, k: u32, unit: u32, word: u32) -> vec4i {
  let four = bitcast<vec4u>(load_hidden(d, k, unit, 0u));
  return vec4i(${each("dot4I8Packed(four.#, word)", "xyzw")});
}

//#if STEP
// The products of the states, less their zero point, and the weights, less theirs.
fn products(d: u32, b: u32, unit: u32) -> vec4f {
  var sums = vec4i();
  for (var k = 0u; k < words(); k++) {
    sums += product(d, k, unit, bitcast<u32>(load_rounded(d, b, k)));
  }
  let less = 128 - load_rounded(d, b, words() + 1u);
  let total = load_rounded(d, b, words()) + less * i32(HIDDEN);
//#else
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
//#end
  sums += less * load_hidden(d, words(), unit, 0u);
  return vec4f(sums - load_hidden(d, words() + 1u, unit, 0u) * total);
}

//#include gates.wgsl

//#if STEP
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) invocation: vec3u) {
  let element = invocation.x;
  let d = invocation.z;
  if (element >= BATCH * HIDDEN) { return; }
//#else
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
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
//#end
      let b = element / HIDDEN;
      let unit = element % HIDDEN;
      let factor = bitcast<f32>(load_rounded(d, b, words() + 2u)); //#if STEP
      let scale = vec4f(${each("load_scale(d, #u, unit)", range(4))});
      let sums = products(d, b, unit${"" if STEP else ", i32(zero)"}) * (factor * scale);
      let before = load_state(0u, d, b, unit); //#if STEP
      let old = ${"load_state(1u, d, b, unit)" if STEP else "cell[own]"};
//#let at = "b, d" if STEP else "t, b, d"
      let enter = gate_0(sums.x + load_x(${at}, 0u, unit) + load_extra(d, 0u, unit) * old);
      let rest = sums.z + load_x(${at}, 2u, unit) + load_extra(d, 2u, unit) * old;
      let kept = select(gate_0(rest), 1.0 - enter, INPUT_FORGET != 0u);
      let next = kept * old + enter * gate_1(sums.w + load_x(${at}, 3u, unit));
      let leave = sums.y + load_x(${at}, 1u, unit) + load_extra(d, 1u, unit) * next;
      let shown = shown_of(next);
      let after = gate_0(leave) * shown;
//#if STEP
      let alive = load_length(b) > 0;
      store_out(0u, d, b, unit, select(0.0, after, alive));
      store_out(1u, d, b, unit, select(before, after, alive));
      store_out(2u, d, b, unit, select(old, next, alive));
//#else
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
//#end
}
