"""Sorting, and writing at places."""

from __future__ import annotations

from .. import dtype as dt
from ..errors import OptionError, ShapeError
from ..graph import make
from ..ops import arrange
from ..shape import check_axis, size_of
from ..tensor import Tensor
from .indexing import position, take_along_axis
from .manipulation import moveaxis

_REDUCTIONS = ("none", "add", "mul", "max", "min")


def argsort(
    x: Tensor, axis: int = -1, descending: bool = False, count: int | None = None
) -> Tensor:
    """The places, as int32, of the elements along an axis in their order; equal ones keep theirs.

    count: only so many of them, the first in that order. Raises ShapeError if there are fewer.
    """
    place = check_axis(axis, x.ndim, "argsort")
    length = x.shape[place] if count is None else count
    last = moveaxis(x, place, -1)
    node = make(arrange.argsort, last.node, descending=descending, count=length)
    return moveaxis(Tensor(node), -1, place)


def sort(x: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """The elements along an axis in their order."""
    return take_along_axis(x, argsort(x, axis, descending), axis)


def scatter(x: Tensor, places: Tensor, updates: Tensor, reduction: str = "none") -> Tensor:
    """x with rows of `updates` at integer `places` of its first axis; negative ones count back.

    x (n, ...), places (j,), updates (j, ...). reduction: "none" (the last update of a place
    stands), or what joins the updates with what is there: "add", "mul", "max", "min". Raises
    ShapeError for shapes that do not fit, DTypeError for types, OptionError for the reduction.
    NumPy refuses a place that is out of range; a GPU leaves its update out.
    """
    if not x.ndim or places.ndim != 1 or updates.shape != (*places.shape, *x.shape[1:]):
        raise ShapeError(
            f"scatter: {updates.shape} at {places.shape} places does not fit into {x.shape}"
        )
    count, length = x.shape[0], size_of(x.shape[1:])
    flat = scatter_rows(
        x.reshape((1, count, length)),
        places.reshape((1, places.size)),
        updates.reshape((1, places.size, length)),
        reduction,
    )
    return flat.reshape(x.shape)


def scatter_rows(x: Tensor, places: Tensor, updates: Tensor, reduction: str) -> Tensor:
    """`scatter` in each of a batch: x (b, n, s), places (b, j), updates (b, j, s)."""
    if reduction not in _REDUCTIONS:
        raise OptionError(f"scatter: {reduction!r} is none of {', '.join(_REDUCTIONS)}")
    places = position(places, x.shape[1]).astype(dt.int32)
    return Tensor(make(arrange.scatter, x.node, places.node, updates.node, reduction=reduction))
