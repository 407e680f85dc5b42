"""Functions that write at indices, and those that take elements from them."""

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
from .positions import update_at
from .selection import scatter_along, with_items
from .shapes import diagonal


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Takes one element for each index along an axis, or of the flattened tensor.

    input: a tensor of any type.
    indices: integers, with as many axes as input, which may be shorter along the other axes; of any
      shape without dim.
    dim: the axis; None flattens input and indices first.
    Returns: the elements, of the shape of indices and the type of input.
    Raises: AxisError for an axis that input doesn't have; ShapeError for indices that do not fit.
    Source: PyTorch's documentation, `torch.take_along_dim`.
    """
    if dim is None:
        return take_along_axis(reshape(input, (-1,)), reshape(indices, (-1,)), 0)
    return take_along_axis(input, indices, dim)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Takes the elements where a mask is true, as a vector. Reads the mask, and blocks.

    input: a tensor of any type.
    mask: booleans, which broadcast with input.
    Returns: the elements, (n,), in the type of input.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.masked_select`.
    """
    x, mask = manipulation.broadcast_arrays(input, mask)
    return x[mask]


def _along(line: Tensor, axis: int, rank: int) -> Tensor:
    """A vector that broadcasts along an axis."""
    return reshape(line, (-1, *(1,) * (rank - axis - 1)))


def _from_the_front(index: Tensor, length: int, what: str) -> Tensor:
    """Indices, of which negative ones count from the end, counted from the front and checked."""
    at = elementwise.where(elementwise.less(index, 0), index + length, index)
    return checked_indices(at, length, what)


def index_fill(input: Tensor, dim: int, index: Tensor, value: Scalar | Tensor) -> Tensor:
    """Writes one number at indices along an axis; what is elsewhere stays.

    input: a tensor with one axis or more.
    dim: the axis.
    index: a vector of integers; negative ones count from the end.
    value: the number, or a tensor of one.
    Returns: the elements, of the shape and the type of input.
    Raises: AxisError for an axis that input doesn't have, IndexRangeError for an index out of
      range, as `checked_indices`.
    Source: PyTorch's documentation, `torch.Tensor.index_fill`.
    """
    axis = check_axis(dim, input.ndim, "index_fill")
    length = input.shape[axis]
    filled = full(index.shape, True)
    at = _from_the_front(index, length, "index_fill: the index")
    marked = scatter_along(zeros((length,), "bool"), 0, at, filled)
    number = asarray(value).astype(input.dtype)
    return elementwise.where(_along(marked, axis, input.ndim), number, input)


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Writes slices of source at indices along an axis; what is elsewhere stays.

    input: a tensor with one axis or more.
    dim: the axis.
    index: a vector of integers, from 0 on.
    source: as many slices as indices along the axis, in the type of input.
    Returns: the elements, of the shape and the type of input.
    Raises: ShapeError if there are not as many slices; DTypeError for another type; AxisError for
      an axis that input doesn't have; IndexRangeError for an index out of range (see
      `checked_indices`).
    Source: PyTorch's documentation, `torch.Tensor.index_copy`.
    """
    axis = check_axis(dim, input.ndim, "index_copy")
    if index.shape != source.shape[axis : axis + 1]:
        raise ShapeError(f"index_copy: {index.shape} indices for {source.shape} along {axis}")
    others = (*source.shape[:axis], *source.shape[axis + 1 :])
    alike = source.dtype == input.dtype and source.ndim == input.ndim and input.shape[axis]
    if alike and index.shape == (1,) and others == (*input.shape[:axis], *input.shape[axis + 1 :]):
        at = checked_indices(reshape(index, ()), input.shape[axis], "index_copy: the index")
        return update_at(input, [*(0,) * axis, at], source)
    indices = broadcast_to(_along(index, axis, source.ndim), source.shape)
    return scatter_along(input, axis, indices, source)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Writes the first elements of source, in order, where a mask is true.

    As on a GPU in PyTorch, nothing checks that there are enough; the last one is repeated.

    input: a tensor of any type.
    mask: booleans, which broadcast to the shape of input.
    source: the elements to write, of any shape.
    Returns: the elements, of the shape and the type of input.
    Raises: DTypeError for a mask that is not bool; ShapeError for one that does not broadcast.
    Source: PyTorch's documentation, `torch.Tensor.masked_scatter`.
    """
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
    """Combines elements of src, at indices along an axis, with what is there.

    input: numbers, with one axis or more.
    dim: the axis along which they are indices.
    index: integers, from 0 on, with as many axes as input.
    src: the elements, as long as index or longer along each axis, in the type of input.
    reduce: "sum", "prod", "mean", "amax" or "amin".
    include_self: whether what is there counts; without it, elements of src combine with each other
      alone.
    Returns: the elements, of the shape and the type of input.
    Raises: OptionError for another reduce; ShapeError for shapes that do not fit; DTypeError for
      types that do not fit, and for "amax" and "amin" of integers without include_self; AxisError
      for an axis that input doesn't have; IndexRangeError for an index out of range (see
      `checked_indices`).
    Source: PyTorch's documentation, `torch.Tensor.scatter_reduce`.
    """
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
    """Combines slices of source, as `scatter_reduce` does, at the indices of a vector along an
    axis.

    input: numbers, with one axis or more.
    dim: the axis.
    index: a vector of integers, from 0 on.
    source: as many slices as indices along the axis, in the type of input.
    reduce: "prod", "mean", "amax" or "amin".
    include_self: whether what is there counts; without it, slices of source combine with each other
      alone.
    Returns: the elements, of the shape and the type of input.
    Raises: ShapeError if there are not as many slices; what `scatter_reduce` raises.
    Source: PyTorch's documentation, `torch.Tensor.index_reduce`.
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise OptionError(f"index_reduce: reduce is prod, mean, amax or amin, not {reduce!r}")
    axis = check_axis(dim, input.ndim, "index_reduce")
    if index.shape != source.shape[axis : axis + 1]:
        raise ShapeError(f"index_reduce: {index.shape} indices for {source.shape} along {axis}")
    indices = broadcast_to(_along(index, axis, source.ndim), source.shape)
    return scatter_reduce(input, axis, indices, source, reduce, include_self=include_self)


def _numbered(input: Tensor) -> Tensor:
    """The index of each element among all."""
    return reshape(arange(input.size), input.shape)


def _written(input: Tensor, indices: Tensor, values: Tensor | Scalar, add: bool = False) -> Tensor:
    """input with values, which broadcast, at indices among all elements, or added to them."""
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
    """Writes values at indices: the result is input, in which input[indices] are values.

    input: a tensor of any type.
    indices: a tensor of integers or booleans for each of the first axes; None takes the whole axis.
    values: the elements to write, which broadcast.
    accumulate: whether they are added to what is there, also several at one index.
    Returns: the elements, of the shape and the type of input.
    Raises: ShapeError for values that do not broadcast.
    Source: PyTorch's documentation, `torch.Tensor.index_put`.
    """
    key = tuple(slice(None) if each is None else each for each in indices)
    return _written(input, _numbered(input)[key], values, accumulate)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Writes elements at indices among all elements of input.

    input: a tensor of any shape.
    index: integers; negative ones count from the end.
    source: as many elements as indices.
    accumulate: whether they are added to what is there.
    Returns: the elements, of the shape and the type of input.
    Raises: ShapeError if there are not as many elements, IndexRangeError for an index out of range,
      as `checked_indices`.
    Source: PyTorch's documentation, `torch.Tensor.put_`.
    """
    if index.node.size != source.node.size:
        raise ShapeError(f"put: {index.shape} indices for {source.shape}")
    at = _from_the_front(index, input.node.size, "put: the index")
    return _written(input, reshape(at, (-1,)), reshape(source, (-1,)), accumulate)


def _filled(input: Tensor, key: Any, src: Tensor, what: str) -> Tensor:
    indices = _numbered(input)[key]
    if indices.shape != src.shape:
        raise ShapeError(f"{what}: src {src.shape} does not fit {indices.shape}")
    return _written(input, indices, src)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Writes src into input as its slice at an index along an axis.

    input: a tensor with one axis or more.
    src: the slice, of the shape of input without the axis.
    dim: the axis.
    index: the index; a negative one counts from the end.
    Returns: the elements, of the shape and the type of input.
    Raises: ShapeError if src has another shape; AxisError for an axis that input doesn't have;
      IndexRangeError for an index out of range.
    Source: PyTorch's documentation, `torch.select_scatter`.
    """
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
    """Writes src into input as its slices from start to end along an axis.

    input: a tensor with one axis or more.
    src: the slices, of the shape of input[start:end:step] along the axis.
    dim: the axis.
    start, end: the bounds, as of Python's slices.
    step: how far apart the slices are.
    Returns: the elements, of the shape and the type of input.
    Raises: ShapeError if src has another shape; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.slice_scatter`.
    """
    axis = check_axis(dim, input.ndim, "slice_scatter")
    key = (*(slice(None),) * axis, slice(start, end, step))
    return _filled(input, key, src, "slice_scatter")


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Writes src into input on a diagonal of two axes.

    input: a tensor with two axes or more.
    src: the elements, of the shape that `diagonal` gives.
    offset: which diagonal: 0 is the main one, positive ones are above it.
    dim1, dim2: the axes of the rows and the columns.
    Returns: the elements, of the shape and the type of input.
    Raises: ShapeError if src has another shape; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.diagonal_scatter`.
    """
    indices = diagonal(_numbered(input), offset, dim1, dim2)
    if indices.shape != src.shape:
        raise ShapeError(f"diagonal_scatter: src {src.shape} does not fit {indices.shape}")
    return _written(input, indices, src)
