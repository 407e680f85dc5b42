"""More of PyTorch's names: arithmetic, selections and orders that the array API lacks or names
otherwise. As in torch_names.py, `tallow` offers those of __all__ and methods call them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import dtype as dt
from ..errors import DTypeError, OptionError, ShapeError
from ..shape import check_axis
from ..tensor import Scalar, Tensor, asarray
from . import elementwise, manipulation, reduction
from .arrange import Ordered, argsort, scatter_elements, scatter_rows
from .creation import arange
from .cumulative import cumulative_sum
from .indexing import checked_indices, take, take_along_axis
from .linear_algebra import matmul

Axis = int | Sequence[int] | None


# ---- arithmetic ------------------------------------------------------------------------------


def sub(input: Tensor, other: Tensor | Scalar, *, alpha: Scalar = 1) -> Tensor:
    """input - alpha * other."""
    return asarray(input) - (other if alpha == 1 else asarray(other) * alpha)


def div(input: Tensor, other: Tensor | Scalar, *, rounding_mode: str | None = None) -> Tensor:
    """input / other; rounding_mode "floor" or "trunc" rounds it down or towards 0."""
    input = asarray(input)
    if rounding_mode is None:
        return input / other
    if rounding_mode == "floor":
        return input // other
    if rounding_mode != "trunc":
        raise OptionError(f"div: rounding_mode {rounding_mode!r} is not None, 'floor' or 'trunc'")
    quotient = input / other
    return elementwise.trunc(quotient).astype(input.dtype)


def rsqrt(input: Tensor) -> Tensor:
    """1 / sqrt(input)."""
    return 1 / elementwise.sqrt(input)


def log2(input: Tensor) -> Tensor:
    """The logarithm to the base of 2."""
    return elementwise.log(input) * (1 / math.log(2))


def log10(input: Tensor) -> Tensor:
    """The logarithm to the base of 10."""
    return elementwise.log(input) * (1 / math.log(10))


def isfinite(input: Tensor) -> Tensor:
    """Where elements are neither infinite nor NaN."""
    if not input.dtype.is_floating:
        return elementwise.equal(input, input)
    return ~(elementwise.isnan(input) | elementwise.isinf(input))


def lerp(input: Tensor, end: Tensor, weight: Tensor | Scalar) -> Tensor:
    """input + weight * (end - input)."""
    return input + (end - input) * weight


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scalar = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    return input + tensor1 * tensor2 * value


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scalar = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    return input + tensor1 / tensor2 * value


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of an element of one vector and one of another. ShapeError for other tensors."""
    if input.ndim != 1 or vec2.ndim != 1:
        raise ShapeError(f"outer: {input.shape} and {vec2.shape} must be vectors")
    return input[:, None] * vec2[None, :]


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements. Raises ShapeError for other tensors."""
    if input.ndim != 1 or input.shape != tensor.shape:
        raise ShapeError(f"dot: {input.shape} and {tensor.shape} must be vectors of one length")
    product = input * tensor
    return reduction.sum(product, dtype=product.dtype)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector. Raises ShapeError for other tensors."""
    if input.ndim != 2 or vec.ndim != 1:
        raise ShapeError(f"mv: {input.shape} @ {vec.shape}: must be a matrix and a vector")
    return matmul(input, vec)


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    return input * beta + matmul(mat1, mat2) * alpha


# ---- reductions ------------------------------------------------------------------------------


def logsumexp(input: Tensor, dim: Axis, keepdim: bool = False) -> Tensor:
    """log(sum(exp(input))) over axes, which does not overflow."""
    if not input.size:
        return elementwise.log(reduction.sum(elementwise.exp(input), dim, keepdim))
    peak = reduction.max(input, dim, True)
    peak = elementwise.where(isfinite(peak), peak, 0.0).detach()
    total = reduction.sum(elementwise.exp(input - peak), dim, True)
    found = elementwise.log(total) + peak
    return found if keepdim else manipulation.squeeze(found, dim)


def norm(input: Tensor, p: float | str = "fro", dim: Axis = None, keepdim: bool = False) -> Tensor:
    """The p-norm of the elements along axes; "fro" is 2. p: a number, inf or -inf. The gradient of
    zeros is 0. Raises OptionError for another p."""
    if p in ("fro", 2):
        return reduction.root(reduction.sum(input * input, dim, keepdim))
    if isinstance(p, str):
        raise OptionError(f"norm: p {p!r} is not 'fro' or a number")
    size = abs(input)
    if p == math.inf:
        return reduction.max(size, dim, keepdim)
    if p == -math.inf:
        return reduction.min(size, dim, keepdim)
    if p == 0:
        return reduction.sum((size != 0).astype(input.dtype), dim, keepdim)
    if p == 1:
        return reduction.sum(size, dim, keepdim)
    return reduction.root(reduction.sum(reduction.powers(size, p), dim, keepdim), p)


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements differ by at most atol + rtol * |other|; reads them."""
    return bool(reduction.all(isclose(input, other, rtol, atol, equal_nan)))


def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Where elements are equal, or finite and differ by at most atol + rtol * |other|."""
    near = abs(input - other) <= atol + rtol * abs(other)
    found: Tensor = (input == other) | (near & isfinite(input) & isfinite(other))
    if equal_nan and input.dtype.is_floating:
        found = found | (elementwise.isnan(input) & elementwise.isnan(other))
    return found


# ---- orders ----------------------------------------------------------------------------------


def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Ordered:
    """The k largest or smallest elements along an axis, in order, and their places. Raises
    OptionError if there are fewer."""
    length = input.shape[check_axis(dim, input.ndim, "topk")]
    if not 0 <= k <= length:
        raise OptionError(f"topk: {k} of the {length} elements along axis {dim}")
    places = argsort(input, dim, largest, k)
    return Ordered(take_along_axis(input, places, dim), places)


# ---- selections ------------------------------------------------------------------------------


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
    places = checked_indices(index, input.shape[axis], "scatter: the index").astype(dt.int32)
    return scatter_elements(input, axis, places, updates, reductions[reduce])


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
    places = manipulation.reshape(arange(input.size), input.shape)[key]
    value = _without_ones(value, places.ndim)
    flat = scatter_rows(
        manipulation.reshape(input, (1, -1, 1)),
        manipulation.reshape(places, (1, -1)),
        manipulation.reshape(manipulation.broadcast_to(value, places.shape), (1, -1, 1)),
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


def roll(input: Tensor, shifts: int | Sequence[int], dims: Axis = None) -> Tensor:
    """The elements shifted along axes, those that leave at one end coming in at the other; without
    dims, those of the flattened tensor."""
    if dims is None:
        flat = roll(manipulation.reshape(input, (-1,)), shifts, 0)
        return manipulation.reshape(flat, input.shape)
    by = [shifts] if isinstance(shifts, int) else list(shifts)
    along = [dims] if isinstance(dims, int) else list(dims)
    if len(by) != len(along):
        raise ShapeError(f"roll: {len(by)} shifts for {len(along)} axes")
    for shift, dim in zip(by, along, strict=True):
        axis = check_axis(dim, input.ndim, "roll")
        length = input.shape[axis]
        if length and shift % length:
            at = length - shift % length
            ends = manipulation.split(input, [at, length - at], axis)
            input = manipulation.concat([ends[1], ends[0]], axis)
    return input


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The elements on a diagonal of two axes, as a new last axis."""
    dim1, dim2 = (check_axis(axis, input.ndim, "diagonal") for axis in (dim1, dim2))
    moved = manipulation.moveaxis(manipulation.moveaxis(input, dim1, -1), dim2 - (dim2 > dim1), -1)
    rows, columns = moved.shape[-2:]
    start = max(offset, 0) - min(offset, 0) * columns
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    flat = manipulation.reshape(moved, (*moved.shape[:-2], rows * columns))
    if not count:
        return flat[..., :0]
    return flat[..., start : start + (count - 1) * (columns + 1) + 1 : columns + 1]


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector as its diagonal."""
    if input.ndim == 2:
        return globals()["diagonal"](input, diagonal)  # type: ignore[no-any-return]
    if input.ndim != 1:
        raise ShapeError(f"diag: {input.shape} is neither a vector nor a matrix")
    side = input.shape[0] + abs(diagonal)
    rows, columns = arange(side)[:, None], arange(side)[None, :]
    at = elementwise.minimum(rows, columns)
    line = manipulation.pad(input, [(0, abs(diagonal))])
    return elementwise.where(columns - rows == diagonal, take(line, at), 0)
