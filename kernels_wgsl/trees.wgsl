// Decision trees (ops/trees.py): an invocation walks one tree with one row of features, and is done
// when it reaches a leaf. Coordinates count elements.
//# Calls load_x(row, feature), load_node(at, column), load_split(at), load_root(tree),
//# store_out(tree, row, value).

override ROWS: u32; override FEATURES: u32; override TREES: u32;
// Of nodes; from there on a number is that of a leaf.
override COUNT: u32;
// The most steps.
override DEPTH: u32;

const TILE_COLS = 1u;

// The columns of the table of nodes, and what is added to the mode of a node that NaN leaves by its
// true branch.
const FEATURE = 0u; const MODE = 1u; const YES = 2u; const NO = 3u;
const MISSING = 8;
const NOT_EQUAL = 5;

// By the bits: a compiler may take it that no number is NaN.
fn is_nan(value: f32) -> bool {
  return (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u;
}

fn compare(mode: i32, value: f32, split: f32) -> bool {
  if (is_nan(value) || is_nan(split)) {
    return mode == NOT_EQUAL;
  }
  switch (mode) {
    case 0: { return value <= split; }
    case 1: { return value < split; }
    case 2: { return value >= split; }
    case 3: { return value > split; }
    case 4: { return value == split; }
    default: { return value != split; }
  }
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  let tree = id.y;
  if (row >= ROWS || tree >= TREES) { return; }
  var at = load_root(tree);
  for (var left = DEPTH; left > 0u && at < i32(COUNT); left--) {
    let here = u32(at);
    let value = load_x(row, u32(load_node(here, FEATURE)));
    let code = load_node(here, MODE);
    var truth = compare(code & (MISSING - 1), value, load_split(here));
    truth = truth || (code >= MISSING && is_nan(value));
    at = load_node(here, select(NO, YES, truth));
  }
  store_out(tree, row, max(at - i32(COUNT), 0));
}
