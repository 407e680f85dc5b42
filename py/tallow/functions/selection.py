"""Elements chosen or written by index, along an axis or under a mask."""

from __future__ import annotations

from typing import Any

from ..core import dtype as dt
from ..core.shape import check_axis
from ..errors import DTypeError, OptionError, ShapeError
from ..tensor import Scalar, Tensor, asarray
from . import elementwise, manipulation
from .arrange import scatter_elements, scatter_rows
from .creation import arange
from .cumulative import cumulative_sum
from .indexing import checked_indices, take, take_along_axis


def masked_fill(input: Tensor, mask: Tensor, value: Scalar | Tensor) -> Tensor:
    """Writes `value` where the mask is true; elsewhere the elements of input stay.

    input: a tensor of any type.
    mask: booleans, which broadcast with input.
    value: a number, or a tensor without axes.
    Returns: the elements, of the broadcast shape, in the type of input.
    Raises: DTypeError for a mask that is not bool; ShapeError for a value that has axes, and for
      shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.Tensor.masked_fill`.
    """
    if mask.dtype != dt.bool_:
        raise DTypeError(f"masked_fill: the mask must be bool, not {mask.dtype.name}")
    filled = asarray(value).astype(input.dtype)
    if filled.ndim:
        raise ShapeError(f"masked_fill: the value must be one number, not {filled.shape}")
    chosen: Tensor = elementwise.where(mask, filled, input)
    return chosen


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Takes elements by index: result[i, j] = input[index[i, j], j] for dim 0, and so on.

    input: a tensor of any type, with one axis or more.
    dim: the axis along which they are indices.
    index: integers, from 0 on, with as many axes as input, which may be shorter along the other
      axes.
    Returns: the elements, of the shape of index and the type of input.
    Raises: ShapeError if index is longer or has another number of axes; DTypeError for an index
      that is not of integers; AxisError for an axis that input doesn't have; IndexRangeError for an
      index out of range (see `checked_indices`).
    Source: PyTorch's documentation, `torch.gather`.
    """
    axis = check_axis(dim, input.ndim, "gather")
    if index.ndim == input.ndim:  # NumPy's needs axes of the same length
        ends = zip(index.shape, input.shape, strict=True)
        if all(a == axis or size <= has for a, (size, has) in enumerate(ends)):
            input = input[tuple(slice(None if a == axis else n) for a, n in enumerate(index.shape))]
        index = checked_indices(index, input.shape[axis], "gather: the index")
    return take_along_axis(input, index, axis)


def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """Takes `length` slices along an axis from `start` on.

    input: a tensor with one axis or more.
    dim: the axis.
    start: the index of the first slice; a negative one counts from the end. In a tensor without
      axes, which the device reads, it is clamped: see `slice_at`.
    length: how many slices.
    Returns: the slices, in the type of input.
    Raises: ShapeError if there are fewer; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.narrow`.
    """
    axis = check_axis(dim, input.ndim, "narrow")
    has = input.shape[axis]
    if isinstance(start, Tensor):
        from .positions import slice_at

        sizes = (*input.shape[:axis], length, *input.shape[axis + 1 :])
        return slice_at(input, [*(0,) * axis, start, *(0,) * (input.ndim - axis - 1)], sizes)
    start = start + has if start < 0 else start
    if not 0 <= start <= start + length <= has:
        raise ShapeError(f"narrow: {length} from {start} on of the {has} along axis {axis}")
    return input[(slice(None),) * axis + (slice(start, start + length),)]


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Takes one slice along an axis, without that axis.

    input: a tensor with one axis or more.
    dim: the axis.
    index: the index of the slice; a negative one counts from the end.
    Returns: the slice, in the type of input.
    Raises: IndexRangeError for an index out of range; AxisError for an axis that input doesn't
      have.
    Source: PyTorch's documentation, `torch.select`.
    """
    axis = check_axis(dim, input.ndim, "select")
    return input[(slice(None),) * axis + (index,)]


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Takes the slices along an axis at the indices of a vector.

    input: a tensor with one axis or more.
    dim: the axis.
    index: a vector of integers, from 0 on, or a single one.
    Returns: as many slices as indices, in the type of input.
    Raises: ShapeError or DTypeError for another index; AxisError for an axis that input doesn't
      have; IndexRangeError for an index out of range (see `checked_indices`).
    Source: PyTorch's documentation, `torch.index_select`.
    """
    axis = check_axis(dim, input.ndim, "index_select")
    if index.ndim > 1 or not index.dtype.is_integer:
        raise (ShapeError if index.ndim > 1 else DTypeError)(
            f"index_select: the index must be a vector of integers, not {index.dtype.name} "
            f"{index.shape}"
        )
    line = manipulation.reshape(index, (-1,))
    return take(input, checked_indices(line, input.shape[axis], "index_select: the index"), axis)


def scatter_along(
    input: Tensor, dim: int, index: Tensor, src: Tensor | Scalar, reduce: str = "none"
) -> Tensor:
    """Writes elements by index, PyTorch's `scatter`.

    The result is input, in which result[index[i, j], j] = src[i, j] for dim 0, and so on.

    input: a tensor with one axis or more.
    dim: the axis along which they are indices.
    index: integers, from 0 on, with as many axes as input; it may be shorter than input along the
      other axes, and than src.
    src: the elements to write, in the type of input, or one number.
    reduce: "none", or how elements combine with what is there: "add" or "sum", "multiply" or
      "prod", "amax", "amin".
    Returns: the elements, of the shape and the type of input.
    Raises: ShapeError for shapes that do not fit; DTypeError for another type of src, and for an
      index that is not of integers; OptionError for another reduce; AxisError for an axis that
      input doesn't have; IndexRangeError for an index out of range (see `checked_indices`).
    Source: PyTorch's documentation, `torch.Tensor.scatter`.
    """
    reductions = {"none": "none", "add": "add", "sum": "add", "multiply": "mul", "prod": "mul",
                  "amax": "max", "amin": "min"}  # fmt: skip
    if reduce not in reductions:
        raise OptionError(f"scatter: reduce {reduce!r} is not one of {', '.join(reductions)}")
    axis = check_axis(dim, input.ndim, "scatter")
    if not index.dtype.is_integer:
        raise DTypeError(f"scatter: the index must be integers, not {index.dtype.name}")
    others = [a for a in range(input.ndim) if a != axis]
    if index.ndim != input.ndim or any(index.shape[a] > input.shape[a] for a in others):
        raise ShapeError(f"scatter: the index {index.shape} does not fit into {input.shape}")
    if isinstance(src, Tensor):
        if src.ndim != input.ndim or any(
            a > b for a, b in zip(index.shape, src.shape, strict=True)
        ):
            raise ShapeError(f"scatter: the index {index.shape} is longer than src {src.shape}")
        if src.dtype != input.dtype:
            raise DTypeError(f"scatter: {src.dtype.name} into {input.dtype.name}")
        updates = src[tuple(slice(0, n) for n in index.shape)]
    else:
        updates = manipulation.broadcast_to(asarray(src).astype(input.dtype), index.shape)
    indices = checked_indices(index, input.shape[axis], "scatter: the index").astype(dt.int32)
    return scatter_elements(input, axis, indices, updates, reductions[reduce])


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Adds elements by index: `scatter` that adds to what is there.

    input: numbers, with one axis or more.
    dim: the axis along which they are indices.
    index: integers, from 0 on, with as many axes as input; it may be shorter than input along the
      other axes, and than src.
    src: the elements to add, in the type of input.
    Returns: the sums, of the shape and the type of input.
    Raises: what `scatter` raises: ShapeError and DTypeError for what does not fit; AxisError for an
      axis that input doesn't have; IndexRangeError for an index out of range (see
      `checked_indices`).
    Source: PyTorch's documentation, `torch.Tensor.scatter_add`.
    """
    return scatter_along(input, dim, index, src, "add")


def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Scalar = 1
) -> Tensor:
    """Adds slices of source, times alpha, to those of input at the indices of a vector.

    input: numbers, with one axis or more.
    dim: the axis.
    index: a vector of integers, from 0 on.
    source: as many slices as indices along the axis, in the type of input.
    alpha: a number by which source is multiplied first.
    Returns: the sums, of the shape and the type of input.
    Raises: ShapeError if there are not as many slices; DTypeError for another type; AxisError for
      an axis that input doesn't have; IndexRangeError for an index out of range (see
      `checked_indices`).
    Source: PyTorch's documentation, `torch.Tensor.index_add`.
    """
    axis = check_axis(dim, input.ndim, "index_add")
    if index.shape != source.shape[axis : axis + 1]:
        raise ShapeError(f"index_add: {index.shape} indices for {source.shape} along {axis}")
    spread = manipulation.reshape(index, (-1, *(1,) * (source.ndim - axis - 1)))
    whole = manipulation.broadcast_to(spread, source.shape)
    return scatter_along(input, dim, whole, source if alpha == 1 else source * alpha, "add")


def with_items(input: Tensor, key: Any, value: Any) -> Tensor:
    """Writes a value by a key: the result is input, in which input[key] is the value.

    input: a tensor of any type.
    key: as for `getitem`, or booleans for the first axes of input.
    value: the elements to write, which broadcast. Where key is booleans, it has a row for each that
      is true, in order, which nothing counts, or one for all.
    Returns: the elements, of the shape and the type of input.
    Raises: ShapeError for a mask or a value that does not fit; IndexRangeError for a number out of
      range; what `getitem` raises.
    """
    value = asarray(value).astype(input.dtype)
    mask = asarray(key) if isinstance(key, Tensor) or hasattr(key, "__array__") else None
    if mask is not None and mask.dtype == dt.bool_:
        return _with_rows(input, mask, value)
    from .positions import region_of, update_at

    region = region_of(input, key)
    if region is not None:
        starts, sizes, shape = region
        whole = manipulation.broadcast_to(_without_ones(value, len(shape)), shape)
        return update_at(input, starts, manipulation.reshape(whole, sizes))
    indices = manipulation.reshape(arange(input.size), input.shape)[key]
    value = _without_ones(value, indices.ndim)
    flat = scatter_rows(
        manipulation.reshape(input, (1, -1, 1)),
        manipulation.reshape(indices, (1, -1)),
        manipulation.reshape(manipulation.broadcast_to(value, indices.shape), (1, -1, 1)),
        "none",
    )
    return manipulation.reshape(flat, input.shape)


def _without_ones(value: Tensor, ndim: int) -> Tensor:
    """A value without the leading axes of length 1 that are more than this many."""
    while value.ndim > ndim and value.shape[0] == 1:
        value = manipulation.squeeze(value, 0)
    return value


def _with_rows(input: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    rest = input.shape[mask.ndim :]
    value = _without_ones(value, len(rest))
    if mask.shape != input.shape[: mask.ndim] or value.ndim > len(rest) + 1:
        raise ShapeError(
            f"x[mask] = value: {value.shape} at a mask {mask.shape} does not fit {input.shape}"
        )
    if not value.size:
        return input
    if value.ndim > len(rest):
        rows = manipulation.broadcast_to(value, (value.shape[0], *rest))
        number = cumulative_sum(manipulation.reshape(mask, (-1,)).astype(dt.int32), 0) - 1
        at = elementwise.clip(number, 0, rows.shape[0] - 1)
        value = manipulation.reshape(take(rows, at, 0), input.shape)
    spread = manipulation.reshape(mask, (*mask.shape, *(1,) * len(rest)))
    return elementwise.where(spread, value, input)
