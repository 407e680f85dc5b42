"""Scaled dot-product attention and its parts (Vaswani et al. 2017).

Queries are (..., heads, length, size), keys and values (..., key heads, key length, size). With
fewer key heads than heads, each serves a group of neighbouring heads (Ainslie et al. 2023,
"GQA"): the group's queries are then the rows of one product.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .. import functions as f
from ..autodiff import with_gradient
from ..casting import in_float32
from ..core.context import autocast
from ..core.dtype import float32, int32
from ..errors import DTypeError, OptionError, ShapeError
from ..graph import make
from ..ops.attention import attention
from ..tensor import Tensor, asarray
from .activations import softmax_gradient
from .layers import dropout

Product = Callable[[Tensor, Tensor], Tensor]

_FEW = 8
"""Rows of queries for each key head, up to which an attention to some of the keys multiplies and
adds up element by element, and so no more than it needs."""

_MANY = 1 << 12
"""Scores of a head from which on they are not kept: the op `attention` computes some at a time."""


def _by_groups(x: Tensor, other: Tensor, product: Product = f.matmul) -> Tensor:
    """x @ other, where x (..., heads, rows, n) may have more heads than other. product: computes
    it, once there are as many."""
    if min(x.ndim, other.ndim) < 3 or x.shape[-3] <= other.shape[-3]:
        return product(x, other)
    heads, shared = x.shape[-3], other.shape[-3]
    if not shared or heads % shared:
        raise ShapeError(f"attention: {heads} heads are not a multiple of {shared} key heads")
    rows = f.reshape(x, (*x.shape[:-3], shared, heads // shared * x.shape[-2], x.shape[-1]))
    result = product(rows, other)
    return f.reshape(result, (*result.shape[:-3], *x.shape[-3:-1], result.shape[-1]))


def attention_scores(
    query: Tensor, key: Tensor, scale: float | None = None, product: Product = f.matmul
) -> Tensor:
    """query @ key.T * scale.

    query: (..., heads, length, size).
    key: (..., key heads, key length, size).
    scale: the factor; None is 1 / sqrt(size).
    product: of the rows of two matrices with as many heads.
    Returns: (..., heads, length, key length).
    Raises: ShapeError if the heads are not a multiple of the key's.
    """
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale
    if query.dtype.size < 4 and factor > 0:  # scaling only one side could overflow
        return _by_groups(query * math.sqrt(factor), key.mT * math.sqrt(factor), product)
    return _by_groups(query, key.mT, product) * factor


@in_float32
def masked_softmax(scores: Tensor) -> Tensor:
    """The softmax over the last axis; a row of -infinity gives zeros, not NaN."""
    if not scores.size:
        return scores
    peak = f.max(scores, axis=-1, keepdims=True)
    weights = f.exp(scores - f.where(f.isinf(peak), 0.0, peak))
    total = f.sum(weights, axis=-1, keepdims=True)
    y = weights / f.where(f.equal(total, 0), 1.0, total)
    return with_gradient(y, [scores], lambda gradient, y: [softmax_gradient(gradient, y, -1)])


def attended(weights: Tensor, value: Tensor) -> Tensor:
    """weights @ value: (..., heads, length, size)."""
    return _by_groups(weights, value)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    length: int | Tensor | None = None,
    first: int | Tensor | None = None,
    window: int | None = None,
    key_scale: Tensor | None = None,
    value_scale: Tensor | None = None,
) -> Tensor:
    """softmax(query @ key.T * scale) @ value over (..., length, size), as in PyTorch.

    Without a mask, dropout and gradients, the scores of many queries are not kept: memory grows
    with the number of keys, not with its square.

    With a length, keys and values may be a cache that is not full. For a few queries, as when a
    text is written on, WebGPU and WebAssembly then read as much of the cache as the length says,
    and keys and values of a narrower type than the queries' as they are stored.

    query: (..., heads, length, size); the heads may be missing.
    key: (..., heads, key length, size).
    value: (..., heads, key length, value size).
    attn_mask: broadcasts to (..., heads, length, key length). Booleans are True where a query may
      attend to a key; floating numbers are added to the scores. A query that attends to no key
      gives zeros.
    dropout_p: the probability with which a query leaves out a key, always, in training or not.
    is_causal: the i-th query attends to the first i + 1 keys only.
    scale: the factor of the scores; None is 1 / sqrt(size).
    enable_gqa: allows fewer key heads than query heads; each then serves a group of query heads.
    length: how many keys and values there are, from the first on: an integer, or a tensor of one
      without axes. None is all.
    first: with is_causal, the place of the first query's own key, as in a cache: the i-th query
      attends to the first `first + i + 1` keys. An integer, or a tensor of one, without axes or for
      each of a batch, (batch,), where query is (batch, heads, length, size). None is 0.
    window: with is_causal, to how many keys a query attends at most, the last ones; None is all.
    key_scale: (..., heads, key length, 1), floating: a factor for each key, so that keys may be
      int8, or int32 words of four int8 elements, the first one in the lowest bits. None is 1.
    value_scale: the same for values.
    Returns: (..., heads, length, value size).
    Raises: OptionError for a dropout_p that is no probability, and for a first, or a window of 1 or
      more, without is_causal; ShapeError for shapes that do not fit; DTypeError for int32 without
      scales.
    Source: Vaswani et al. 2017; Ainslie et al. 2023, "GQA", for fewer key heads; Dao et al. 2022,
      "FlashAttention", for scores that are not kept.
    """
    heads = {x.shape[-3] for x in (query, key, value) if x.ndim > 2} - {1}
    if not enable_gqa and len(heads) > 1:
        raise ShapeError(
            f"attention: query {query.shape}, key {key.shape} and value {value.shape} differ in "
            "their number of heads; enable_gqa=True allows that"
        )
    if (first is not None or window is not None) and not is_causal:
        raise OptionError("attention: first and window are of is_causal=True")
    if window is not None and window < 1:
        raise OptionError(f"attention: a window of 1 or more, not {window}")
    for x, factors in ((key, key_scale), (value, value_scale)):
        if factors is not None and factors.shape != (*x.shape[:-1], 1):
            raise ShapeError(
                f"attention: scales {factors.shape} do not fit {x.shape}; expected one for each "
                f"row, {(*x.shape[:-1], 1)}"
            )
        if factors is None and x.dtype == int32:
            raise DTypeError(
                "attention: keys and values of int32 are packed words, which need key_scale and "
                "value_scale"
            )
    bounded = length is not None
    starts = None if first is None else f.reshape(asarray(first).astype(int32), (-1,))
    if starts is not None and length is None:
        length = f.max(starts) + query.shape[-2]
    queries, keys = (math.prod(x.shape[-3:-2]) for x in (query, key))
    few = length is not None and query.shape[-2] * queries <= _FEW * keys
    if not few:
        key, value = _wide(key, key_scale, query), _wide(value, value_scale, query)
        key_scale = value_scale = None
    plain = attn_mask is None and not dropout_p and not few and not (is_causal and bounded)
    if plain and _may_be_fused(query, key, value):
        ends = key.shape[-2] if length is None else length
        own = 0 if starts is None else starts
        return _fused(query, key, value, own + 1 if is_causal else ends, scale, is_causal, window)
    if few:
        from .few_queries import products
    scores = attention_scores(query, key, scale, products(None) if few else f.matmul)
    if key_scale is not None:
        scores = scores * _by_key(key_scale, scores)
    if attn_mask is not None:
        boolean = attn_mask.dtype.kind == "b"
        scores = f.where(attn_mask, scores, -math.inf) if boolean else scores + attn_mask
    alone = query.shape[-2] == 1 and starts is not None and starts.size == 1
    if is_causal and not (alone and window is None):  # of one query, the length is enough
        scores = f.where(_seen(scores, starts, window), scores, -math.inf)
    if length is None:
        return attended(dropout(masked_softmax(scores), dropout_p), value)
    weights = dropout(masked_softmax(f.fill_from(scores, length, -math.inf)), dropout_p)
    if value_scale is not None:
        weights = weights * _by_key(value_scale, weights)
    return _by_groups(weights, value, products(length) if few else f.matmul)


def _wide(x: Tensor, factors: Tensor | None, query: Tensor) -> Tensor:
    """Keys or values times their scales, widened to the queries' type."""
    if x.dtype == int32 and factors is not None:
        from .words import unpacked

        x = unpacked(x).astype(query.dtype)
    elif x.dtype.size < query.dtype.size:
        x = x.astype(query.dtype)
    return x if factors is None else x * factors


def _by_key(factors: Tensor, scores: Tensor) -> Tensor:
    """(..., key heads, keys, 1) as (..., heads, 1, keys)."""
    if factors.ndim < 3:
        return factors.mT
    return f.repeat(factors.mT, scores.shape[-3] // factors.shape[-3], axis=-3)


def _seen(scores: Tensor, starts: Tensor | None, window: int | None) -> Tensor:
    """Which keys queries attend to, causally; broadcasts to the scores. starts: the place of the
    first query's own key, (1,) or (batch,)."""
    steps, count = scores.shape[-2:]
    own = f.reshape(f.arange(steps, dtype="int32"), (-1, 1))
    if starts is not None:
        own = own + (f.reshape(starts, (-1, 1, 1, 1)) if starts.size > 1 else starts)
    places = f.arange(count, dtype="int32")
    seen = f.less_equal(places, own)
    return seen if window is None else f.logical_and(seen, f.greater(places, own - window))


# Why: docs/decisions/generation.md, "Attention of many queries keeps no scores"
def _may_be_fused(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether the op `attention` computes it: many scores of float32, and no gradients, which need
    the weights again."""
    several = query, key, value
    if not query.ndim == key.ndim == value.ndim >= 3 or autocast.get():
        return False
    if any(x.dtype != float32 or x.requires_grad or x.shape[-1] % 4 for x in several):
        return False
    fits = query.shape[:-3] == key.shape[:-3] and key.shape[:-1] == value.shape[:-1]
    fits = fits and query.shape[-1] == key.shape[-1] and all(x.size for x in several)
    groups = fits and not query.shape[-3] % key.shape[-3]
    return groups and query.shape[-2] * key.shape[-2] >= _MANY


def _fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    reach: int | Tensor,
    scale: float | None,
    causal: bool,
    window: int | None,
) -> Tensor:
    """The op. reach: of the first query, (), (1,) or (batch,)."""
    batch = math.prod(query.shape[:-3])
    q, k, v = (f.reshape(x, (batch, *x.shape[-3:])).node for x in (query, key, value))
    ends = f.broadcast_to(f.reshape(asarray(reach).astype(int32), (-1,)), (batch,))
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    node = make(attention, q, k, v, ends.node, scale=factor, causal=causal, window=window or 0)
    return f.reshape(Tensor(node), (*query.shape[:-1], value.shape[-1]))
