"""Moments, covariances, histograms, extremes."""

from __future__ import annotations

from typing import NamedTuple

from ..core import dtype as dt
from ..core.results import printed_as
from ..errors import DTypeError, OptionError, ShapeError
from ..tensor import Tensor, asarray, host_values
from . import elementwise, manipulation, reduction
from .arithmetic import isfinite
from .creation import arange
from .elementwise import clip
from .linear_algebra import matmul
from .manipulation import broadcast_to, expand_dims, reshape
from .reduction import Axis
from .shapes import diagonal


def logsumexp(input: Tensor, dim: Axis, keepdim: bool = False) -> Tensor:
    """Computes log(sum(exp(input))) over axes, which does not overflow.

    input: numbers, of any shape.
    dim: the axis or axes; None takes all.
    keepdim: keeps these axes, with length 1.
    Returns: the logarithms, of the shape of input without these axes.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.logsumexp`.
    """
    if not input.size:
        return elementwise.log(reduction.sum(elementwise.exp(input), dim, keepdim))
    peak = reduction.max(input, dim, True)
    peak = elementwise.where(isfinite(peak), peak, 0.0).detach()
    total = reduction.sum(elementwise.exp(input - peak), dim, True)
    found = elementwise.log(total) + peak
    return found if keepdim else manipulation.squeeze(found, dim)


def amax(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """Gives the largest elements along axes, or of all; equal ones share the gradient.

    input: numbers, of any shape.
    dim: the axis or axes; None takes all.
    keepdim: keeps these axes, with length 1.
    Returns: the largest elements, of the shape of input without these axes, in its type.
    Raises: ShapeError over an empty axis; AxisError for an axis that input doesn't have; DTypeError
      for booleans.
    Source: PyTorch's documentation, `torch.amax`.
    """
    return reduction.max(input, dim, keepdim)


def amin(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """Gives the smallest elements along axes, or of all; equal ones share the gradient.

    input: numbers, of any shape.
    dim: the axis or axes; None takes all.
    keepdim: keeps these axes, with length 1.
    Returns: the smallest elements, of the shape of input without these axes, in its type.
    Raises: ShapeError over an empty axis; AxisError for an axis that input doesn't have; DTypeError
      for booleans.
    Source: PyTorch's documentation, `torch.amin`.
    """
    return reduction.min(input, dim, keepdim)


class Bounds(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor


@printed_as("aminmax")
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Bounds:
    """Gives the smallest and the largest elements along an axis, or of all.

    input: numbers, of any shape.
    dim: the axis; None takes all.
    keepdim: keeps this axis, with length 1.
    Returns: (min, max), of the shape of input without this axis, in its type.
    Raises: ShapeError over an empty axis; AxisError for an axis that input doesn't have; DTypeError
      for booleans.
    Source: PyTorch's documentation, `torch.aminmax`.
    """
    return Bounds(reduction.min(input, dim, keepdim), reduction.max(input, dim, keepdim))


def nansum(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """Sums the elements that are not NaN.

    input: numbers, of any shape.
    dim: the axis or axes; None takes all.
    keepdim: keeps these axes, with length 1.
    Returns: the sums, of the shape of input without these axes.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.nansum`.
    """
    return reduction.sum(elementwise.where(elementwise.isnan(input), 0.0, input), dim, keepdim)


def nanmean(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """Computes the mean of the elements that are not NaN.

    input: numbers, of any shape.
    dim: the axis or axes; None takes all.
    keepdim: keeps these axes, with length 1.
    Returns: the means, of the shape of input without these axes; NaN where all are.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.nanmean`.
    """
    there = (~elementwise.isnan(input)).astype(input.dtype)
    return nansum(input, dim, keepdim) / reduction.sum(there, dim, keepdim)


def var_mean(
    input: Tensor,
    dim: Axis = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes the variance and the mean.

    input: numbers, of any shape.
    dim: the axis or axes; None takes all.
    unbiased: whether correction is 1 by default, else 0.
    keepdim: keeps these axes, with length 1.
    correction: the squared distances from the mean are divided by the number of elements less this;
      None follows unbiased.
    Returns: (variance, mean), of the shape of input without these axes.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.var_mean`.
    """
    return (
        reduction.var(input, dim, float(unbiased) if correction is None else correction, keepdim),
        reduction.mean(input, dim, keepdim),
    )


def std_mean(
    input: Tensor,
    dim: Axis = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """Computes the square root of the variance, and the mean.

    input: numbers, of any shape.
    dim: the axis or axes; None takes all.
    unbiased: whether correction is 1 by default, else 0.
    keepdim: keeps these axes, with length 1.
    correction: the squared distances from the mean are divided by the number of elements less this;
      None follows unbiased.
    Returns: (standard deviation, mean), of the shape of input without these axes.
    Raises: AxisError for an axis that input doesn't have.
    Source: PyTorch's documentation, `torch.std_mean`.
    """
    return (
        reduction.std(input, dim, float(unbiased) if correction is None else correction, keepdim),
        reduction.mean(input, dim, keepdim),
    )


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Computes the covariances of the rows of a matrix, or the variance of a vector.

    input: a matrix (m, n), a row for each variable; a vector, or a single number.
    correction: the sums are divided by the number of columns less this.
    fweights: (n,), how often each column counts; None counts each once.
    aweights: (n,), how much each column counts; None counts all alike.
    Returns: the covariances (m, m), or the variance, a single number.
    Raises: ShapeError for more than two axes, and for weights that do not fit.
    Source: PyTorch's documentation, `torch.cov`.
    """
    if input.ndim > 2:
        raise ShapeError(f"cov: {input.shape} has more than 2 axes")
    whole = (1, 1, *input.shape)[-2:]
    rows = reshape(elementwise.floating(input), whole)
    weights = asarray(1.0, rows.dtype) if fweights is None else fweights.astype(rows.dtype)
    weights = weights if aweights is None else weights * aweights.astype(rows.dtype)
    weights = broadcast_to(weights, rows.shape[-1:])
    total = reduction.sum(weights)
    centred = rows - reduction.sum(rows * weights, 1, True) / total
    divisor = total
    if aweights is None:
        divisor = total - correction
    elif correction:
        divisor = total - reduction.sum(weights * aweights) / total * correction
    found = matmul(centred * weights, centred.mT) / elementwise.maximum(divisor, 0)
    return reshape(found, ()) if input.ndim < 2 else found


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Counts how often each whole number occurs, or sums its weights. Reads the largest and the
    smallest, and blocks.

    input: a vector (n,) of integers from 0 on, or of booleans.
    weights: (n,), how much each element counts; None counts each once.
    minlength: the least length of the result.
    Returns: the counts, or the sums, of 0, 1 and so on, a vector.
    Raises: ShapeError for what is no vector; DTypeError for what is not whole; OptionError for a
      negative number or minlength.
    Source: PyTorch's documentation, `torch.bincount`.
    """
    if input.ndim != 1 or (weights is not None and weights.shape != input.shape):
        more = "" if weights is None else f" with weights {weights.shape}"
        raise ShapeError(f"bincount: {input.shape}{more} is not a vector")
    if input.dtype.is_floating:
        raise DTypeError(f"bincount: takes integers, not {input.dtype.name}")
    if minlength < 0:
        raise OptionError(f"bincount: minlength must not be negative: {minlength}")
    length = minlength
    if input.size:
        whole = input.astype(dt.int32) if input.dtype == dt.bool_ else input
        ends = host_values([reduction.min(whole), reduction.max(whole)])
        least, most = (int(end.item()) for end in ends)
        if least < 0:
            raise OptionError(f"bincount: takes no negative numbers, but there is {least}")
        length = max(length, most + 1)
    here = expand_dims(input, -1) == arange(length)
    if weights is None:
        return reduction.sum(here, 0)
    return reduction.sum(elementwise.where(here, expand_dims(weights, -1), 0.0), 0)


def corrcoef(input: Tensor) -> Tensor:
    """Computes the correlations of the rows of a matrix: their covariances, divided by both
    deviations.

    input: a matrix (m, n), a row for each variable; or a vector.
    Returns: the correlations (m, m), from -1 to 1.
    Raises: ShapeError for more than two axes.
    Source: PyTorch's documentation, `torch.corrcoef`.
    """
    found = cov(input)
    if not found.ndim:
        return found / found
    deviation = elementwise.sqrt(diagonal(found))
    return clip(found / deviation[:, None] / deviation[None, :], -1.0, 1.0)


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Counts how many elements fall into each of several intervals of the same length.

    input: numbers, of any shape.
    bins: how many intervals.
    min, max: the ends of all of them, of which elements beyond do not count; both 0: the least and
      the greatest element.
    Returns: the counts, a vector (bins,), in the type of input.
    Raises: OptionError for no intervals, or ends in the wrong order.
    Source: PyTorch's documentation, `torch.histc`.
    """
    if bins < 1 or min > max:
        raise OptionError(f"histc: {bins} intervals from {min} to {max}")
    x = reshape(input.detach(), (-1,))
    low, high = asarray(float(min), x.dtype), asarray(float(max), x.dtype)
    if min == max == 0 and x.node.size:
        low, high = reduction.min(x), reduction.max(x)
    alone = low == high
    low, high = elementwise.where(alone, low - 1.0, low), elementwise.where(alone, high + 1.0, high)
    bin_index = elementwise.floor((x - low) / (high - low) * float(bins))
    bin_index = elementwise.where(x == high, bins - 1.0, bin_index)
    inside = (x >= low) & (x <= high)
    here = (expand_dims(bin_index, -1) == arange(bins).astype(x.dtype)) & expand_dims(inside, -1)
    return reduction.sum(here.astype(dt.int32), 0).astype(x.dtype)


class Histogram(NamedTuple):
    """How many elements fall into intervals, and their ends."""

    hist: Tensor
    bin_edges: Tensor


@printed_as("histogram")
def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: tuple[float, float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """Counts how many elements, or how much of their weights, fall into intervals.

    input: numbers, of any shape.
    bins: how many intervals of the same length, or a vector of their ends in order.
    range: the first and the last end; None: the least and the greatest element.
    weight: how much each element counts, in the shape of input; None counts each once.
    density: whether the counts are divided by the whole and by the length of each interval.
    Returns: (hist, bin_edges): the counts, and the ends of the intervals, one more.
    Raises: OptionError for no intervals.
    Source: PyTorch's documentation, `torch.histogram`.
    """
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
