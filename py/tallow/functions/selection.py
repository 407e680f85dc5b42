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
    """`value` where the mask, which broadcasts, is true; the elements of input elsewhere."""
    if mask.dtype != dt.bool_:
        raise DTypeError(f"masked_fill: the mask must be bool, not {mask.dtype.name}")
    filled = asarray(value).astype(input.dtype)
    if filled.ndim:
        raise ShapeError(f"masked_fill: the value must be one number, not {filled.shape}")
    chosen: Tensor = elementwise.where(mask, filled, input)
    return chosen


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """result[i, j] = input[index[i, j], j] for dim 0, and so on. The index may be shorter in the
    other axes. Raises ShapeError if it is longer, IndexRangeError for an index out of range."""
    axis = check_axis(dim, input.ndim, "gather")
    if index.ndim == input.ndim:  # NumPy's needs axes of the same length
        ends = zip(index.shape, input.shape, strict=True)
        if all(a == axis or size <= has for a, (size, has) in enumerate(ends)):
            input = input[tuple(slice(None if a == axis else n) for a, n in enumerate(index.shape))]
        index = checked_indices(index, input.shape[axis], "gather: the index")
    return take_along_axis(input, index, axis)


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` slices along an axis from `start` on. Raises ShapeError if there are fewer."""
    axis = check_axis(dim, input.ndim, "narrow")
    has = input.shape[axis]
    start = start + has if start < 0 else start
    if not 0 <= start <= start + length <= has:
        raise ShapeError(f"narrow: {length} from {start} on of the {has} along axis {axis}")
    return input[(slice(None),) * axis + (slice(start, start + length),)]


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One slice along an axis, without that axis. Raises IndexRangeError if it is out
    of range."""
    axis = check_axis(dim, input.ndim, "select")
    return input[(slice(None),) * axis + (index,)]


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices along an axis at the indices of a vector. Raises ShapeError or DTypeError for
    another index, IndexRangeError for one out of range (see `checked_indices`)."""
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
    """PyTorch's `scatter`: the result is input, in which result[index[i, j], j] = src[i, j] for dim
    0, and so on. reduce: "none", or "add", "multiply", "amax", "amin" with what is there.

    index may be shorter than input along the other axes, and than src. Raises ShapeError for shapes
    that do not fit, DTypeError, OptionError, IndexRangeError for an index out of range.
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
    """`scatter` that adds to what is there."""
    return scatter_along(input, dim, index, src, "add")


def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Scalar = 1
) -> Tensor:
    """Slices of source, times alpha, added to those of input at the indices of a vector."""
    axis = check_axis(dim, input.ndim, "index_add")
    if index.shape != source.shape[axis : axis + 1]:
        raise ShapeError(f"index_add: {index.shape} indices for {source.shape} along {axis}")
    spread = manipulation.reshape(index, (-1, *(1,) * (source.ndim - axis - 1)))
    whole = manipulation.broadcast_to(spread, source.shape)
    return scatter_along(input, dim, whole, source if alpha == 1 else source * alpha, "add")


def with_items(input: Tensor, key: Any, value: Any) -> Tensor:
    """input in which input[key] is a value, which broadcasts. key: as of `getitem`, or truth values
    for the first axes of input: the value then has a row for each that is true, in order, which
    nothing counts, or the same for all."""
    value = asarray(value).astype(input.dtype)
    mask = asarray(key) if isinstance(key, Tensor) or hasattr(key, "__array__") else None
    if mask is not None and mask.dtype == dt.bool_:
        return _with_rows(input, mask, value)
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
