// Attention (ops/attention.py): an invocation takes a query, and four keys at a time. What it has
// summed up is scaled whenever a score is larger than all before.
//# SIZE, WIDE: fours of elements of a query and of a value.
//# Calls load_q(n, head, row, d4), load_k(n, head, key, d4), load_v(n, head, key, e4), load_reach(n),
//# store_out(n, head, row, e4, value).

// Heads that a key head serves.
override GROUP: u32;
override ROWS: u32; override KEYS: u32;
// The bits of a float.
override SCALE: u32;
override CAUSAL: bool;
// How many keys a query sees at most; 0: all.
override WINDOW: u32;

const TILE_COLS = 4u;
const LOWEST = -3.4e38;

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  let n = id.z;
  if (row >= ROWS) { return; }
  let served = id.y / GROUP;
  let reach = load_reach(n) + select(0, i32(row), CAUSAL);
  let end = u32(clamp(reach, 0, i32(KEYS)));
  let begin = select(0u, u32(max(reach - i32(WINDOW), 0)), WINDOW > 0u);
  let scale = bitcast<f32>(SCALE);
  let q${d} = scale * load_q(n, id.y, row, ${d}u); //#for d in range(SIZE)
  var o${e} = vec4f(); //#for e in range(WIDE)
  var peak = LOWEST;
  var total = 0.0;
  for (var k0 = begin; k0 < end; k0 += 4u) {
    let k${i} = min(k0 + ${i}u, KEYS - 1u); //#for i in range(1, 4)
    var scores = vec4f();
    scores += q${d} * mat4x4f(${each("load_k(n, served, k#, %du)" % d, range(4))}); //#for d in range(SIZE)
    scores = select(vec4f(LOWEST), scores, k0 + vec4u(0u, 1u, 2u, 3u) < vec4u(end));
    let most = max(peak, max(max(scores.x, scores.y), max(scores.z, scores.w)));
    let factor = exp(peak - most);
    let weights = exp(scores - most);
    peak = most;
    total = total * factor + dot(weights, vec4f(1.0));
//#for e in range(WIDE)
    o${e} = o${e} * factor + mat4x4f(${each("load_v(n, served, k#, %du)" % e, range(4))}) * weights;
//#end
  }
  let share = 1.0 / select(total, 1.0, total == 0.0);
  var results = array<vec4f, ${WIDE}>(${each("o#", range(WIDE))});
  for (var e = 0u; e < ${WIDE}u; e++) {
    store_out(n, id.y, row, e, results[e] * share);
  }
}
