"""Differences, integrals and running results along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..core import dtype as dt
from ..core.dtype import DType
from ..core.results import printed_as
from ..core.shape import check_axes, check_axis
from ..errors import OptionError, ShapeError
from ..tensor import Scalar, Tensor, asarray
from . import elementwise, reduction
from .arrange import Ordered
from .creation import arange
from .cumulative import cumulative_prod, cumulative_sum
from .indexing import take_along_axis
from .manipulation import broadcast_to, concat, pad, reshape
from .numbers import logaddexp
from .scattering import _along


def cumsum(input: Tensor, dim: int, *, dtype: DType | str | None = None) -> Tensor:
    """Computes the running sums along an axis.

    input: numbers or booleans, of any shape.
    dim: the axis.
    dtype: the type in which elements are added, and of the result; None is as for `sum`.
    Returns: the running sums, of the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.cumsum`.
    """
    return cumulative_sum(input, dim, dtype)


def cumprod(input: Tensor, dim: int, *, dtype: DType | str | None = None) -> Tensor:
    """Computes the running products along an axis.

    input: numbers or booleans, of any shape.
    dim: the axis.
    dtype: the type in which elements are multiplied, and of the result; None is as for `prod`.
    Returns: the running products, of the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.cumprod`.
    """
    return cumulative_prod(input, dim, dtype)


def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    axis: int | None = None,
) -> Tensor:
    """Subtracts neighbours along an axis, n times; of booleans, it tells whether they differ.

    input: numbers or booleans, with one axis or more.
    n: how often, 0 or more.
    dim: the axis.
    prepend, append: what is put before and after the elements first, of the same shape along all
      other axes.
    axis: the array API's name of dim.
    Returns: the differences, shorter by n along the axis.
    Raises: ShapeError for what does not fit before or after; OptionError for a negative n;
      AxisError for an axis that input doesn't have.
    Source: Python array API standard 2024.12, `diff`.
    """
    along = check_axis(dim if axis is None else axis, input.ndim, "diff")
    if n < 0:
        raise OptionError(f"diff: n must not be negative: {n}")
    if n and (prepend is not None or append is not None):
        parts = [each for each in (prepend, input, append) if each is not None]
        input = concat(parts, along)
    before = (slice(None),) * along
    for _ in range(n):
        later, earlier = input[(*before, slice(1, None))], input[(*before, slice(None, -1))]
        input = later != earlier if input.dtype == dt.bool_ else later - earlier
    return input


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Integrates along an axis by the trapezoidal rule.

    y: the values, numbers with one axis or more.
    x: the points of the values, a vector or in the shape of y; None if they are dx apart.
    dx: the distance of neighbours, without x.
    dim: the axis.
    Returns: the integrals, of the shape of y without that axis.
    Raises: AxisError for an axis that y doesn't have; ShapeError for points that do not broadcast.
    Source: PyTorch's documentation, `torch.trapezoid`.
    """
    axis = check_axis(dim, y.ndim, "trapezoid")
    before = (slice(None),) * axis
    middles = (y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]) * 0.5
    if x is None:
        return reduction.sum(middles, axis) * dx
    steps = diff(x, dim=-1 if x.ndim == 1 else axis)
    if x.ndim == 1:
        steps = reshape(steps, (-1, *(1,) * (y.ndim - axis - 1)))
    return reduction.sum(middles * steps, axis)


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1
) -> Tensor:
    """Computes the running integrals along an axis by the trapezoidal rule.

    y: the values, numbers with one axis or more.
    x: the points of the values, a vector or in the shape of y; None if they are dx apart.
    dx: the distance of neighbours, without x.
    dim: the axis.
    Returns: the running integrals: along the axis one element less than y has.
    Raises: AxisError for an axis that y doesn't have; ShapeError for points that do not broadcast.
    Source: PyTorch's documentation, `torch.cumulative_trapezoid`.
    """
    axis = check_axis(dim, y.ndim, "cumulative_trapezoid")
    before = (slice(None),) * axis
    middles = (y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]) * 0.5
    if x is None:
        return cumulative_sum(middles * dx, axis)
    steps = diff(x, dim=-1 if x.ndim == 1 else axis)
    if x.ndim == 1:
        steps = reshape(steps, (-1, *(1,) * (y.ndim - axis - 1)))
    return cumulative_sum(middles * steps, axis)


def gradient(
    input: Tensor,
    *,
    spacing: Scalar | Tensor | Sequence[Scalar | Tensor] = 1,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """Computes the slopes along axes by differences of neighbours, of second order within.

    input: numbers, with one axis or more; integers count as float32.
    spacing: the distance of elements, or one for each axis; or a vector of coordinates for each
      axis.
    dim: the axis or axes; None takes all.
    edge_order: the order of the slopes at both ends, 1 or 2.
    Returns: for each axis the slopes, of the shape of input.
    Raises: ShapeError for another number of spacings than axes, for coordinates that do not fit, or
      for an axis of fewer than edge_order + 1 elements; OptionError for another order; AxisError
      for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.gradient`.
    """
    if edge_order not in (1, 2):
        raise OptionError(f"gradient: edge_order {edge_order!r} is not 1 or 2")
    axes = range(input.ndim) if dim is None else check_axes(dim, input.ndim, "gradient")
    given = list(spacing) if isinstance(spacing, Sequence) else [spacing] * len(axes)
    if len(given) != len(axes):
        raise ShapeError(f"gradient: {len(given)} spacings for {len(axes)} axes")
    x = input if input.dtype.is_floating else input.astype(dt.float32)
    pairs = zip(axes, given, strict=True)
    return tuple(_slope(x, axis, each, edge_order) for axis, each in pairs)


def _slope(x: Tensor, axis: int, spacing: Scalar | Tensor, edge_order: int) -> Tensor:
    length = x.shape[axis]
    if length < edge_order + 1:
        raise ShapeError(f"gradient: {length} elements along axis {axis} are too few")

    def along(start: int, end: int | None) -> Tensor:
        return x[(*(slice(None),) * axis, slice(start, end))]

    if isinstance(spacing, Tensor) and spacing.ndim:
        if spacing.shape != (length,):
            raise ShapeError(f"gradient: coordinates {spacing.shape} of {length} elements")
        steps = reshape(diff(spacing).astype(x.dtype), (-1, *(1,) * (x.ndim - axis - 1)))
    else:
        whole = asarray(spacing).astype(x.dtype) + asarray([0.0] * (length - 1), x.dtype)
        steps = reshape(whole, (-1, *(1,) * (x.ndim - axis - 1)))
    rises = (along(1, None) - along(0, -1)) / steps
    before = (slice(None),) * axis

    def rise(start: int, end: int | None) -> Tensor:
        return rises[(*before, slice(start, end))]

    first, last = rise(0, 1), rise(-1, None)
    if length == 2:
        return concat([first, last], axis)
    left, right = steps[:-1], steps[1:]
    middle = (rise(0, -1) * right + rise(1, None) * left) / (left + right)
    if edge_order == 2:
        one, two = steps[:1], steps[1:2]
        first = first + (first - rise(1, 2)) * one / (one + two)
        one, two = steps[-1:], steps[-2:-1]
        last = last + (last - rise(-2, -1)) * one / (one + two)
    return concat([first, middle, last], axis)


def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """Computes log(cumsum(exp(input))) along an axis, without overflow, in log2(n) steps.

    input: numbers, of any shape.
    dim: the axis.
    Returns: the logarithms, of the shape of input.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.logcumsumexp`.
    """
    axis = check_axis(dim, input.ndim, "logcumsumexp") if input.ndim else 0
    length = input.shape[axis] if input.ndim else 1
    before, shift = (slice(None),) * axis, 1
    while shift < length:
        late, early = input[(*before, slice(shift, None))], input[(*before, slice(None, -shift))]
        nothing = (late == -math.inf) & (early == -math.inf)
        joined = logaddexp(
            elementwise.where(nothing, 0.0, late), elementwise.where(nothing, 0.0, early)
        )
        joined = elementwise.where(nothing, -math.inf, joined)
        input = concat([input[(*before, slice(None, shift))], joined], axis)
        shift *= 2
    return input


trapz = trapezoid


def _running(input: Tensor, dim: int, greatest: bool) -> Ordered:
    """The extreme elements so far along an axis, and their last indices, in log2(n) steps: see
    cumulative.py."""
    axis = check_axis(dim, input.ndim, "cummax" if greatest else "cummin")
    length = input.shape[axis]
    lines = broadcast_to(_along(arange(length), axis, input.ndim), input.shape)
    values, indices, shift = input.detach(), lines, 1
    while shift < length:
        moved = [(shift, -shift) if a == axis else (0, 0) for a in range(input.ndim)]
        before, there = pad(values, moved), pad(indices, moved)
        better = before > values if greatest else before < values
        if input.dtype.is_floating:  # a NaN stays
            better = better | (elementwise.isnan(before) & ~elementwise.isnan(values))
        better = better & (lines >= shift)
        values = elementwise.where(better, before, values)
        indices = elementwise.where(better, there, indices)
        shift *= 2
    return Ordered(take_along_axis(input, indices, axis), indices)


@printed_as("cummax")
def cummax(input: Tensor, dim: int) -> Ordered:
    """Finds the greatest elements so far along an axis, and their indices.

    input: numbers, with one axis or more; after a NaN, all are NaN.
    dim: the axis.
    Returns: (values, indices), both of the shape of input; of equal elements the last index.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.cummax`.
    """
    return _running(input, dim, True)


@printed_as("cummin")
def cummin(input: Tensor, dim: int) -> Ordered:
    """Finds the least elements so far along an axis, and their indices.

    input: numbers, with one axis or more; after a NaN, all are NaN.
    dim: the axis.
    Returns: (values, indices), both of the shape of input; of equal elements the last index.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.cummin`.
    """
    return _running(input, dim, False)
