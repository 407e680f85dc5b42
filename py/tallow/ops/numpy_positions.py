"""How NumPy computes the ops of positions.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.shape import Shape
from .kinds import Attrs

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def clamped(start: Any, dim: int, size: int) -> int:
    """A start as NumPy has it, as a Python integer from 0 to dim - size."""
    number = int(start)
    return min(max(number + dim if number < 0 else number, 0), dim - size)


def sliced(np: NumPy, x: Array, *starts: Array, axes: Shape, shape: Shape) -> Array:
    """`slice_at`: a view of the region, whose starts along `axes` are arrays without axes."""
    index = [slice(None)] * len(shape)
    for axis, start in zip(axes, starts, strict=True):
        low = clamped(start, x.shape[axis], shape[axis])
        index[axis] = slice(low, low + shape[axis])
    return x[tuple(index)]


def region_of(x: Shape, new: Shape, attrs: Attrs, starts: Sequence[Any]) -> tuple[slice, ...]:
    """Where `update_at` writes, for starts as numbers."""
    found = list(attrs["starts"])
    for axis, start in zip(attrs["axes"], starts, strict=True):
        found[axis] = clamped(start, x[axis], new[axis])
    return tuple(slice(low, low + size) for low, size in zip(found, new, strict=True))


def filled(np: NumPy, x: Array, start: Array, axis: int, value: float) -> Array:
    """`fill_from`: a copy of x with a value from the start on along the axis."""
    result = np.array(x, order="C")
    result[(*[slice(None)] * axis, slice(clamped(start, x.shape[axis], 0), None))] = value
    return result


def write(x: Array, new: Array, starts: Sequence[Array], attrs: Attrs) -> None:
    """Writes the region into x itself."""
    x[region_of(x.shape, new.shape, attrs, starts)] = new


def updated(
    np: NumPy, x: Array, new: Array, *positions: Array, axes: Shape, starts: Shape
) -> Array:
    """`update_at`: a copy of x with the region written."""
    result = np.array(x, order="C")
    write(result, new, positions, {"axes": axes, "starts": starts})
    return result
