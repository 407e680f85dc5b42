"""PyTorch's names for what depends on the order of elements: medians, quantiles, the order itself.

NaN is the last in all orders, as in NumPy.
"""

from __future__ import annotations

import math
from typing import Any

from ..core import dtype as dt
from ..core.shape import check_axis
from ..errors import OptionError, ShapeError
from ..tensor import Tensor, asarray
from . import elementwise, manipulation, reduction
from .arrange import Ordered, argsort, ordered
from .indexing import take_along_axis
from .manipulation import broadcast_to, expand_dims, reshape, squeeze


def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Ordered:
    """The k largest or smallest elements along an axis, in order, and their indices. Raises
    OptionError if there are fewer."""
    length = input.shape[check_axis(dim, input.ndim, "topk")]
    if not 0 <= k <= length:
        raise OptionError(f"topk: {k} of the {length} elements along axis {dim}")
    indices = argsort(input, dim, largest, k)
    return Ordered(take_along_axis(input, indices, dim), indices)


def msort(input: Tensor) -> Tensor:
    """The elements in order along the first axis."""
    return ordered(input, 0).values


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The element in the middle, the lower of two; along an axis also its index. NaN if there is
    one, and of no elements. Raises ShapeError for an empty axis."""
    if dim is None:
        return _middle_of_all(input, False)
    return _middle(input, dim, keepdim, False)


def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The `median` of the elements that are not NaN; NaN if all are."""
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


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Ordered:
    """The k-th smallest element along an axis, from 1 on, and its index. Raises OptionError if
    there are fewer."""
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
    """The elements below which the parts q lie, from 0 to 1, along an axis or of all.

    interpolation: between two elements: "linear", "lower", "higher", "midpoint" or "nearest". A
    vector q is the first axis of the result. NaN where an element along the axis is NaN. Raises
    OptionError for another interpolation, and for parts beyond 0 and 1 that are known; those that
    are computed give NaN there.
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
    """The `quantile` of the elements that are not NaN; NaN if all are."""
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


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Ordered:
    """The element that is most frequent along an axis, the least of such, and its last index. It
    compares all with all. Raises ShapeError for an empty axis."""
    _check_length(input, dim, "mode")
    axis = check_axis(dim, input.ndim, "mode")
    order = ordered(input, axis)
    equal = expand_dims(order.values, axis + 1) == expand_dims(order.values, axis)
    counts = reduction.sum(equal, axis + 1)
    first = reduction.argmax(counts, axis, True)
    last = first + elementwise.maximum(take_along_axis(counts, first, axis) - 1, 0)
    values, indices = (take_along_axis(each, last, axis) for each in order)
    return Ordered(*(each if keepdim else squeeze(each, axis) for each in (values, indices)))
