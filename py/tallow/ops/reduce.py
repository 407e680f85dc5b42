"""Reductions: fold axes to length 1. Means, norms and any/all are composed in functions/."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from .. import scalar
from ..core import bounds
from .kinds import Reduce

if TYPE_CHECKING:
    from ..arrays import Array, Function, NumPy

sum_ = Reduce(
    "sum",
    lambda np, x, axes: np.sum(x, axis=axes, keepdims=True, dtype=x.dtype),
    operator.add,
    0,
    bounds=bounds.total,
    overflows=True,
    autocast="float32",
)
prod = Reduce(
    "prod",
    lambda np, x, axes: np.prod(x, axis=axes, keepdims=True, dtype=x.dtype),
    operator.mul,
    1,
    bounds=bounds.product,
    overflows=True,
    autocast="float32",
)
max_ = Reduce(
    "max",
    lambda np, x, axes: np.max(x, axis=axes, keepdims=True),
    scalar.maximum,
    "lowest",
    bounds=bounds.first,
)
min_ = Reduce(
    "min",
    lambda np, x, axes: np.min(x, axis=axes, keepdims=True),
    scalar.minimum,
    "highest",
    bounds=bounds.first,
)


def _arg(name: str) -> Function:
    def evaluate(np: NumPy, x: Array, axes: tuple[int, ...]) -> Array:
        found: Array = getattr(np, name)(x, axis=axes[0], keepdims=True)
        return found.astype(np.int32)

    return evaluate


argmax = Reduce(
    "argmax",
    _arg("argmax"),
    lambda best, item: item > best,
    "lowest",
    indexed=True,
    bounds=bounds.position,
)
"""The index of the first largest element along the one axis of `axes`, as int32."""

argmin = Reduce(
    "argmin",
    _arg("argmin"),
    lambda best, item: item < best,
    "highest",
    indexed=True,
    bounds=bounds.position,
)
"""The index of the first smallest element along the one axis of `axes`, as int32."""
