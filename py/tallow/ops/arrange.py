"""Sorting and scattering: a function each in NumPy, compositions on a GPU
(compile/passes/compose.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core import dtype as dt
from ..core.bounds import Range, product, total
from ..errors import DTypeError, ShapeError
from .kinds import Attrs, Composite, Spec

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def _argsort_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    ((shape, _),) = operands
    count = attrs["count"]
    if not shape or not 0 <= count <= shape[-1]:
        raise ShapeError(f"argsort: the first {count} indices of the last axis of {shape}")
    return (*shape[:-1], count), dt.int32


def _argsort(np: NumPy, x: Array, descending: bool, count: int) -> Array:
    if descending:  # turned round before and after, so that equal elements keep their order
        turned = np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
        indices = x.shape[-1] - 1 - turned
    else:
        indices = np.argsort(x, axis=-1, kind="stable")
    return indices[..., :count].astype(np.int32)


argsort = Composite(
    "argsort",
    _argsort,
    _argsort_rule,
    bounds=lambda operands, attrs, x: (0, max(operands[0][0][-1] - 1, 0)),
)
"""Where the `count` smallest (`descending`: largest) elements of the last axis are, in order; of
equal ones the first comes first."""


def _scatter_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (data, dtype), (indices, kind), (updates, other) = operands
    if not kind.is_integer or dtype != other:
        raise DTypeError(f"scatter: {other.name} at {kind.name} indices into {dtype.name}")
    fits = len(data) == len(updates) == 3 and len(indices) == 2 and updates[:2] == indices
    if not fits or data[0] != indices[0] or data[2] != updates[2]:
        raise ShapeError(f"scatter: {updates} at {indices} does not fit into {data}")
    return data, dtype


def _scatter(np: NumPy, data: Array, indices: Array, updates: Array, reduction: str) -> Array:
    result = np.array(data, order="C")
    batch, rows, length = data.shape
    if reduction == "none":
        result[np.arange(batch)[:, None], indices] = updates
    elif updates.size and result.size:
        if indices.min() < 0 or indices.max() >= rows:
            raise IndexError(f"an index is out of bounds for {rows} rows")
        # One index for each element: of these alone NumPy has a fast way.
        row = np.arange(batch)[:, None] * rows + indices
        at = (row[:, :, None] * length + np.arange(length)).reshape(-1)
        names = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}
        getattr(np, names[reduction]).at(result.reshape(-1), at, updates.reshape(-1))
    return result


def _scatter_bounds(
    operands: Sequence[Spec], attrs: Attrs, data: Range, at: Range, new: Range
) -> Range | None:
    """All updates may go to one element."""
    updates = [operands[2]]
    if attrs["reduction"] == "add":
        added = total(updates, {"axes": (1,)}, (min(new[0], 0), max(new[1], 0)))
        return added and (data[0] + added[0], data[1] + added[1])
    if attrs["reduction"] == "mul":
        factor = product(updates, {"axes": (1,)}, (min(new[0], 1), max(new[1], 1)))
        ends = [x * y for x in data for y in factor or ()]
        return (min(ends), max(ends)) if ends else None
    return min(data[0], new[0]), max(data[1], new[1])


scatter = Composite("scatter", _scatter, _scatter_rule, bounds=_scatter_bounds)
"""data (b, n, s) with the rows of updates (b, j, s) written at the indices (b, j), which count
from the front. reduction: "none" (the last update of an index wins), "add", "mul", "max", "min".

if TYPE_CHECKING:
    from ..arrays import Array, NumPy

"""
