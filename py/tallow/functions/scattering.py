"""Functions that write at indices, and those that take elements at them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core import dtype as dt
from ..core.shape import check_axis
from ..errors import DTypeError, OptionError, ShapeError
from ..tensor import Scalar, Tensor, asarray
from . import elementwise, manipulation
from .arrange import scatter_rows
from .creation import arange, full, ones, zeros, zeros_like
from .indexing import checked_indices, take_along_axis
from .manipulation import broadcast_to, reshape
from .selection import scatter_along, with_items
from .shapes import diagonal


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """The elements at one index each along an axis, or of the flattened tensor."""
    if dim is None:
        return take_along_axis(reshape(input, (-1,)), reshape(indices, (-1,)), 0)
    return take_along_axis(input, indices, dim)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a mask, which broadcasts, is true, as a vector. Reads the mask, and
    blocks."""
    x, mask = manipulation.broadcast_arrays(input, mask)
    return x[mask]


def _along(line: Tensor, axis: int, rank: int) -> Tensor:
    """A vector that broadcasts along an axis."""
    return reshape(line, (-1, *(1,) * (rank - axis - 1)))


def index_fill(input: Tensor, dim: int, index: Tensor, value: Scalar | Tensor) -> Tensor:
    """One number at the indices of a vector along an axis; what is there elsewhere."""
    axis = check_axis(dim, input.ndim, "index_fill")
    length = input.shape[axis]
    filled = full(index.shape, True)
    marked = scatter_along(zeros((length,), "bool"), 0, index % length, filled)
    number = asarray(value).astype(input.dtype)
    return elementwise.where(_along(marked, axis, input.ndim), number, input)


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Slices of source at the indices of a vector along an axis; what is there elsewhere. Raises
    ShapeError if there are not as many."""
    axis = check_axis(dim, input.ndim, "index_copy")
    if index.shape != source.shape[axis : axis + 1]:
        raise ShapeError(f"index_copy: {index.shape} indices for {source.shape} along {axis}")
    indices = broadcast_to(_along(index, axis, source.ndim), source.shape)
    return scatter_along(input, axis, indices, source)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The first elements of source, in order, where a mask, which broadcasts, is true. As on a GPU
    in PyTorch, nothing checks that there are enough; the last one is repeated."""
    if mask.dtype != dt.bool_:
        raise DTypeError(f"masked_scatter: the mask must be bool, not {mask.dtype.name}")
    return with_items(input, broadcast_to(mask, input.shape), reshape(source, (-1,)))


_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}


def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Elements of src combined at indices along an axis with what is there, or, unless
    include_self, only with each other. reduce: "sum", "prod", "mean", "amax" or "amin". Raises
    OptionError for another one, and what `scatter` raises."""
    if reduce not in _NEUTRAL:
        raise OptionError(f"scatter_reduce: {reduce!r} is not one of {', '.join(_NEUTRAL)}")
    base, count = input, None
    if reduce == "mean" or not include_self:
        own = ones(input.shape, input.dtype) if include_self else zeros_like(input)
        count = scatter_along(own, dim, index, ones(src.shape, input.dtype), "add")
    if not include_self:
        if not input.dtype.is_floating and math.isinf(_NEUTRAL[reduce]):
            raise DTypeError(
                f"scatter_reduce: {reduce} without include_self needs floating numbers"
            )
        base = elementwise.where(count > 0, _NEUTRAL[reduce], input)  # type: ignore[operator]
    found = scatter_along(base, dim, index, src, "sum" if reduce == "mean" else reduce)
    if reduce != "mean":
        return found
    assert count is not None
    return elementwise.divide(found, elementwise.maximum(count, 1)).astype(input.dtype)


def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Slices of source combined, as by `scatter_reduce`, at the indices of a vector along an axis.
    reduce: "prod", "mean", "amax" or "amin". Raises ShapeError if there are not as many indices."""
    axis = check_axis(dim, input.ndim, "index_reduce")
    if index.shape != source.shape[axis : axis + 1]:
        raise ShapeError(f"index_reduce: {index.shape} indices for {source.shape} along {axis}")
    indices = broadcast_to(_along(index, axis, source.ndim), source.shape)
    return scatter_reduce(input, axis, indices, source, reduce, include_self=include_self)


def _numbered(input: Tensor) -> Tensor:
    """The index of each element in the flattened tensor."""
    return reshape(arange(input.size), input.shape)


def _written(input: Tensor, indices: Tensor, values: Tensor | Scalar, add: bool = False) -> Tensor:
    """input with values, which broadcast, at indices into the flattened tensor; add: they are added
    to what is there."""
    new = broadcast_to(asarray(values).astype(input.dtype), indices.shape)
    flat = scatter_rows(
        reshape(input, (1, -1, 1)),
        reshape(indices, (1, -1)),
        reshape(new, (1, -1, 1)),
        "add" if add else "none",
    )
    return reshape(flat, input.shape)


def index_put(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """input in which input[indices] are values, which broadcast; accumulate: they are added, also
    several at one index. An index of None takes the whole axis."""
    key = tuple(slice(None) if each is None else each for each in indices)
    return _written(input, _numbered(input)[key], values, accumulate)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """input in which the elements at indices into the flattened tensor, negative ones from the end,
    are those of source; accumulate: they are added. Raises ShapeError if there are not as many."""
    if index.node.size != source.node.size:
        raise ShapeError(f"put: {index.shape} indices for {source.shape}")
    at = checked_indices(index % input.node.size, input.node.size, "put: the index")
    return _written(input, reshape(at, (-1,)), reshape(source, (-1,)), accumulate)


def _filled(input: Tensor, key: Any, src: Tensor, what: str) -> Tensor:
    indices = _numbered(input)[key]
    if indices.shape != src.shape:
        raise ShapeError(f"{what}: src {src.shape} does not fit {indices.shape}")
    return _written(input, indices, src)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """input with src as its slice at an index along an axis. Raises ShapeError if src has another
    shape, as those below do."""
    axis = check_axis(dim, input.ndim, "select_scatter")
    return _filled(input, (*(slice(None),) * axis, index), src, "select_scatter")


def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """input with src as its slices from start to end along an axis."""
    axis = check_axis(dim, input.ndim, "slice_scatter")
    key = (*(slice(None),) * axis, slice(start, end, step))
    return _filled(input, key, src, "slice_scatter")


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """input with src on a diagonal of two axes."""
    indices = diagonal(_numbered(input), offset, dim1, dim2)
    if indices.shape != src.shape:
        raise ShapeError(f"diagonal_scatter: src {src.shape} does not fit {indices.shape}")
    return _written(input, indices, src)
