// Matrix product: out[batch, row, col] = sum over k of a[batch, row, k] * b[batch, k, col].
// A workgroup takes 32 rows x 32 columns, 4 x 4 an invocation, and brings what these need
// into workgroup memory first: for real GPUs.

override M: u32;
override K: u32;
override N: u32;

const TILE_ROWS = 4u;
const TILE_COLS = 4u;

@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;

fn load_a(batch: u32, row: u32, k4: u32) -> vec4f {
  return a[(batch * M + row) * (K / 4u) + k4];
}

fn load_b(batch: u32, k: u32, col4: u32) -> vec4f {
  return b[(batch * K + k) * (N / 4u) + col4];
}

fn store_out(batch: u32, row: u32, col4: u32, value: vec4f) {
  out[(batch * M + row) * (N / 4u) + col4] = value;
}

// Of a workgroup: 32 rows, 8 fours of columns, DEPTH fours of the inner length at a time.
// Invocation (x, y) takes the rows y, y + 8 and so on, and the four of columns x:
// neighbours read neighbouring words, or the same.
const SIDE = 32u;
const FOURS = 8u;
const DEPTH = 4u;
const PITCH = 34u; // not SIDE: invocations that write at once do so in different banks
var<workgroup> tile_a: array<vec4f, DEPTH * PITCH>;
var<workgroup> tile_b: array<vec4f, DEPTH * 4u * FOURS>;

// Four steps of the inner length by four columns; times a vector along it it gives four outputs.
fn block(depth: u32, four: u32) -> mat4x4f {
  let at = depth * 4u * FOURS + four;
  return mat4x4f(tile_b[at], tile_b[at + FOURS],
                 tile_b[at + 2u * FOURS], tile_b[at + 3u * FOURS]);
}

@compute @workgroup_size(8, 8, 1)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) index: u32) {
  let first = group.y * SIDE;
  let first_four = group.x * FOURS;
  let batch = group.z;
  let steps = (K + 3u) / 4u;
  // What this invocation brings: 2 rows at one depth, 2 inner steps of one four of columns.
  let a_depth = index % DEPTH;
  let a_row = index / DEPTH;
  let b_four = index % FOURS;
  let b_k = index / FOURS * 2u;
  let from_four = min(first_four + b_four, (N + 3u) / 4u - 1u);
  var s0a = vec4f();
  var s1a = vec4f();
  var s2a = vec4f();
  var s3a = vec4f();
  for (var step = 0u; step < steps; step += DEPTH) {
    // All have read what is overwritten.
    workgroupBarrier();
    // Past the end both are zero: what lies there, times zero, need not be.
    let a_step = step + a_depth;
    let a_k4 = min(a_step, steps - 1u);
    for (var i = 0u; i < 2u; i++) {
      let row = a_row + i * 16u;
      let value = load_a(batch, min(first + row, M - 1u), a_k4);
      tile_a[a_depth * PITCH + row] = select(vec4f(), value, a_step < steps);
    }
    let b_step = step + b_k / 4u;
    let b_first = min(b_step, steps - 1u) * 4u + b_k % 4u;
    for (var i = 0u; i < 2u; i++) {
      let value = load_b(batch, b_first + i, from_four);
      tile_b[(b_k + i) * FOURS + b_four] = select(vec4f(), value, b_step < steps);
    }
    workgroupBarrier();
    for (var depth = 0u; depth < DEPTH; depth++) {
      let row = depth * PITCH + local.y;
      let wa = block(depth, local.x);
      let a0 = tile_a[row];
      s0a += wa * a0;
      let a1 = tile_a[row + 8u];
      s1a += wa * a1;
      let a2 = tile_a[row + 16u];
      s2a += wa * a2;
      let a3 = tile_a[row + 24u];
      s3a += wa * a3;
    }
  }
  // An array, so that what is fused in store_out is compiled once; the loop has a fixed length,
  // for compilers to keep the array in registers.
  var left = array<vec4f, 4>(s0a, s1a, s2a, s3a);
  let four = first_four + local.x;
  for (var r = 0u; r < TILE_ROWS; r++) {
    let row = first + local.y + r * 8u;
    if (row < M && four * 4u < N) {
      store_out(batch, row, four, left[r]);
    }
  }
}
