"""Attention, rotary embeddings, and the cache of keys and values."""

from __future__ import annotations

import math

from ..... import functional as nn
from ..... import functions as f
from .....core import dtype as dt
from .....core.dtype import DType
from .....core.shape import check_axis
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....functional.attention import attended, attention_scores, masked_softmax
from .....functions.indexing import position
from .....tensor import Tensor
from ...call import Call
from ...read.tensors import dtype_of, type_name
from ...records import GraphRecord
from ...registry import operator

_BFLOAT16 = 16


def _heads(x: Tensor, heads: int, what: str) -> Tensor:
    """(batch, length, heads * n) as (batch, heads, length, n)."""
    batch, length, width = x.shape
    if heads < 1 or width % heads:
        raise OnnxFormatError(f"{what} {x.shape} does not divide into {heads} heads")
    return f.permute_dims(f.reshape(x, (batch, length, heads, width // heads)), (0, 2, 1, 3))


def _joined(x: Tensor) -> Tensor:
    """The reverse of `_heads`."""
    batch, heads, length, n = x.shape
    return f.reshape(f.permute_dims(x, (0, 2, 1, 3)), (batch, length, heads * n))


def _precision(call: Call) -> DType | None:
    """The type of the softmax; bfloat16 is computed in float32."""
    number = call.get("softmax_precision", int, None)
    if number is None:
        return None
    found = dt.float32 if number == _BFLOAT16 else dtype_of(number)
    if found is None or not found.is_floating:
        raise OnnxFormatError(f"softmax_precision is {type_name(number)}, not a floating type")
    return found


def _seen(call: Call, length: int, keys: int, offset: int | Tensor) -> Tensor | None:
    """Which keys the attributes let each query attend to; None: all. The i-th query has the
    position offset + i."""
    causal, left, right = call.flag("is_causal"), -1, -1
    if call.opset >= 25:
        left, right = (call.get(f"{side}_window_size", int, -1) for side in ("left", "right"))
    position = f.reshape(f.arange(length), (-1, 1)) + offset
    key = f.arange(keys)
    rules = [key <= position] if causal else []
    rules += [key >= position - left] if left >= 0 else []
    rules += [key <= position + right] if right >= 0 else []
    result = None
    for rule in rules:
        result = rule if result is None else f.logical_and(result, rule)
    return result


def _biased(scores: Tensor, mask: Tensor | None, seen: Tensor | None) -> Tensor:
    """Scores with a mask, which may be shorter than the keys, and -infinity outside `seen`."""
    if mask is not None:
        missing = scores.shape[-1] - mask.shape[-1] if mask.ndim else 0
        boolean = mask.dtype == dt.bool_
        if not boolean:
            mask = mask.astype(scores.dtype)
        if missing > 0 and mask.shape[-1] != 1:
            pads = [*[(0, 0)] * (mask.ndim - 1), (0, missing)]
            mask = f.pad(mask, pads, False if boolean else -math.inf)
        scores = f.where(mask, scores, -math.inf) if boolean else scores + mask
    return scores if seen is None else f.where(seen, scores, -math.inf)


@operator("Attention", since=23)
def attention(
    call: Call,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    lengths: Tensor | None = None,
) -> list[Tensor]:
    """The four outputs: the result, the keys and values including past ones, and the scores."""
    flat = q.ndim == 3
    heads, shared = call.get("q_num_heads", int, 0), call.get("kv_num_heads", int, 0)
    if flat and k.ndim == v.ndim == 3:
        q, k, v = _heads(q, heads, "Q"), _heads(k, shared, "K"), _heads(v, shared, "V")
    if not q.ndim == k.ndim == v.ndim == 4:
        raise OnnxFormatError(f"Q {q.shape}, K {k.shape} and V {v.shape} need 3 or 4 axes each")
    if (past_key is None) != (past_value is None):
        raise OnnxFormatError("past_key and past_value go together")
    past = 0
    if past_key is not None and past_value is not None:
        if past_key.ndim != 4:
            raise OnnxFormatError(f"past_key {past_key.shape} must have 4 axes")
        past = past_key.shape[2]
        k, v = f.concat([past_key, k], axis=2), f.concat([past_value, v], axis=2)
    length, keys = q.shape[2], k.shape[2]
    offset: int | Tensor = past
    if lengths is not None:
        if past_key is not None or lengths.shape != q.shape[:1]:
            raise OnnxFormatError(
                f"nonpad_kv_seqlen {lengths.shape} needs a length per batch of {q.shape}, "
                "and no past_key"
            )
        lengths = f.reshape(lengths, (-1, 1, 1, 1)).astype(dt.int32)
        offset = lengths - length
    seen = _seen(call, length, keys, offset)
    if lengths is not None:
        inside = f.arange(keys) < lengths
        seen = inside if seen is None else f.logical_and(inside, seen)
    # The choices for qk_matmul_output: the product, capped, biased, or as probabilities.
    scores = attention_scores(q, k, call.get("scale", float, None))
    cap = call.get("softcap", float, 0.0)
    capped = f.tanh(scores * (1 / cap)) * cap if cap > 0 else scores
    biased = _biased(capped, mask, seen)
    if biased.shape != scores.shape:
        given = None if mask is None else mask.shape
        raise OnnxFormatError(f"the mask {given} does not fit scores of shape {scores.shape}")
    precision = _precision(call)
    weights = masked_softmax(biased if precision is None else biased.astype(precision))
    weights = weights.astype(q.dtype)
    choices = (scores, capped, biased, weights)
    mode = call.get("qk_matmul_output_mode", int, 0)
    if not 0 <= mode < len(choices):
        raise OnnxFormatError(f"qk_matmul_output_mode must be 0 to 3, not {mode}")
    y = attended(weights.astype(v.dtype), v).astype(q.dtype)
    return [_joined(y) if flat else y, k, v, f.broadcast_to(choices[mode], weights.shape)]


@operator("FlexAttention", domain="ai.onnx.preview")
def flex_attention(call: Call, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """score_mod and prob_mod are graphs that modify the scores and the probabilities."""
    if not q.ndim == k.ndim == v.ndim == 4:
        raise OnnxFormatError(f"Q {q.shape}, K {k.shape} and V {v.shape} need 4 axes each")
    precision = _precision(call) or (dt.float64 if q.dtype == dt.float64 else dt.float32)
    scores = attention_scores(q, k, call.get("scale", float, None))
    scores = _modified(call, "score_mod", scores.astype(precision))
    weights = _modified(call, "prob_mod", masked_softmax(scores))
    return attended(weights.astype(q.dtype), v)


def _modified(call: Call, name: str, x: Tensor) -> Tensor:
    """Applies the graph in an attribute, if any, to x. The graph may read nothing else."""
    graph = call.get(name, GraphRecord, None)
    if graph is None:
        return x
    if len(graph.inputs) != 1 or len(graph.outputs) != 1:
        raise OnnxFormatError(f"{name} must have one input and one output")
    if graph.captures:
        raise OnnxUnsupportedError(f"{name} reads {graph.captures[0]!r} from outside")
    (made,) = call.built(graph, [x])
    if made.shape != x.shape or made.dtype != x.dtype:
        raise OnnxFormatError(f"{name} must keep shape and type, but turns {x} into {made}")
    return made


@operator("RotaryEmbedding", since=23)
def rotary_embedding(
    call: Call, x: Tensor, cos: Tensor, sin: Tensor, positions: Tensor | None = None
) -> Tensor:
    """Pairs of elements rotated by the angles of their positions (Su et al. 2021)."""
    flat = x.ndim == 3
    heads = call.get("num_heads", int, 0)
    split = _heads(x, heads, "X") if flat else x
    if split.ndim != 4:
        raise OnnxFormatError(f"X {x.shape} must have 3 or 4 axes")
    size = split.shape[3]
    rotated = call.get("rotary_embedding_dim", int, 0) or size
    if rotated % 2 or rotated > size:
        raise OnnxFormatError(f"{rotated} of {size} elements cannot be rotated in pairs")
    if positions is not None:
        cos, sin = f.take(cos, positions, axis=0), f.take(sin, positions, axis=0)
    expected = (split.shape[0], split.shape[2], rotated // 2)
    if cos.shape != expected or sin.shape != expected:
        raise OnnxFormatError(f"the caches are {cos.shape} and {sin.shape}, not {expected}")
    cos, sin = f.expand_dims(cos, 1), f.expand_dims(sin, 1)
    part, rest = split[..., :rotated], split[..., rotated:]
    if call.flag("interleaved"):
        a, b = part[..., 0::2], part[..., 1::2]
        made = f.stack([cos * a - sin * b, sin * a + cos * b], axis=-1)
    else:
        a, b = part[..., : rotated // 2], part[..., rotated // 2 :]
        made = f.concat([cos * a - sin * b, sin * a + cos * b], axis=-1)
    made = f.reshape(made, part.shape)
    result = f.concat([made, rest], axis=-1) if rotated < size else made
    return _joined(result) if flat else result


@operator("TensorScatter", since=24)
def tensor_scatter(
    call: Call, cache: Tensor, update: Tensor, starts: Tensor | None = None
) -> Tensor:
    """The cache (batch, ...) with an update written along an axis, from each batch's start on."""
    axis = check_axis(call.get("axis", int, -2), cache.ndim, "axis")
    mode = call.choice("mode", "linear", "circular")
    length, count = cache.shape[axis], update.shape[axis] if update.ndim == cache.ndim else 0
    expected = (*cache.shape[:axis], count, *cache.shape[axis + 1 :])
    if not axis or update.shape != expected or count > length:
        raise OnnxFormatError(
            f"an update {update.shape} does not fit a cache {cache.shape} along {axis}"
        )
    if not count:
        return cache
    if starts is None:
        return f.update_at(cache, 0, update)
    if starts.shape != cache.shape[:1]:
        raise OnnxFormatError(f"write_indices {starts.shape} do not fit a cache {cache.shape}")
    if mode == "circular":
        starts = f.remainder(starts, length)
        if count > 1:
            return _written_round(cache, axis, starts, update)
    else:
        starts = position(f.where(starts < 0, length, starts), length - count + 1)
    for n in range(cache.shape[0]):
        cache = f.update_at(cache, (n, *[0] * (axis - 1), starts[n]), update[n : n + 1])
    return cache


def _written_round(cache: Tensor, axis: int, starts: Tensor, update: Tensor) -> Tensor:
    """The cache with an update written along an axis, from each sample's start on; what passes the
    end continues at position 0.

    Two regions as long as the update hold all of it: one from the start on, or the last one that
    fits, and the one at position 0. The rest of both is written as it was.
    """
    length, count = cache.shape[axis], update.shape[axis]
    line = [1] * cache.ndim
    line[axis] = count
    for firsts in (f.minimum(starts, length - count), f.zeros_like(starts)):
        steps = f.remainder(f.expand_dims(firsts - starts, 1) + f.arange(count), length)
        written, steps = steps < count, f.minimum(steps, count - 1)
        for n in range(cache.shape[0]):
            where: list[int | Tensor] = [n, *[0] * (axis - 1), firsts[n]]
            moved = f.take(update[n : n + 1], steps[n], axis=axis)
            kept = f.slice_at(cache, where, (1, *cache.shape[1:axis], count))
            new = f.where(f.reshape(written[n], line), moved, kept)
            cache = f.update_at(cache, where, new)
    return cache


@operator("SwiGLU", since=28)
def swiglu(call: Call, gate: Tensor, x: Tensor) -> Tensor:
    """gate * sigmoid(alpha * gate) * x (Shazeer 2020, "GLU Variants Improve Transformer")."""
    if gate.shape != x.shape:
        raise OnnxFormatError(f"A {gate.shape} and B {x.shape} must have the same shape")
    return gate * nn.sigmoid(gate * call.get("alpha", float, 1.0)) * x
