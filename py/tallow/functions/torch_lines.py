"""PyTorch's names for what is computed along axes: integrals, slopes, distances, counts, windows;
see torch_math.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .. import dtype as dt
from ..dtype import DType
from ..errors import OptionError, ShapeError
from ..shape import check_axes, check_axis
from ..tensor import Scalar, Tensor, asarray
from . import creation, elementwise, reduction
from .arrange import ordered
from .creation import arange, placed
from .cumulative import cumulative_sum
from .elementwise import clip
from .manipulation import concat, expand_dims, reshape, stack
from .torch_elements import diag, diagonal, norm, outer
from .torch_math import cov, diff, logaddexp, trapezoid
from .torch_names import bmm

# ---- integrals and slopes ------------------------------------------------------------------------


def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1
) -> Tensor:
    """The running integral along an axis by the trapezoidal rule, at points x or dx apart: one
    element less than y has."""
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
    """The slopes along axes by differences of neighbours, of second order within.

    spacing: the distance of elements, or one for each axis; or a vector of places for each axis.
    edge_order: that of the slopes at both ends, 1 or 2. Raises ShapeError for another number of
    spacings than axes, or for an axis of fewer than edge_order + 1 elements, OptionError for
    another order.
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
            raise ShapeError(f"gradient: places {spacing.shape} of {length} elements")
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
    """log(cumsum(exp(input))) along an axis, without overflow, in log2(n) steps."""
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


# ---- products and orders -------------------------------------------------------------------------


def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)."""
    return input * beta + outer(vec1, vec2) * alpha


def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * the sum of the products of two batches of matrices."""
    return input * beta + reduction.sum(bmm(batch1, batch2), 0) * alpha


def msort(input: Tensor) -> Tensor:
    """The elements in order along the first axis."""
    return ordered(input, 0).values


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements, in order, on a diagonal."""
    return diag(reshape(input, (-1,)), offset)


def unravel_index(indices: Tensor, shape: Sequence[int]) -> tuple[Tensor, ...]:
    """Places among all elements of a shape as indices along each axis."""
    found: list[Tensor] = []
    for size in reversed(tuple(shape)):
        found.insert(0, indices % size)
        indices = indices // size
    return tuple(found)


# ---- distances -----------------------------------------------------------------------------------


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Slices along an axis, of which those with a p-norm above maxnorm are shortened to it."""
    axis = check_axis(dim, input.ndim, "renorm")
    others = [each for each in range(input.ndim) if each != axis]
    length = norm(input, p, others, True)
    over = length > maxnorm
    return input * elementwise.where(over, maxnorm / (length + 1e-7), 1.0)


def corrcoef(input: Tensor) -> Tensor:
    """The correlations of the rows of a matrix: their covariances, divided by both deviations."""
    found = cov(input)
    if not found.ndim:
        return found / found
    deviation = elementwise.sqrt(diagonal(found))
    return clip(found / deviation[:, None] / deviation[None, :], -1.0, 1.0)


# ---- counts and series ---------------------------------------------------------------------------


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall into each of several intervals of the same length, in the type of
    input. min, max: their ends, of which elements beyond do not count; both 0: those of the
    elements. Raises OptionError for no intervals, or ends in the wrong order."""
    if bins < 1 or min > max:
        raise OptionError(f"histc: {bins} intervals from {min} to {max}")
    x = reshape(input.detach(), (-1,))
    low, high = asarray(float(min), x.dtype), asarray(float(max), x.dtype)
    if min == max == 0 and x.node.size:
        low, high = reduction.min(x), reduction.max(x)
    alone = low == high
    low, high = elementwise.where(alone, low - 1.0, low), elementwise.where(alone, high + 1.0, high)
    place = elementwise.floor((x - low) / (high - low) * float(bins))
    place = elementwise.where(x == high, bins - 1.0, place)
    inside = (x >= low) & (x <= high)
    here = (expand_dims(place, -1) == arange(bins).astype(x.dtype)) & expand_dims(inside, -1)
    return reduction.sum(here.astype(dt.int32), 0).astype(x.dtype)


class Histogram(NamedTuple):
    """How many elements fall into intervals, and their ends."""

    hist: Tensor
    bin_edges: Tensor


def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """How many elements, or how much of their weights, fall into intervals: bins is their number,
    or their ends in order. range: the first and the last end; without it, those of the elements.
    density: divided by the whole and by the length of each. Raises OptionError for no intervals."""
    x = reshape(input.detach(), (-1,))
    if isinstance(bins, Tensor):
        ends = bins.astype(x.dtype)
    elif bins < 1:
        raise OptionError(f"histogram: {bins} intervals")
    else:
        if range is None:
            low, high = reduction.min(x), reduction.max(x)
        else:
            low, high = (asarray(float(end), x.dtype) for end in range)
        alone = low == high
        low, high = (
            elementwise.where(alone, low - 0.5, low),
            elementwise.where(alone, high + 0.5, high),
        )
        ends = low + (high - low) * (arange(bins + 1).astype(x.dtype) * (1 / bins))
        ends = elementwise.where(arange(bins + 1) == bins, high, ends)
    wide = expand_dims(x, -1)
    last = arange(ends.shape[0] - 1) == ends.shape[0] - 2
    here = (wide >= ends[:-1]) & ((wide < ends[1:]) | (last & (wide == ends[1:])))
    weights = 1.0 if weight is None else expand_dims(reshape(weight, (-1,)), -1)
    counts = reduction.sum(here.astype(x.dtype) * weights, 0)
    if density:
        counts = counts / (reduction.sum(counts) * (ends[1:] - ends[:-1]))
    return Histogram(counts, ends)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """A matrix of the powers of a vector's elements: a row each, from the highest of N on, or
    increasing. Raises ShapeError for what is no vector."""
    if x.ndim != 1:
        raise ShapeError(f"vander: {x.shape} is no vector")
    count = x.shape[0] if N is None else N
    powers: list[Tensor] = []
    for n in range(count):
        powers.append(powers[-1] * x if n else creation.full_like(x, 1))
    if not powers:
        return x[:, None][:, :0]
    return stack(powers if increasing else powers[::-1], -1)


# ---- windows -------------------------------------------------------------------------------------


def _window(
    of: Callable[[float], float],
    length: int,
    periodic: bool,
    dtype: DType | str | None,
    device: str | None,
    requires_grad: bool,
) -> Tensor:
    """The values of a function of 0 to 1 at that many places: both ends, or without the last."""
    if length < 0:
        raise OptionError(f"a window of {length} elements")
    steps = length if periodic else length - 1
    values = [1.0] if length == 1 else [of(n / steps) for n in range(length)]
    return placed(asarray(values, dtype or dt.float32), device, requires_grad)


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle from 0 to 1 and back. periodic: the last element, which is as the first, is left
    out. Raises OptionError for a negative length, as all windows do."""
    return _window(
        lambda x: 1 - abs(2 * x - 1), window_length, periodic, dtype, device, requires_grad
    )


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Blackman's window, of cosines of two frequencies; the rest as for `bartlett_window`."""

    def of(x: float) -> float:
        return 0.42 - 0.5 * math.cos(2 * math.pi * x) + 0.08 * math.cos(4 * math.pi * x)

    return _window(of, window_length, periodic, dtype, device, requires_grad)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - beta * cos: Hamming's window; the rest as for `bartlett_window`."""

    def of(x: float) -> float:
        return alpha - beta * math.cos(2 * math.pi * x)

    return _window(of, window_length, periodic, dtype, device, requires_grad)


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """(1 - cos) / 2: Hann's window; the rest as for `bartlett_window`."""
    return _window(
        lambda x: math.sin(math.pi * x) ** 2, window_length, periodic, dtype, device, requires_grad
    )


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DType | str | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's window, of modified Bessel functions; beta: how narrow it is; the rest as for
    `bartlett_window`."""

    def bessel(x: float) -> float:
        term = total = 1.0
        for k in range(1, 500):
            term *= (x / (2 * k)) ** 2
            total += term
        return total

    def of(x: float) -> float:
        return bessel(beta * math.sqrt(max(1 - (2 * x - 1) ** 2, 0.0))) / bessel(beta)

    return _window(of, window_length, periodic, dtype, device, requires_grad)


trapz = trapezoid
