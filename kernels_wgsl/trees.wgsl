// Decision trees (ops/trees.py): an invocation walks one tree with one row of features, and is done
// when it reaches a leaf. Coordinates count elements.

override ROWS: u32;
override FEATURES: u32;
override TREES: u32;
// Of nodes; from there on a number is that of a leaf.
override COUNT: u32;
// The most steps.
override DEPTH: u32;

const TILE_COLS = 1u;

// The columns of the table of nodes, and what is added to the mode of a node that NaN leaves by its
// true branch.
const FEATURE = 0u;
const MODE = 1u;
const YES = 2u;
const NO = 3u;
const MISSING = 8;

const NOT_EQUAL = 5;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> nodes: array<i32>;
@group(0) @binding(2) var<storage, read> splits: array<f32>;
@group(0) @binding(3) var<storage, read> roots: array<i32>;
@group(0) @binding(4) var<storage, read_write> out: array<i32>;

fn load_x(row: u32, feature: u32) -> f32 {
  return x[row * FEATURES + feature];
}

fn load_node(at: u32, column: u32) -> i32 {
  return nodes[at * 4u + column];
}

fn load_split(at: u32) -> f32 {
  return splits[at];
}

fn load_root(tree: u32) -> i32 {
  return roots[tree];
}

fn store_out(tree: u32, row: u32, value: i32) {
  out[tree * ROWS + row] = value;
}

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

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let row = id.x;
  let tree = id.y;
  if (row >= ROWS || tree >= TREES) {
    return;
  }
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
