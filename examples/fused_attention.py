"""A kernel of one's own: attention in one WGSL kernel, beside Tallow's own, with its gradient.

PYTHONPATH=py .venv/bin/python examples/fused_attention.py
python3 build.py run examples/fused_attention.py --device webgpu

The scores of all queries and keys are a large matrix that nobody asks for. The kernel never stores
it: each query keeps a running maximum and a running sum of its softmax while keys and values pass
by in tiles (Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Dao et al.
2022, "FlashAttention"). On a device without WebGPU the same op is the NumPy function below.
"""

from __future__ import annotations

import numpy as np

import tallow as tl
import tallow.nn.functional as F

LANES, MOST_WIDTH = 32, 64

WGSL = """
// A workgroup computes LANES queries of one head, an invocation each. Keys and values come in tiles
// that its invocations share. Rows are counted in vec4f.
override QUERIES: u32;
override KEYS: u32;
override WIDTH: u32;
override SCALE: f32;

const LANES = 32u;
const TILE = 32u;
const MOST = 16u;

@group(0) @binding(0) var<storage, read> q: array<vec4f>;
@group(0) @binding(1) var<storage, read> k: array<vec4f>;
@group(0) @binding(2) var<storage, read> v: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4f>;

var<workgroup> keys: array<vec4f, TILE * MOST>;
var<workgroup> values: array<vec4f, TILE * MOST>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let head = group.y;
  let row = group.x * LANES + lane;
  let inside = row < QUERIES;
  var query: array<vec4f, MOST>;
  var sum: array<vec4f, MOST>;
  for (var i = 0u; i < WIDTH && inside; i++) {
    query[i] = q[(head * QUERIES + row) * WIDTH + i] * SCALE;
  }
  var highest = -3.0e38;
  var total = 0.0;
  for (var first = 0u; first < KEYS; first += TILE) {
    let count = min(TILE, KEYS - first);
    workgroupBarrier();
    for (var i = lane; i < count * WIDTH; i += LANES) {
      keys[i] = k[(head * KEYS + first) * WIDTH + i];
      values[i] = v[(head * KEYS + first) * WIDTH + i];
    }
    workgroupBarrier();
    for (var j = 0u; j < count; j++) {
      var score = 0.0;
      for (var i = 0u; i < WIDTH; i++) {
        score += dot(query[i], keys[j * WIDTH + i]);
      }
      let before = highest;
      highest = max(highest, score);
      let kept = exp(before - highest);
      let weight = exp(score - highest);
      total = total * kept + weight;
      for (var i = 0u; i < WIDTH; i++) {
        sum[i] = sum[i] * kept + values[j * WIDTH + i] * weight;
      }
    }
  }
  for (var i = 0u; i < WIDTH && inside; i++) {
    out[(head * QUERIES + row) * WIDTH + i] = sum[i] / total;
  }
}
"""


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What the kernel computes, in NumPy."""
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    result: np.ndarray = weights / weights.sum(-1, keepdims=True) @ v
    return result


def gradients(
    gradient: tl.Tensor, out: tl.Tensor, q: tl.Tensor, k: tl.Tensor, v: tl.Tensor
) -> tuple[tl.Tensor, tl.Tensor, tl.Tensor]:
    """Those of q, k and v: the weights are computed again instead of being kept."""
    scale = q.shape[-1] ** -0.5
    weights = F.softmax(q @ k.transpose(-1, -2) * scale, axis=-1)
    share = tl.sum(gradient * out, axis=-1, keepdims=True)
    of_scores = weights * (gradient @ v.transpose(-1, -2) - share) * scale
    return (
        of_scores @ k,
        of_scores.transpose(-1, -2) @ q,
        weights.transpose(-1, -2) @ gradient,
    )


_attend = tl.custom_op(
    "fused_attention",
    numpy=reference,
    shape=lambda q, k, v: (*q.shape[:-1], v.shape[-1]),
    wgsl=WGSL,
    constants=lambda q, k, v: {
        "QUERIES": q.shape[-2],
        "KEYS": k.shape[-2],
        "WIDTH": q.shape[-1] // 4,
        "SCALE": q.shape[-1] ** -0.5,
    },
    workgroups=lambda q, k, v: (-(-q.shape[-2] // LANES), q.shape[0] * q.shape[1]),
    vjp=gradients,
)


def attend(q: tl.Tensor, k: tl.Tensor, v: tl.Tensor) -> tl.Tensor:
    """Attention of queries (N, H, L, E) over keys and values (N, H, S, E), all float32. E is a
    multiple of 4, at most 64. Raises ValueError for other shapes."""
    *heads, _, width = q.shape
    if q.ndim != 4 or k.shape != v.shape or [*k.shape[:2], k.shape[3]] != [*heads, width]:
        raise ValueError(f"q {q.shape}, k {k.shape} and v {v.shape} do not fit")
    if width % 4 or width > MOST_WIDTH:
        raise ValueError(f"E is {width}; the kernel takes multiples of 4 up to {MOST_WIDTH}")
    return _attend(q, k, v)


def main() -> None:
    tl.manual_seed(0)
    q, k, v = tl.randn(2, 4, 100, 32), tl.randn(2, 4, 80, 32), tl.randn(2, 4, 80, 32)
    tl.realize(q, k, v)

    ours, theirs = attend(q, k, v), F.scaled_dot_product_attention(q, k, v)
    print(f"on {ours.device}: {ours.shape}")
    difference = tl.max(tl.abs(ours - theirs)).item()
    print(f"largest difference from F.scaled_dot_product_attention: {difference:.1e}")

    @tl.jit
    def both(q: tl.Tensor, k: tl.Tensor, v: tl.Tensor) -> tl.Tensor:
        """How far the two gradients of q, k and v are apart."""
        mine = tl.grad(lambda *x: tl.sum(attend(*x) ** 2), argnums=(0, 1, 2))(q, k, v)
        own = tl.grad(
            lambda *x: tl.sum(F.scaled_dot_product_attention(*x) ** 2), argnums=(0, 1, 2)
        )(q, k, v)
        return tl.stack([tl.max(tl.abs(a - b)) for a, b in zip(mine, own, strict=True)])

    apart = both(q, k, v).tolist()
    for name, each in zip("qkv", apart, strict=True):
        print(f"largest difference of the gradient of {name}: {each:.1e}")
    assert max(difference, *apart) < 1e-4


if __name__ == "__main__":
    main()
