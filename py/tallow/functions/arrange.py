"""Sorting and scattering."""

from __future__ import annotations

from typing import NamedTuple, overload

from .. import dtype as dt
from ..errors import OptionError, ShapeError
from ..graph import make
from ..ops import arrange
from ..shape import check_axis, size_of
from ..tensor import Tensor
from .indexing import position, take_along_axis
from .manipulation import moveaxis

_REDUCTIONS = ("none", "add", "mul", "max", "min")


class Ordered(NamedTuple):
    """Elements in order along an axis, and the places that they had."""

    values: Tensor
    indices: Tensor


def argsort(
    x: Tensor,
    axis: int = -1,
    descending: bool = False,
    count: int | None = None,
    *,
    dim: int | None = None,
    stable: bool = True,
) -> Tensor:
    """The int32 indices that sort the elements along an axis, which PyTorch names dim; equal
    elements always keep their order.

    count: return only the first `count` indices. Raises ShapeError if there are fewer.
    """
    axis = check_axis(axis if dim is None else dim, x.ndim, "argsort")
    length = x.shape[axis] if count is None else count
    last = moveaxis(x, axis, -1)
    node = make(arrange.argsort, last.node, descending=descending, count=length)
    return moveaxis(Tensor(node), -1, axis)


@overload
def sort(
    x: Tensor, axis: int = ..., descending: bool = ..., *, dim: None = ..., stable: bool = ...
) -> Tensor: ...


@overload
def sort(
    x: Tensor, axis: int = ..., descending: bool = ..., *, dim: int, stable: bool = ...
) -> Ordered: ...


def sort(
    x: Tensor,
    axis: int = -1,
    descending: bool = False,
    *,
    dim: int | None = None,
    stable: bool = True,
) -> Tensor | Ordered:
    """The elements sorted along an axis, as in the array API; with dim, PyTorch's name, (values,
    indices). Equal ones always keep their order."""
    along = axis if dim is None else dim
    places = argsort(x, along, descending)
    values = take_along_axis(x, places, along)
    return values if dim is None else Ordered(values, places)


def scatter(x: Tensor, places: Tensor, updates: Tensor, reduction: str = "none") -> Tensor:
    """x with rows of `updates` written at the indices `places` of its first axis.

    x (n, ...), places (j,), updates (j, ...); negative indices count from the end. reduction:
    "none" (the last update of an index wins), or how updates combine with the existing elements:
    "add", "mul", "max", "min". Raises ShapeError for shapes that do not fit, DTypeError for types,
    OptionError for the reduction. NumPy rejects an index that is out of range; a GPU skips its
    update.
    """
    if not x.ndim or places.ndim != 1 or updates.shape != (*places.shape, *x.shape[1:]):
        raise ShapeError(
            f"scatter: updates {updates.shape} at indices {places.shape} do not fit into {x.shape}"
        )
    count, length = x.shape[0], size_of(x.shape[1:])
    flat = scatter_rows(
        x.reshape((1, count, length)),
        places.reshape((1, places.size)),
        updates.reshape((1, places.size, length)),
        reduction,
    )
    return flat.reshape(x.shape)


def scatter_rows(x: Tensor, indices: Tensor, updates: Tensor, reduction: str) -> Tensor:
    """`scatter` for each element of a batch: x (b, n, s), indices (b, j), updates (b, j, s)."""
    if reduction not in _REDUCTIONS:
        raise OptionError(f"scatter: {reduction!r} is not one of {', '.join(_REDUCTIONS)}")
    indices = position(indices, x.shape[1]).astype(dt.int32)
    return Tensor(make(arrange.scatter, x.node, indices.node, updates.node, reduction=reduction))
