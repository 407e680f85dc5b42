"""Reductions over axes. `axis` is None (all), a number or a tuple; negative numbers count back.

Where PyTorch's functions mean the same, its names `dim` and `keepdim` go too.
"""

# The array API's names hide builtins here.

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import casting
from ..core import dtype as dt
from ..core.context import autocast
from ..core.dtype import DType, as_dtype
from ..core.shape import check_axes
from ..errors import ShapeError
from ..graph import make
from ..ops import reduce as records
from ..ops.kinds import Reduce
from ..ops.movement import reshape as reshape_op
from ..tensor import Tensor
from . import elementwise

Axis = int | Sequence[int] | None


def _either(axis: Axis, dim: Axis) -> Axis:
    """`dim` is PyTorch's name of `axis`."""
    return axis if dim is None else dim


def _reduce(op: Reduce, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    if autocast.get():
        (x,) = casting.operands(op, [x])
    node = x.node
    dims = node.shape
    axes = check_axes(axis, len(dims), op.name)
    if 0 in dims and isinstance(op.start, str):
        empty = [a for a in axes if dims[a] == 0]
        if empty:
            raise ShapeError(f"{op.name}: axis {empty[0]} of shape {dims} is empty")
    if axes:
        node = make(op, node, axes=axes)
    if not keepdims:
        shape = tuple([dim for a, dim in enumerate(dims) if a not in axes])
        node = make(reshape_op, node, shape=shape)
    return Tensor(node)


def widened(x: Tensor, dtype: DType | str | None = None) -> Tensor:
    """x in the type of its sums and products: `dtype`, or its own, but no integer narrower than the
    default one, int32 (array API, "sum"): uint32 for unsigned ones. PyTorch's are int64."""
    if dtype is not None:
        x = x.astype(as_dtype(dtype))
        return x.astype(dt.default_integer()) if x.dtype == dt.bool_ else x
    if x.dtype.is_floating:
        return x
    if dt.in_pytorch():
        return x.astype(dt.int64)
    if x.dtype.bits >= 32:
        return x
    return x.astype(dt.uint32 if x.dtype.kind == "u" else dt.int32)


def sum(
    x: Tensor,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dim: Axis = None,
    keepdim: bool = False,
    dtype: DType | str | None = None,
) -> Tensor:
    """Sums elements along axes.

    Booleans and integers of fewer than 32 bits are added as int32, unsigned ones as uint32.

    x: numbers or booleans, of any shape.
    axis: the axis or axes to sum over; None sums over all.
    keepdims: keeps these axes, with length 1.
    dim, keepdim: PyTorch's names of axis and keepdims.
    dtype: the type in which elements are added, and of the result; None is that of x, but for the
      narrow ones above.
    Returns: the sums, of the shape of x without these axes.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `sum`.
    """
    return _reduce(records.sum_, widened(x, dtype), _either(axis, dim), keepdims or keepdim)


def prod(
    x: Tensor,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dim: Axis = None,
    keepdim: bool = False,
    dtype: DType | str | None = None,
) -> Tensor:
    """Multiplies elements along axes, in the types of `sum`.

    x: numbers or booleans, of any shape.
    axis: the axis or axes to multiply over; None multiplies over all.
    keepdims: keeps these axes, with length 1.
    dim, keepdim: PyTorch's names of axis and keepdims.
    dtype: the type in which elements are multiplied, and of the result; None is as for `sum`.
    Returns: the products, of the shape of x without these axes.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `prod`.
    """
    return _reduce(records.prod, widened(x, dtype), _either(axis, dim), keepdims or keepdim)


def max(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Gives the largest element along axes.

    x: numbers, of any shape.
    axis: the axis or axes; None takes all elements.
    keepdims: keeps these axes, with length 1.
    Returns: the largest elements, of the shape of x without these axes, in its type.
    Raises: ShapeError over an empty axis; AxisError for an axis that x doesn't have; DTypeError for
      booleans.
    Source: Python array API standard 2024.12, `max`.
    """
    return _reduce(records.max_, x, axis, keepdims)


def min(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Gives the smallest element along axes.

    x: numbers, of any shape.
    axis: the axis or axes; None takes all elements.
    keepdims: keeps these axes, with length 1.
    Returns: the smallest elements, of the shape of x without these axes, in its type.
    Raises: ShapeError over an empty axis; AxisError for an axis that x doesn't have; DTypeError for
      booleans.
    Source: Python array API standard 2024.12, `min`.
    """
    return _reduce(records.min_, x, axis, keepdims)


def _arg(op: Reduce, x: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    if axis is None:
        flat = Tensor(make(reshape_op, x.node, shape=(x.size,)))
        result = _reduce(op, flat, 0, False).astype(dt.default_integer())
        return result.reshape((1,) * x.ndim) if keepdims else result
    return _reduce(op, x, axis, keepdims).astype(dt.default_integer())


def argmax(
    x: Tensor,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    dim: int | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Gives the index of the first largest element.

    x: numbers, of any shape.
    axis: the axis; None takes the flattened tensor.
    keepdims: keeps this axis, with length 1.
    dim, keepdim: PyTorch's names of axis and keepdims.
    Returns: the indices, of the default integer type and the shape of x without this axis.
    Raises: ShapeError over an empty axis; AxisError for an axis that x doesn't have; DTypeError for
      booleans.
    Source: Python array API standard 2024.12, `argmax`.
    """
    return _arg(records.argmax, x, axis if dim is None else dim, keepdims or keepdim)


def argmin(
    x: Tensor,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    dim: int | None = None,
    keepdim: bool = False,
) -> Tensor:
    """Gives the index of the first smallest element.

    x: numbers, of any shape.
    axis: the axis; None takes the flattened tensor.
    keepdims: keeps this axis, with length 1.
    dim, keepdim: PyTorch's names of axis and keepdims.
    Returns: the indices, of the default integer type and the shape of x without this axis.
    Raises: ShapeError over an empty axis; AxisError for an axis that x doesn't have; DTypeError for
      booleans.
    Source: Python array API standard 2024.12, `argmin`.
    """
    return _arg(records.argmin, x, axis if dim is None else dim, keepdims or keepdim)


def mean(
    x: Tensor, axis: Axis = None, keepdims: bool = False, *, dim: Axis = None, keepdim: bool = False
) -> Tensor:
    """Computes the arithmetic mean along axes.

    The sum uses a wider type where the device has one.

    x: numbers or booleans, of any shape.
    axis: the axis or axes; None takes all elements.
    keepdims: keeps these axes, with length 1.
    dim, keepdim: PyTorch's names of axis and keepdims.
    Returns: the means, of the shape of x without these axes, in the floating type of x or else
      float32; NaN of no elements.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `mean`.
    """
    dtype = x.dtype if x.dtype.is_floating else dt.float32
    axis = _either(axis, dim)
    count = math.prod(x.shape[a] for a in check_axes(axis, x.ndim, "mean"))
    total = sum(_wide(x), axis, keepdims or keepdim)
    return (total * (1.0 / count) if count else _nan(total)).astype(dtype)


def _nan(total: Tensor) -> Tensor:
    """NaN for a sum: not a product, since compilers for GPUs take 0 * NaN for 0."""
    return total + math.nan


def _wide(x: Tensor) -> Tensor:
    """x in a type that holds its sum, the number of its elements and the reciprocal of that."""
    use_float64 = x.dtype == dt.float64 or not x.dtype.is_floating
    return x.astype(dt.float64 if use_float64 else dt.float32)


def var(x: Tensor, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Computes the variance along axes: the squared distances from the mean, summed and divided.

    x: numbers or booleans, of any shape.
    axis: the axis or axes; None takes all elements.
    correction: the sum is divided by the number of elements less this.
    keepdims: keeps these axes, with length 1.
    Returns: the variances, of the shape of x without these axes, in the floating type of x or else
      float32; NaN if the divisor isn't positive.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `var`.
    """
    count = math.prod(x.shape[a] for a in check_axes(axis, x.ndim, "var"))
    wide = _wide(x)
    centred = wide - mean(wide, axis, True)
    divisor = count - correction
    total = sum(centred * centred, axis, keepdims)
    result = total * (1.0 / divisor) if divisor > 0 else _nan(total)
    return result.astype(x.dtype if x.dtype.is_floating else dt.float32)


def std(x: Tensor, axis: Axis = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Computes the square root of `var`. The gradient is 0 where that is 0, as in PyTorch.

    x: numbers or booleans, of any shape.
    axis: the axis or axes; None takes all elements.
    correction: as for `var`.
    keepdims: keeps these axes, with length 1.
    Returns: the standard deviations, of the shape of x without these axes, in the floating type of
      x or else float32.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `std`.
    """
    return root(var(x, axis, correction, keepdims))


def powers(sizes: Tensor, p: float) -> Tensor:
    """Sizes, which are not negative, to the power p. The derivative of 0 is 0 instead of infinity,
    as 0 has no share in a norm: PyTorch gives that."""
    if p <= 0:
        return elementwise.pow(sizes, p)
    nothing = sizes == 0
    return elementwise.where(
        nothing, 0.0, elementwise.pow(elementwise.where(nothing, 1.0, sizes), p)
    )


def root(total: Tensor, p: float = 2.0) -> Tensor:
    """The p-th root of a sum of powers. Where the sum is 0, the derivative is 0 instead of
    infinity, which would make NaN of the gradients of the powers."""
    nothing = total == 0
    positive = elementwise.where(nothing, 1.0, total)
    found = elementwise.sqrt(positive) if p == 2 else elementwise.pow(positive, 1 / p)
    return elementwise.where(nothing, 0.0, found)


def _truth(x: Tensor) -> Tensor:
    return (x if x.dtype == dt.bool_ else x != 0).astype(dt.int32)


def any(
    x: Tensor, axis: Axis = None, keepdims: bool = False, *, dim: Axis = None, keepdim: bool = False
) -> Tensor:
    """Tells whether some element along axes is true (not 0).

    x: numbers or booleans, of any shape.
    axis: the axis or axes; None takes all elements.
    keepdims: keeps these axes, with length 1.
    dim, keepdim: PyTorch's names of axis and keepdims.
    Returns: booleans, of the shape of x without these axes; False of no elements.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `any`.
    """
    return _reduce(records.sum_, _truth(x), _either(axis, dim), keepdims or keepdim) > 0


def all(
    x: Tensor, axis: Axis = None, keepdims: bool = False, *, dim: Axis = None, keepdim: bool = False
) -> Tensor:
    """Tells whether every element along axes is true (not 0).

    x: numbers or booleans, of any shape.
    axis: the axis or axes; None takes all elements.
    keepdims: keeps these axes, with length 1.
    dim, keepdim: PyTorch's names of axis and keepdims.
    Returns: booleans, of the shape of x without these axes; True of no elements.
    Raises: AxisError for an axis that x doesn't have.
    Source: Python array API standard 2024.12, `all`.
    """
    return _reduce(records.prod, _truth(x), _either(axis, dim), keepdims or keepdim) > 0
