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
from ..errors import ShapeError
from ..tensor import Tensor
from .activations import softmax_gradient
from .layers import dropout

Product = Callable[[Tensor, Tensor], Tensor]

_FEW = 8
"""Rows of queries for each key head, up to which an attention to some of the keys multiplies and
adds up element by element, and so no more than it needs."""


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
    return f.reshape(result, (*result.shape[:-3], *x.shape[-3:-1], other.shape[-1]))


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
) -> Tensor:
    """softmax(query @ key.T * scale) @ value over (..., length, size), as in PyTorch.

    With a length, keys and values may be a cache that is not full. For a few queries, as when a
    text is written on, WebGPU and WebAssembly then read as much of the cache as the length says.

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
    Returns: (..., heads, length, value size).
    Raises: OptionError for a dropout_p that is no probability, ShapeError for shapes that do not
      fit.
    Source: Vaswani et al. 2017; Ainslie et al. 2023, "GQA", for fewer key heads.
    """
    heads = {x.shape[-3] for x in (query, key, value) if x.ndim > 2} - {1}
    if not enable_gqa and len(heads) > 1:
        raise ShapeError(
            f"attention: query {query.shape}, key {key.shape} and value {value.shape} differ in "
            "their number of heads; enable_gqa=True allows that"
        )
    queries, keys = (math.prod(x.shape[-3:-2]) for x in (query, key))
    few = length is not None and query.shape[-2] * queries <= _FEW * keys
    if few:
        from .few_queries import products
    scores = attention_scores(query, key, scale, products(None) if few else f.matmul)
    if attn_mask is not None:
        boolean = attn_mask.dtype.kind == "b"
        scores = f.where(attn_mask, scores, -math.inf) if boolean else scores + attn_mask
    if is_causal:
        steps, count = scores.shape[-2:]
        seen = f.arange(count) <= f.reshape(f.arange(steps), (-1, 1))
        scores = f.where(seen, scores, -math.inf)
    if length is None:
        return attended(dropout(masked_softmax(scores), dropout_p), value)
    weights = dropout(masked_softmax(f.fill_from(scores, length, -math.inf)), dropout_p)
    return _by_groups(weights, value, products(length) if few else f.matmul)
