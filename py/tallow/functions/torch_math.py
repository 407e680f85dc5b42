"""PyTorch's names for functions of elements, reductions and products that are made of others.

`tallow` offers those of __all__, and imports this file when one is first asked for. Arguments are
named as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .. import dtype as dt
from ..errors import DTypeError, OptionError, ShapeError
from ..shape import check_axis
from ..tensor import Scalar, Tensor, asarray, host_values
from . import elementwise, manipulation, reduction
from .creation import arange
from .indexing import take, take_along_axis
from .linear_algebra import matmul
from .manipulation import broadcast_to, concat, expand_dims, reshape
from .torch_elements import diagonal

Axis = int | Sequence[int] | None


class Bounds(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor


# ---- elements ------------------------------------------------------------------------------------


def _where(condition: Tensor, x: Tensor | Scalar, y: Tensor | Scalar) -> Tensor:
    return elementwise.where(condition, x, y)


def _floating(x: Tensor) -> Tensor:
    return x if x.dtype.is_floating else x.astype(dt.float32)


def signbit(input: Tensor) -> Tensor:
    """Where elements are negative, -0.0 among them."""
    x = input
    if not x.dtype.is_floating:
        return x < 0
    return (x < 0) | ((x == 0) & (1.0 / x < 0))


def copysign(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """The size of input with the sign of other."""
    size = elementwise.abs(_floating(input))
    return _where(signbit(_floating(asarray(other))), -size, size)


def atan2(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """The angle of the point (other, input) from the first axis, from -pi to pi."""
    y, x = _floating(input), _floating(asarray(other))
    steep = elementwise.abs(y) > elementwise.abs(x)
    # At the origin nothing depends on the point, as in PyTorch.
    nowhere = (y == 0) & (x == 0)
    x, y = _where(nowhere, x.detach(), x), _where(nowhere, y.detach(), y)
    upper, lower = _where(steep, x, y), _where(steep, y, x)
    endless = elementwise.isinf(upper)  # so that both are
    upper = _where(endless, elementwise.sign(upper), upper)
    lower = _where(endless, elementwise.sign(lower), _where(lower == 0, 1.0, lower))
    angle = elementwise.atan(upper / lower)
    half = _where(y > 0, asarray(math.pi / 2, y.dtype), -math.pi / 2)
    around = _where(signbit(y), asarray(-math.pi, y.dtype), math.pi)
    behind = _where(signbit(x), around, 0.0)
    return _where(steep, half - angle, angle + behind).astype(y.dtype)


def hypot(input: Tensor, other: Tensor) -> Tensor:
    """sqrt(input² + other²), without overflow."""
    x, y = _floating(input), _floating(asarray(other))
    swapped = elementwise.abs(y) > elementwise.abs(x)
    longer, shorter = _where(swapped, y, x), _where(swapped, x, y)
    endless = elementwise.isinf(longer)
    ratio = shorter / _where(longer == 0, 1.0, longer)
    found = elementwise.abs(longer) * elementwise.sqrt(ratio * ratio + 1.0)
    return _where(endless, math.inf, found)


def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """log(exp(input) + exp(other)), without overflow."""
    a, b = input, other
    least = elementwise.exp(-elementwise.abs(a - b))
    found = elementwise.maximum(a, b) + elementwise.log1p(least)
    return _where(a == b, (a + b) * 0.5 + math.log(2), found)


def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """log2(2 ** input + 2 ** other), without overflow."""
    return logaddexp(input * math.log(2), other * math.log(2)) * (1 / math.log(2))


def exp2(input: Tensor) -> Tensor:
    """2 to the power of each element."""
    return elementwise.exp(_floating(input) * math.log(2))


def erfc(input: Tensor) -> Tensor:
    """1 - erf(input), with its digits where that is small too."""
    x = _floating(input)
    size = elementwise.abs(x)
    held = elementwise.minimum(size, 30.0)
    # The square in two parts, as the exponential needs more digits than one has.
    high = elementwise.floor(held * 256.0) * (1 / 256)
    rest = (high - held) * (high + held)
    t, series = _erfc_series(held)
    tail = t * elementwise.exp(-(high * high)) * elementwise.exp(series + rest)
    found = _where(x < 0, 2.0 - tail, tail)
    # In float64, erf has more digits than the series.
    near = size < (0.5 if x.dtype.size < 8 else 4.0)
    return _where(near | elementwise.isnan(x), 1.0 - elementwise.erf(x), found)


def log_erfcx(x: Tensor) -> Tensor:
    """log(exp(x²) erfc(x)), of elements that are not negative."""
    t, series = _erfc_series(x)
    return elementwise.log(t) + series


def _erfc_series(x: Tensor) -> tuple[Tensor, Tensor]:
    t = 1.0 / (x * 0.5 + 1.0)
    series = t * _ERFC[-1] + _ERFC[-2]
    for factor in reversed(_ERFC[:-2]):
        series = series * t + factor
    return t, series


_ERFC = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398,
    1.48851587, -0.82215223, 0.17087277,
)  # fmt: skip
"""erfc(x) = t exp(-x² + the series in t), t = 1 / (1 + x / 2), to 1.2e-7 of it (Press et al.,
"Numerical Recipes", erfcc)."""


def sinc(input: Tensor) -> Tensor:
    """sin(pi x) / (pi x); 1 at 0."""
    x = _floating(input) * math.pi
    # Within 1 the series, of which every derivative is right; those of the quotient cancel there.
    near = elementwise.abs(x) < 1
    held = _where(near, x, 0.0)
    square = held * held
    series = square * (-1.0 / math.factorial(19)) + 1.0 / math.factorial(17)
    for k in range(7, -1, -1):
        series = series * square + (-1) ** k / math.factorial(2 * k + 1)
    far = _where(near, 1.0, x)
    return _where(near, series, elementwise.sin(far) / far)


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)); eps: x is clamped to eps and 1 - eps first."""
    x = input if eps is None else elementwise.clip(input, eps, 1 - eps)
    return elementwise.log(x) - elementwise.log1p(-x)


def xlogy(input: Tensor, other: Tensor) -> Tensor:
    """input * log(other); 0 where input is 0 and other is a number."""
    endless = (other <= 0) | (other == math.inf)  # elsewhere the product has the right gradients
    nothing = (input == 0) & endless
    return _where(nothing, 0.0, input * elementwise.log(_where(nothing, 1.0, other)))


def deg2rad(input: Tensor) -> Tensor:
    """Angles in degrees as radians."""
    return input * (math.pi / 180)


def rad2deg(input: Tensor) -> Tensor:
    """Angles in radians as degrees."""
    return input * (180 / math.pi)


def frac(input: Tensor) -> Tensor:
    """input less its whole part, with the same sign."""
    return input - elementwise.trunc(input)


def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 for negative elements, 1 for positive ones, `values` at 0."""
    return _where(input == 0, values, (input > 0).astype(input.dtype))


def nan_to_num(
    input: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Numbers instead of NaN and infinities; these become the largest of the type by default."""
    most = {2: 65504.0, 8: 1.7976931348623157e308}.get(input.dtype.size, 3.4028234663852886e38)
    x = _where(elementwise.isnan(input), nan, input)
    x = _where(x == math.inf, most if posinf is None else posinf, x)
    return _where(x == -math.inf, -most if neginf is None else neginf, x)


# ---- reductions ----------------------------------------------------------------------------------


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Bounds:
    """The smallest and the largest elements along an axis, or of all."""
    return Bounds(reduction.min(input, dim, keepdim), reduction.max(input, dim, keepdim))


def count_nonzero(input: Tensor, dim: Axis = None) -> Tensor:
    """How many elements are not 0, along axes or of all; int32."""
    return reduction.sum(input != 0, dim)


def nansum(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """The sum of the elements that are not NaN."""
    return reduction.sum(_where(elementwise.isnan(input), 0.0, input), dim, keepdim)


def nanmean(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """The mean of the elements that are not NaN."""
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
    """The variance, divided by the count less `correction`, which is 1, or 0 if not unbiased, and
    the mean."""
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
    """The square root of the variance of `var_mean`, and the mean."""
    return (
        reduction.std(input, dim, float(unbiased) if correction is None else correction, keepdim),
        reduction.mean(input, dim, keepdim),
    )


def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    axis: int | None = None,
) -> Tensor:
    """The differences of neighbours along an axis, n times; of booleans, whether they differ.

    dim: the axis, which the array API names axis. prepend, append: what is put before and after
    the elements first, of the same shape along all other axes. Raises ShapeError for others,
    OptionError for a negative n.
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
    """The integral along an axis by the trapezoidal rule, at points x or dx apart."""
    axis = check_axis(dim, y.ndim, "trapezoid")
    before = (slice(None),) * axis
    middles = (y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]) * 0.5
    if x is None:
        return reduction.sum(middles, axis) * dx
    steps = diff(x, dim=-1 if x.ndim == 1 else axis)
    if x.ndim == 1:
        steps = reshape(steps, (-1, *(1,) * (y.ndim - axis - 1)))
    return reduction.sum(middles * steps, axis)


# ---- products ------------------------------------------------------------------------------------


def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products along the last axes. Raises ShapeError if they differ."""
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise ShapeError(f"inner: the last axes of {input.shape} and {other.shape} differ")
    return tensordot(input, other, ([-1], [-1]))


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """Products summed over axes of both: the last `dims` of a and the first of b, or two lists.
    Raises ShapeError if their lengths differ."""
    if isinstance(dims, int):
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        left = [check_axis(axis, a.ndim, "tensordot") for axis in dims[0]]
        right = [check_axis(axis, b.ndim, "tensordot") for axis in dims[1]]
    shared = [a.shape[axis] for axis in left]
    if shared != [b.shape[axis] for axis in right]:
        raise ShapeError(f"tensordot: axes {left} of {a.shape} and {right} of {b.shape} differ")
    rows = [axis for axis in range(a.ndim) if axis not in left]
    columns = [axis for axis in range(b.ndim) if axis not in right]
    length = math.prod(shared)
    high, wide = [a.shape[axis] for axis in rows], [b.shape[axis] for axis in columns]
    first = reshape(manipulation.permute_dims(a, (*rows, *left)), (math.prod(high), length))
    second = reshape(manipulation.permute_dims(b, (*right, *columns)), (length, math.prod(wide)))
    return reshape(matmul(first, second), (*high, *wide))


def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix, in the types of `sum`."""
    return reduction.sum(diagonal(input))


def cross(input: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    """The cross products of vectors of three elements along an axis."""
    axis = check_axis(dim, input.ndim, "cross")
    if input.shape[axis] != 3 or other.shape[axis] != 3:
        raise ShapeError(f"cross: axis {dim} of {input.shape} and {other.shape} must have 3")
    after, before = asarray([1, 2, 0]), asarray([2, 0, 1])
    return take(input, after, axis) * take(other, before, axis) - take(input, before, axis) * take(
        other, after, axis
    )


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product: each element of input times all of other."""
    rank = max(input.ndim, other.ndim)
    a = reshape(input, (*(1,) * (rank - input.ndim), *input.shape))
    b = reshape(other, (*(1,) * (rank - other.ndim), *other.shape))
    wide = reshape(a, tuple(size for dim in a.shape for size in (dim, 1)))
    tall = reshape(b, tuple(size for dim in b.shape for size in (1, dim)))
    shape = tuple(m * n for m, n in zip(a.shape, b.shape, strict=True))
    return reshape(wide * tall, shape)


def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * (mat @ vec)."""
    return input * beta + mat.mv(vec) * alpha


def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2), for batches of matrices."""
    return input * beta + batch1.bmm(batch2) * alpha


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of all rows of x1 (..., n, m) and of x2 (..., k, m)."""
    if x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(f"cdist: the rows of {x1.shape} and {x2.shape} differ in length")
    return (expand_dims(x1, -2) - expand_dims(x2, -3)).norm(p, -1)


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariances of the rows of a matrix, or the variance of a vector, divided by the number
    of columns less `correction`. fweights: how often each column counts; aweights: how much."""
    if input.ndim > 2:
        raise ShapeError(f"cov: {input.shape} has more than 2 axes")
    whole = (1, 1, *input.shape)[-2:]
    rows = reshape(_floating(input), whole)
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


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """The elements at one index each along an axis, or of the flattened tensor."""
    if dim is None:
        return take_along_axis(reshape(input, (-1,)), reshape(indices, (-1,)), 0)
    return take_along_axis(input, indices, dim)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each whole number occurs, or the sum of its weights; reads the largest and the
    smallest. Raises ShapeError for what is no vector, DTypeError for what is not whole, OptionError
    for a negative number."""
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
    return reduction.sum(_where(here, expand_dims(weights, -1), 0.0), 0)


arctan2 = atan2
