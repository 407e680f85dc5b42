// The states of all sequences in one direction as 8-bit integers (ops/dynamic_recurrence.py), less
// 128, four in a word; then, for each sequence, their sum, the zero point, and the bits of the
// scale. An invocation does all of it: on a CPU, for which this is, that takes less than barriers.
//# Calls load_state(d, b, unit), load_length(b), store_out(d, b, at, value).

override BATCH: u32; override HIDDEN: u32;

const TILE_COLS = 1u;

//#include rounded.wgsl

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) invocation: vec3u) {
  let d = invocation.z;
  var low = 0.0;
  var high = 0.0;
  for (var b = 0u; b < BATCH; b++) {
    if (load_length(b) >= 0) { // a sequence that is over counts for one step more
      for (var unit = 0u; unit < HIDDEN; unit++) {
        let value = load_state(d, b, unit);
        low = min(low, value);
        high = max(high, value);
      }
    }
  }
  let factor = select((high - low) / 255.0, 1.0, low == high);
  let zero = clamp(round(-low / factor), 0.0, 255.0);
  for (var b = 0u; b < BATCH; b++) {
    var total = 0;
    for (var k = 0u; k < words(); k++) {
      var word = 0u;
      for (var part = 0u; part < 4u && 4u * k + part < HIDDEN; part++) {
        let whole = rounded_to(load_state(d, b, 4u * k + part), factor, zero);
        total += whole;
        word |= (bitcast<u32>(whole) & 255u) << (8u * part);
      }
      store_out(d, b, k, bitcast<i32>(word));
    }
    store_out(d, b, words(), total);
    store_out(d, b, words() + 1u, i32(zero));
    store_out(d, b, words() + 2u, bitcast<i32>(factor));
  }
}
