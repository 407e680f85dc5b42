"""Regions at a position: movement whose starts are read.

Behind the other operands there is an integer without axes for each of `axes`. One that is negative
counts from the end, and one that is out of range is clamped, so that the region lies inside. Along
these axes the region is shorter than what it is in: elsewhere there is nothing to read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..core.bounds import Range, first
from ..core.dtype import DType
from ..core.shape import Shape
from ..errors import DTypeError
from .kinds import Attrs, Coordinates, Movement, Op, Pick, Read, Reduce, Spec


def _numpy(name: str) -> Callable[..., Any]:
    """An evaluator, imported when it is first called: a GPU needs none."""

    def evaluate(*operands: Any, **attrs: Any) -> Any:
        from . import numpy_positions

        return getattr(numpy_positions, name)(*operands, **attrs)

    return evaluate


def _check_starts(name: str, starts: Sequence[Spec]) -> None:
    for _, dtype in starts:
        if not dtype.is_integer:
            raise DTypeError(f"{name}: a start must be an integer, not {dtype.name}")


def _slice_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    _check_starts("slice_at", operands[1:])
    return attrs["shape"], operands[0][1]


def _slice_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    moved = list(coords)
    for number, axis in enumerate(attrs["axes"], 1):
        start = read(number, (), shapes[0][axis], attrs["shape"][axis])
        moved[axis] = moved[axis] + start
    return [Pick(0, tuple(moved))]


slice_at = Movement("slice_at", _numpy("sliced"), _slice_rule, _slice_pick, bounds=first)
"""The region of the given `shape` that begins at the starts along `axes`; along others it is as
long as x."""


def starts_of(shapes: Sequence[Shape], attrs: Attrs, read: Read) -> list[Any]:
    """Where `update_at` begins to write along each axis, as coordinates."""
    found: list[Any] = list(attrs["starts"])
    for number, axis in enumerate(attrs["axes"], 2):
        found[axis] = read(number, (), shapes[0][axis], shapes[1][axis])
    return found


def _fill_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    _check_starts("fill_from", operands[1:])
    return operands[0]


def _fill_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    axis = attrs["axis"]
    dim = shapes[0][axis]
    left = read(1, (), dim, 0) - 1 - coords[axis]  # how many elements follow before the value
    return [Pick(0, tuple(coords), ((left, 0, dim),))]


def _fill_bounds(operands: Sequence[Spec], attrs: Attrs, x: Range, start: Range) -> Range:
    return min(x[0], attrs["value"]), max(x[1], attrs["value"])


fill_from = Movement("fill_from", _numpy("filled"), _fill_rule, _fill_pick, bounds=_fill_bounds)
"""x, but `value` from a position on along `axis`. A kernel computes no element that is not x's, and
ends a reduction there that the value does not change: see `end_of`."""


def end_of(op: Op, axes: Shape, child: Op, attrs: Attrs, dtype: DType) -> int | None:
    """The axis along which a reduction over `axes` of a child, which is of a type, ends at a
    position, because what is behind it is filled with what changes nothing; None if there is
    none."""
    if child is not fill_from or not isinstance(op, Reduce) or op.indexed:
        return None
    if attrs["axis"] not in axes:
        return None
    neutral: float
    if isinstance(op.start, int):
        neutral = op.start
    elif dtype.is_floating:
        neutral = -math.inf if op.start == "lowest" else math.inf
    else:
        return None
    return attrs["axis"] if attrs["value"] == neutral else None


def _update_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (shape, dtype), (_, other), *starts = operands
    _check_starts("update_at", starts)
    if other != dtype:
        raise DTypeError(f"update_at: {other.name} into {dtype.name}")
    return shape, dtype


def _update_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    x, new, *_ = shapes
    moved, when = list[Any](coords), []
    for axis, start in enumerate(starts_of(shapes, attrs, read)):
        if new[axis] == x[axis]:
            continue
        if isinstance(start, int):  # a start that is known
            when.append((coords[axis], start, start + new[axis]))
            moved[axis] = coords[axis] - start
        else:
            moved[axis] = coords[axis] - start
            when.append((moved[axis], 0, new[axis]))
    return [Pick(1, tuple(moved), tuple(when)), Pick(0, tuple(coords))]


def _update_bounds(
    operands: Sequence[Spec], attrs: Attrs, x: Range, new: Range, *starts: Range
) -> Range:
    return min(x[0], new[0]), max(x[1], new[1])


update_at = Movement(
    "update_at", _numpy("updated"), _update_rule, _update_pick, bounds=_update_bounds
)
"""x with the elements of `new` in the region that begins at `starts`, numbers of which those along
`axes` are read instead. Where x is needed no later, its memory is the result's, and the region
alone is written: see compile/memory.py."""
