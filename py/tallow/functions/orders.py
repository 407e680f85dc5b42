"""PyTorch's names for what depends on the order of elements: medians, quantiles, indices in order.

NaN is the last in all orders, as in NumPy.
"""

from __future__ import annotations

import math
from typing import Any

from ..core import dtype as dt
from ..core.results import printed_as
from ..core.shape import check_axis
from ..errors import OptionError, ShapeError
from ..tensor import Tensor, asarray
from . import elementwise, manipulation, reduction
from .arrange import Ordered, argsort, ordered
from .indexing import take_along_axis
from .manipulation import broadcast_to, expand_dims, reshape, squeeze


@printed_as("topk")
def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Ordered:
    """Gives the k largest or smallest elements along an axis, and their indices.

    input: numbers, with one axis or more.
    k: how many elements.
    dim: the axis.
    largest: whether they are the largest; without it, the smallest.
    sorted: changes nothing, since they are always in order.
    Returns: (values, indices), k of them along the axis.
    Raises: OptionError for a negative k, or for more than there are; AxisError for an axis that
      input doesn't have.
    Source: PyTorch's documentation, `torch.topk`.
    """
    length = input.shape[check_axis(dim, input.ndim, "topk")]
    if not 0 <= k <= length:
        raise OptionError(f"topk: {k} of the {length} elements along axis {dim}")
    indices = argsort(input, dim, largest, k)
    return Ordered(take_along_axis(input, indices, dim), indices)


def msort(input: Tensor) -> Tensor:
    """Sorts the elements along the first axis.

    input: numbers or booleans, with one axis or more.
    Returns: the elements in order, of the shape and the type of input.
    Raises: AxisError for a tensor without axes.
    Source: PyTorch's documentation, `torch.msort`.
    """
    return ordered(input, 0).values


@printed_as("median")
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Gives the element in the middle, the lower of two; NaN if there is one, and of no elements.

    input: numbers, of any shape.
    dim: the axis; None takes all elements.
    keepdim: keeps this axis, with length 1.
    Returns: the median of all; along an axis (values, indices), of the shape of input without this
      axis.
    Raises: ShapeError for an empty axis; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.median`.
    """
    if dim is None:
        return _middle_of_all(input, False)
    return _middle(input, dim, keepdim, False)


@printed_as("nanmedian")
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Gives the `median` of the elements that are not NaN; NaN if all are.

    input: numbers, of any shape.
    dim: the axis; None takes all elements.
    keepdim: keeps this axis, with length 1.
    Returns: the median of all; along an axis (values, indices), of the shape of input without this
      axis.
    Raises: ShapeError for an empty axis; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.nanmedian`.
    """
    if dim is None:
        return _middle_of_all(input, True)
    return _middle(input, dim, keepdim, True)


def _middle_of_all(input: Tensor, numbers: bool) -> Tensor:
    if not input.size and input.dtype.is_floating:
        return reduction.mean(input)
    return _middle(reshape(input, (input.size,)), 0, False, numbers).values


def _middle(input: Tensor, dim: int, keepdim: bool, numbers: bool) -> Ordered:
    """The median along an axis: of the numbers, or the first NaN if there is one."""
    what = "nanmedian" if numbers else "median"
    length = _check_length(input, dim, what)
    if not input.dtype.is_floating:
        return kthvalue(input, (length + 1) // 2, dim, keepdim)
    axis = check_axis(dim, input.ndim, what)
    order = ordered(input, axis)  # NaN last
    there = ~elementwise.isnan(input)
    count = reduction.sum(there, axis, True)
    if numbers:
        middle = elementwise.maximum(count - 1, 0) >> 1
    else:
        middle = elementwise.where(count < length, count, (length - 1) // 2)
    values, indices = (take_along_axis(each, middle, axis) for each in order)
    return Ordered(*(each if keepdim else squeeze(each, axis) for each in (values, indices)))


@printed_as("kthvalue")
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Ordered:
    """Gives the k-th smallest element along an axis, and its index.

    input: numbers, with one axis or more.
    k: which element, counted from 1.
    dim: the axis.
    keepdim: keeps this axis, with length 1.
    Returns: (values, indices), of the shape of input without this axis.
    Raises: OptionError if there are fewer than k; ShapeError for an empty axis; AxisError for an
      axis that input doesn't have.
    Source: PyTorch's documentation, `torch.kthvalue`.
    """
    length = _check_length(input, dim, "kthvalue")
    if not 1 <= k <= length:
        raise OptionError(f"kthvalue: {k} of the {length} elements along axis {dim}")
    axis = check_axis(dim, input.ndim, "kthvalue")
    order = ordered(input, axis)
    key = (slice(None),) * axis + (slice(k - 1, k),)
    values, indices = order.values[key], order.indices[key]
    if keepdim:
        return Ordered(values, indices)
    return Ordered(squeeze(values, axis), squeeze(indices, axis))


def _check_length(input: Tensor, dim: int, what: str) -> int:
    length = input.shape[check_axis(dim, input.ndim, what)]
    if not length:
        raise ShapeError(f"{what}: axis {dim} of shape {input.shape} is empty")
    return length


def quantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Computes quantiles: the elements below which the parts q lie.

    input: numbers, of any shape; integers count as float32.
    q: the parts, from 0 to 1: a number, or a vector, which is the first axis of the result. Parts
      that are computed give NaN beyond 0 and 1.
    dim: the axis; None takes all elements.
    keepdim: keeps this axis, with length 1.
    interpolation: between two elements: "linear", "lower", "higher", "midpoint" or "nearest".
    Returns: the quantiles; NaN where an element along the axis is NaN.
    Raises: OptionError for another interpolation, and for known parts beyond 0 and 1; ShapeError
      for an empty axis; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.quantile`.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation)


def nanquantile(
    input: Tensor,
    q: float | Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Gives the `quantile` of the elements that are not NaN; NaN if all are.

    input: numbers, of any shape; integers count as float32.
    q: the parts, from 0 to 1: a number, or a vector, which is the first axis of the result. Parts
      that are computed give NaN beyond 0 and 1.
    dim: the axis; None takes all elements.
    keepdim: keeps this axis, with length 1.
    interpolation: between two elements: "linear", "lower", "higher", "midpoint" or "nearest".
    Returns: the quantiles.
    Raises: OptionError for another interpolation, and for known parts beyond 0 and 1; ShapeError
      for an empty axis; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.nanquantile`.
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation)


def _quantile(
    what: str,
    input: Tensor,
    q: float | Tensor,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
) -> Tensor:
    ways = ("linear", "lower", "higher", "midpoint", "nearest")
    if interpolation not in ways:
        raise OptionError(f"{what}: interpolation {interpolation!r} is not one of {ways}")
    x = elementwise.floating(reshape(input, (input.size,)) if dim is None else input)
    axis = check_axis(0 if dim is None else dim, x.ndim, what)
    length = _check_length(x, axis, what)
    given = q if isinstance(q, Tensor) else asarray(q, x.dtype)
    if given.node.is_constant:
        beyond = [part for part in given.node.attrs["data"].flat() if not 0 <= part <= 1]
        if beyond:
            raise OptionError(f"{what}: the part {beyond[0]} is not from 0 to 1")
    parts = reshape(given.astype(x.dtype), (given.size,))
    parts = elementwise.where((parts >= 0) & (parts <= 1), parts, math.nan)
    missing = elementwise.isnan(x)
    column = (given.size, *(1,) * (x.ndim - axis - 1))
    if what == "quantile":
        last: Tensor | int = length - 1
        at = reshape(parts, column) * last
    else:  # the last index differs from line to line, and with it the indices along all axes
        last = elementwise.maximum(reduction.sum(~missing, axis, True) - 1, 0).astype(x.dtype)
        at = reshape(parts, column) * last
    low = elementwise.floor(elementwise.where(elementwise.isnan(at), 0.0, at))
    high = elementwise.minimum(low + 1.0, last)
    weight = at - low
    if interpolation != "linear":
        chosen: Tensor | float = {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}.get(
            interpolation, elementwise.round(at) - low
        )
        weight = elementwise.where(weight == 0, 0.0, chosen)
    sorted_x = ordered(x, axis).values
    shape = tuple(given.size if a == axis else size for a, size in enumerate(x.shape))
    bounds = (broadcast_to(each.astype(dt.int32), shape) for each in (low, high))
    below, above = (take_along_axis(sorted_x, each, axis) for each in bounds)
    found = elementwise.where(weight == 0, below, below + (above - below) * weight)
    if what == "quantile":
        found = elementwise.where(reduction.any(missing, axis, True), math.nan, found)
    order = (axis, *(a for a in range(x.ndim) if a != axis))
    found = manipulation.permute_dims(found, order)  # the parts first
    if keepdim:
        kept = (1,) * input.ndim if dim is None else tuple(
            1 if a == axis else size for a, size in enumerate(x.shape)
        )  # fmt: skip
        found = reshape(found, (found.shape[0], *kept))
    return found if given.ndim else squeeze(found, 0)


@printed_as("mode")
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Ordered:
    """Finds the most frequent element along an axis, the least of several, and its last index.

    It compares all elements with all.

    input: numbers, with one axis or more.
    dim: the axis.
    keepdim: keeps this axis, with length 1.
    Returns: (values, indices), of the shape of input without this axis.
    Raises: ShapeError for an empty axis; AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.mode`.
    """
    _check_length(input, dim, "mode")
    axis = check_axis(dim, input.ndim, "mode")
    order = ordered(input, axis)
    equal = expand_dims(order.values, axis + 1) == expand_dims(order.values, axis)
    counts = reduction.sum(equal, axis + 1)
    first = reduction.argmax(counts, axis, True)
    last = first + elementwise.maximum(take_along_axis(counts, first, axis) - 1, 0)
    values, indices = (take_along_axis(each, last, axis) for each in order)
    return Ordered(*(each if keepdim else squeeze(each, axis) for each in (values, indices)))
