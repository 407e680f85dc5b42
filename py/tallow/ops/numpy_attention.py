"""Attention (attention.py) on NumPy: some queries at a time, and the keys that any of them sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .numpy_kernels import matmul

if TYPE_CHECKING:
    from ..arrays import Array, NumPy

_SCORES = 1 << 18
"""Scores that there are at once: a megabyte, which stays in a cache."""


def attend(
    np: NumPy,
    query: Array,
    key: Array,
    value: Array,
    reach: Array,
    scale: float,
    causal: bool,
    window: int,
) -> Array:
    """The op of the same arguments."""
    batch, heads, rows, size = query.shape
    shared, keys, width = value.shape[1:]
    result = np.zeros((batch, heads, rows, width), np.float32)
    most = max(_SCORES // max(heads * keys, 1), 1)
    for n in range(batch):
        for first in range(0, rows, most):
            last = min(first + most, rows)
            ends = int(reach[n]) + np.arange(first, last) * causal
            begin = max(int(ends[0]) - window, 0) if window else 0
            end = min(max(int(ends[-1]), 0), keys)
            if end <= begin:
                continue
            of_group = (shared, heads // shared * (last - first), size)
            queries = query[n, :, first:last].reshape(of_group)
            scores = matmul(np, queries, key[n, :, begin:end].swapaxes(1, 2))
            scores = scores.reshape(heads, last - first, end - begin)
            scores *= np.float32(scale)
            if int(ends[0]) < end or (window and int(ends[-1]) - window > begin):
                places, ends = np.arange(begin, end), ends.reshape(-1, 1)
                hidden = places >= ends
                if window:
                    hidden = hidden | (places < ends - window)
                np.copyto(scores, np.float32(-np.inf), where=hidden)
            peak = scores.max(axis=-1, keepdims=True)
            scores -= np.where(np.isinf(peak), np.float32(0), peak)
            weights = np.exp(scores, out=scores)
            total = weights.sum(axis=-1, keepdims=True)
            weights = weights.reshape(*of_group[:2], end - begin)
            found = matmul(np, weights, value[n, :, begin:end])
            found = found.reshape(heads, last - first, width)
            result[n, :, first:last] = found / np.where(total == 0, np.float32(1), total)
    return result
