"""Gathers: movement whose indices are read from an integer operand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..core.bounds import Range, first
from ..core.shape import Shape
from ..errors import DTypeError
from ..scalar import Scalar, select
from .kinds import Attrs, Coordinates, Elementwise, Movement, Pick, Read, Spec

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def _check_indices(name: str, operands: Sequence[Spec]) -> None:
    if not operands[1][1].is_integer:
        raise DTypeError(f"{name}: indices must be integers, not {operands[1][1].name}")


def _take_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    _check_indices("take", operands)
    (shape, dtype), (indices, _) = operands
    axis = attrs["axis"]
    return (*shape[:axis], *indices, *shape[axis + 1 :]), dtype


def _take_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    axis, rank = attrs["axis"], len(shapes[1])
    index = read(1, coords[axis : axis + rank], shapes[0][axis])
    return [Pick(0, (*coords[:axis], index, *coords[axis + rank :]))]


take = Movement(
    "take",
    lambda np, x, indices, axis: np.take(x, indices, axis=axis),
    _take_rule,
    _take_pick,
    bounds=first,
)
"""x[..., indices, ...] along `axis`; the axis is replaced by the axes of the indices."""


def _along_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    _check_indices("take_along_axis", operands)
    return operands[1][0], operands[0][1]


def _along_pick(
    shapes: Sequence[Shape], attrs: Attrs, coords: Coordinates, read: Read
) -> list[Pick]:
    axis = attrs["axis"]
    index = read(1, coords, shapes[0][axis])
    return [Pick(0, (*coords[:axis], index, *coords[axis + 1 :]))]


take_along_axis = Movement(
    "take_along_axis",
    lambda np, x, indices, axis: np.take_along_axis(x, indices, axis=axis),
    _along_rule,
    _along_pick,
    bounds=first,
)
"""Each index picks along `axis` at its own position in the other axes (ONNX GatherElements)."""


def _position(np: NumPy, index: Array, length: Array, axis: int | None = None) -> Array:
    counted = np.where(index < 0, index + length, index)
    inside = np.logical_and(counted >= 0, counted < length)
    if not (inside if isinstance(inside, bool) else inside.all()):
        wrong = index if isinstance(index, int) else index[~inside].flat[0]
        count = length if isinstance(length, int) else length.flat[0]
        where = "an axis" if axis is None else f"axis {axis}"
        raise IndexError(f"index {wrong} is out of bounds for {where} of {count} elements")
    return counted


def _position_or_length(index: Scalar, length: Scalar, axis: int | None = None) -> Scalar:
    counted = select(index < 0, index + length, index).named("counted")
    return select((counted >= 0) & (counted < length), counted, length)


position = Elementwise(
    "position",
    _position,
    _position_or_length,
    2,
    accepts="iu",
    bounds=lambda operands, attrs, index, length: (0, length[1]),
)
"""Indices (first operand), counted from the front, along an axis of a length (second operand).
`axis`, if it is given, is its number in errors. NumPy refuses one that is out of range; a GPU,
which can't, gives it the length."""


def refusal(items: Iterable[int], count: int, ignored: int | None, what: str) -> str:
    """What is wrong with the first of some indices that is neither in 0 to count - 1 nor `ignored`;
    "" if none is."""
    for item in items:
        if not 0 <= item < count and item != ignored:
            allowed = f"0 to {count - 1}" if count else "an empty range"
            return f"{what} {item} is not in {allowed}" + (
                "" if ignored is None else f", nor is it the ignored one, {ignored}"
            )
    return ""


def _checked(np: NumPy, index: Array, count: int, ignored: int | None, what: str) -> Array:
    fine = (index >= 0) & (index < count)
    fine = fine if ignored is None else fine | (index == ignored)
    if not (fine if isinstance(index, int) else fine.all()):
        wrong = [index] if isinstance(index, int) else index[~fine].ravel()[:1].tolist()
        raise IndexError(refusal(wrong, count, ignored, what))
    return index


def _checked_bounds(operands: Sequence[Spec], attrs: Attrs, index: Range) -> Range:
    ends = (0, max(attrs["count"] - 1, 0), attrs["ignored"] or 0)
    return min(ends), max(ends)


checked = Elementwise(
    "checked",
    _checked,
    lambda index, **attrs: index,
    accepts="iu",
    bounds=_checked_bounds,
)
"""Indices as they are, each from 0 to `count` - 1, or `ignored` if that is not None.
NumPy refuses others with an error that begins with `what`. For a GPU, the host checks those that
are fed (compile/indices.py)."""
