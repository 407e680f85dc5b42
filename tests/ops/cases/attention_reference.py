"""Attention as NumPy computes it with all scores, and the op."""

from __future__ import annotations

from typing import Any

import numpy as np

import tallow as tl
from tallow.graph import make
from tallow.ops.attention import attention
from tallow.tensor import Tensor


def attended(query: Any, key: Any, value: Any, reach: Any, **attrs: Any) -> Tensor:
    """The op."""
    operands = [tl.asarray(each).node for each in (query, key, value, reach)]
    return Tensor(make(attention, *operands, **attrs))


def attention_reference(
    query: Any, key: Any, value: Any, reach: Any, scale: float, causal: bool, window: int
) -> np.ndarray:
    """In double precision, head by head."""
    batch, heads, rows, _ = query.shape
    group = heads // key.shape[1]
    found = np.zeros((*query.shape[:3], value.shape[3]))
    for n in range(batch):
        for head in range(heads):
            for row in range(rows):
                end = int(reach[n]) + row * causal
                begin = max(end - window, 0) if window else 0
                keys, values = (
                    each[n, head // group, begin : max(end, 0)].astype(np.float64)
                    for each in (key, value)
                )
                if not len(keys):
                    continue
                scores = keys @ query[n, head, row].astype(np.float64) * scale
                weights = np.exp(scores - scores.max())
                found[n, head, row] = weights @ values / weights.sum()
    return found
