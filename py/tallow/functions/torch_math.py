"""PyTorch's names for functions of elements, reductions and products that are made of others.

`tallow` offers those of __all__, and imports this file when one is first asked for. Arguments are
named as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from .. import dtype as dt
from ..dtype import DType, as_dtype
from ..errors import OptionError, ShapeError
from ..shape import check_axis
from ..tensor import Scalar, Tensor, apply, asarray
from . import reduction
from .arrange import Ordered, sort
from .creation import arange
from .cumulative import cumulative_prod, cumulative_sum
from .indexing import take, take_along_axis
from .linear_algebra import matmul
from .manipulation import expand_dims, reshape, squeeze
from .torch_elements import diagonal

Axis = int | Sequence[int] | None


class Bounds(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor


# ---- elements ------------------------------------------------------------------------------------


def _where(condition: Tensor, x: Tensor | Scalar, y: Tensor | Scalar) -> Tensor:
    return apply("where", condition, x, y)


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
    size = apply("abs", _floating(input))
    return _where(signbit(_floating(asarray(other))), -size, size)


def atan2(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """The angle of the point (other, input) from the first axis, from -pi to pi."""
    y, x = _floating(input), _floating(asarray(other))
    steep = apply("abs", y) > apply("abs", x)
    upper, lower = _where(steep, x, y), _where(steep, y, x)
    endless = apply("isinf", upper)  # so that both are
    upper = _where(endless, apply("sign", upper), upper)
    lower = _where(endless, apply("sign", lower), _where(lower == 0, 1.0, lower))
    angle = apply("atan", upper / lower)
    half = _where(y > 0, asarray(math.pi / 2, y.dtype), -math.pi / 2)
    around = _where(signbit(y), asarray(-math.pi, y.dtype), math.pi)
    behind = _where(signbit(x), around, 0.0)
    return _where(steep, half - angle, angle + behind).astype(y.dtype)


def hypot(input: Tensor, other: Tensor) -> Tensor:
    """sqrt(input² + other²), without overflow."""
    x, y = _floating(input), _floating(asarray(other))
    swapped = apply("abs", y) > apply("abs", x)
    longer, shorter = _where(swapped, y, x), _where(swapped, x, y)
    endless = apply("isinf", longer)
    ratio = shorter / _where(longer == 0, 1.0, longer)
    found = apply("abs", longer) * apply("sqrt", ratio * ratio + 1.0)
    return _where(endless, math.inf, found)


def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """log(exp(input) + exp(other)), without overflow."""
    a, b = input, other
    least = apply("exp", -apply("abs", a - b))
    found = apply("maximum", a, b) + apply("log1p", least)
    return _where(a == b, (a + b) * 0.5 + math.log(2), found)


def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """log2(2 ** input + 2 ** other), without overflow."""
    return logaddexp(input * math.log(2), other * math.log(2)) * (1 / math.log(2))


def exp2(input: Tensor) -> Tensor:
    """2 to the power of each element."""
    return apply("exp", _floating(input) * math.log(2))


def erfc(input: Tensor) -> Tensor:
    """1 - erf(input)."""
    return 1.0 - apply("erf", input)


def sinc(input: Tensor) -> Tensor:
    """sin(pi x) / (pi x); 1 at 0."""
    x = _floating(input) * math.pi
    return _where(x == 0, 1.0, apply("sin", x) / _where(x == 0, 1.0, x))


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)); eps: x is clamped to eps and 1 - eps first."""
    x = input if eps is None else apply("clip", input, eps, 1 - eps)
    return apply("log", x) - apply("log1p", -x)


def xlogy(input: Tensor, other: Tensor) -> Tensor:
    """input * log(other); 0 where input is 0 and other is a number."""
    nothing = input == 0
    product = input * apply("log", _where(nothing, 1.0, other))
    return _where(nothing & ~apply("isnan", other), 0.0, product)


def deg2rad(input: Tensor) -> Tensor:
    """Angles in degrees as radians."""
    return input * (math.pi / 180)


def rad2deg(input: Tensor) -> Tensor:
    """Angles in radians as degrees."""
    return input * (180 / math.pi)


def frac(input: Tensor) -> Tensor:
    """input less its whole part, with the same sign."""
    return input - apply("trunc", input)


def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 for negative elements, 1 for positive ones, `values` at 0."""
    return _where(input == 0, values, (input > 0).astype(input.dtype))


def nan_to_num(
    input: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Numbers instead of NaN and infinities; these become the largest of the type by default."""
    most = {2: 65504.0, 8: 1.7976931348623157e308}.get(input.dtype.size, 3.4028234663852886e38)
    x = _where(apply("isnan", input), nan, input)
    x = _where(x == math.inf, most if posinf is None else posinf, x)
    return _where(x == -math.inf, -most if neginf is None else neginf, x)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return input.sigmoid()


def relu(input: Tensor) -> Tensor:
    """max(x, 0)."""
    return input.relu()


def softmax(input: Tensor, dim: int, dtype: DType | str | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis."""
    return (input if dtype is None else input.astype(as_dtype(dtype))).softmax(dim)


def log_softmax(input: Tensor, dim: int, dtype: DType | str | None = None) -> Tensor:
    """log(softmax(x)) along an axis."""
    return (input if dtype is None else input.astype(as_dtype(dtype))).log_softmax(dim)


def absolute(input: Tensor) -> Tensor:
    """The sizes of the elements."""
    return apply("abs", input)


def neg(input: Tensor) -> Tensor:
    """-input."""
    return -input


def true_divide(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """input / other."""
    return input / other


def eq(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Where elements are equal."""
    return apply("equal", input, other)


def ne(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Where elements differ."""
    return apply("not_equal", input, other)


def lt(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Where elements are less than those of other."""
    return input < other


def le(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Where elements are at most those of other."""
    return input <= other


def gt(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Where elements are greater than those of other."""
    return input > other


def ge(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Where elements are at least those of other."""
    return input >= other


# ---- reductions ----------------------------------------------------------------------------------


def amax(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """The largest elements along axes, or of all; equal ones share the gradient."""
    return reduction.max(input, dim, keepdim)


def amin(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """The smallest elements along axes, or of all; equal ones share the gradient."""
    return reduction.min(input, dim, keepdim)


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Bounds:
    """The smallest and the largest elements along an axis, or of all."""
    return Bounds(amin(input, dim, keepdim), amax(input, dim, keepdim))


def count_nonzero(input: Tensor, dim: Axis = None) -> Tensor:
    """How many elements are not 0, along axes or of all; int32."""
    return reduction.sum((input != 0).astype(dt.int32), dim)


def nansum(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """The sum of the elements that are not NaN."""
    return reduction.sum(_where(apply("isnan", input), 0.0, input), dim, keepdim)


def nanmean(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """The mean of the elements that are not NaN."""
    there = (~apply("isnan", input)).astype(input.dtype)
    return nansum(input, dim, keepdim) / reduction.sum(there, dim, keepdim)


def var_mean(
    input: Tensor, dim: Axis = None, *, correction: float = 1, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """The variance, divided by the count less `correction`, and the mean."""
    return (
        reduction.var(input, dim, correction, keepdim),
        reduction.mean(input, dim, keepdim),
    )


def std_mean(
    input: Tensor, dim: Axis = None, *, correction: float = 1, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """The square root of the variance of `var_mean`, and the mean."""
    return (
        reduction.std(input, dim, correction, keepdim),
        reduction.mean(input, dim, keepdim),
    )


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The element in the middle, the lower of two; along an axis also its place. Raises ShapeError
    for an empty axis."""
    if dim is None:
        flat = reshape(input, (-1,))
        _check_length(flat, 0, "median")
        return take(sort(flat), asarray((flat.shape[0] - 1) // 2), 0)
    return kthvalue(input, (_check_length(input, dim, "median") + 1) // 2, dim, keepdim)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Ordered:
    """The k-th smallest element along an axis, from 1 on, and its place. Raises OptionError if
    there are fewer."""
    length = _check_length(input, dim, "kthvalue")
    if not 1 <= k <= length:
        raise OptionError(f"kthvalue: {k} of the {length} elements along axis {dim}")
    axis = check_axis(dim, input.ndim, "kthvalue")
    order = sort(input, dim=axis)
    key = (slice(None),) * axis + (slice(k - 1, k),)
    values, places = order.values[key], order.indices[key]
    if keepdim:
        return Ordered(values, places)
    return Ordered(squeeze(values, axis), squeeze(places, axis))


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
    vector q is the first axis of the result. Raises OptionError for another one.
    """
    ways = ("linear", "lower", "higher", "midpoint", "nearest")
    if interpolation not in ways:
        raise OptionError(f"quantile: interpolation {interpolation!r} is not one of {ways}")
    x = reshape(input, (-1,)) if dim is None else input
    axis = check_axis(0 if dim is None else dim, x.ndim, "quantile")
    last = _check_length(x, axis, "quantile") - 1
    parts = q.astype(x.dtype) if isinstance(q, Tensor) else asarray(q, x.dtype)
    at = reshape(parts, (-1,)) * last
    low = apply("floor", at)
    high = apply("minimum", low + 1.0, float(last))
    weight = at - low
    if interpolation != "linear":
        chosen: Tensor | float = {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}.get(
            interpolation, apply("round", at) - low
        )
        weight = _where(weight == 0, 0.0, chosen)
    ordered = sort(x, axis)
    below, above = (take(ordered, each.astype(dt.int32), axis) for each in (low, high))
    spread = reshape(weight, (-1, *(1,) * (x.ndim - axis - 1)))
    found = below + (above - below) * spread
    order = (axis, *(a for a in range(x.ndim) if a != axis))
    found = apply("permute_dims", found, order)  # the parts first
    if keepdim:
        shape = (1,) * input.ndim if dim is None else tuple(
            1 if a == axis else size for a, size in enumerate(x.shape)
        )  # fmt: skip
        found = reshape(found, (found.shape[0], *shape))
    return found if parts.ndim else squeeze(found, 0)


def cumsum(input: Tensor, dim: int, *, dtype: DType | str | None = None) -> Tensor:
    """The running sums along an axis."""
    return cumulative_sum(input, dim, dtype)


def cumprod(input: Tensor, dim: int, *, dtype: DType | str | None = None) -> Tensor:
    """The running products along an axis."""
    return cumulative_prod(input, dim, dtype)


def diff(input: Tensor, n: int = 1, dim: int = -1) -> Tensor:
    """The differences of neighbours along an axis, n times."""
    axis = check_axis(dim, input.ndim, "diff")
    before = (slice(None),) * axis
    for _ in range(n):
        input = input[(*before, slice(1, None))] - input[(*before, slice(None, -1))]
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


def bucketize(input: Tensor, boundaries: Tensor, *, right: bool = False) -> Tensor:
    """Between which of the boundaries, a vector in order, each element lies; int32. An element that
    is a boundary lies before it, or behind it if right."""
    return searchsorted(boundaries, input, right=right)


def searchsorted(sorted_sequence: Tensor, input: Tensor, *, right: bool = False) -> Tensor:
    """Where elements would go into the last axis of a sequence in order; int32. It compares all
    with all."""
    values = asarray(input)
    if sorted_sequence.ndim > 1 and sorted_sequence.shape[:-1] != values.shape[:-1]:
        raise ShapeError(f"searchsorted: {values.shape} into {sorted_sequence.shape}")
    line = expand_dims(sorted_sequence, -2) if sorted_sequence.ndim > 1 else sorted_sequence
    each = expand_dims(values, -1)
    before = line <= each if right else line < each
    return reduction.sum(before.astype(dt.int32), -1)


# ---- products ------------------------------------------------------------------------------------


def inner(input: Tensor, other: Tensor) -> Tensor:
    """The sums of products along the last axes. Raises ShapeError if they differ."""
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise ShapeError(f"inner: the last axes of {input.shape} and {other.shape} differ")
    return tensordot(input, other, ([-1], [-1]))


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The sum of the products of two vectors' elements."""
    return input.dot(other)


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
    first = reshape(apply("permute_dims", a, (*rows, *left)), (-1, length))
    second = reshape(apply("permute_dims", b, (*right, *columns)), (length, -1))
    shape = (*(a.shape[axis] for axis in rows), *(b.shape[axis] for axis in columns))
    return reshape(matmul(first, second), shape)


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


def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of an element of one vector and one of another."""
    return input.outer(vec2)


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


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """The elements at one index each along an axis, or of the flattened tensor."""
    if dim is None:
        return take_along_axis(reshape(input, (-1,)), reshape(indices, (-1,)), 0)
    return take_along_axis(input, indices, dim)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each whole number occurs, or the sum of its weights; reads the largest. Raises
    ShapeError for what is no vector."""
    if input.ndim != 1:
        raise ShapeError(f"bincount: {input.shape} is not a vector")
    length = max(minlength, int(reduction.max(input)) + 1 if input.size else 0)
    here = expand_dims(input, -1) == arange(length)
    if weights is None:
        return reduction.sum(here.astype(dt.int32), 0)
    return reduction.sum(_where(here, expand_dims(weights, -1), 0.0), 0)


arctan2 = atan2

__all__ = [
    "absolute",
    "addmv",
    "amax",
    "amin",
    "aminmax",
    "arctan2",
    "atan2",
    "baddbmm",
    "bincount",
    "bucketize",
    "cdist",
    "copysign",
    "count_nonzero",
    "cross",
    "cumprod",
    "cumsum",
    "deg2rad",
    "diff",
    "eq",
    "erfc",
    "exp2",
    "frac",
    "ge",
    "ger",
    "gt",
    "heaviside",
    "hypot",
    "inner",
    "kron",
    "kthvalue",
    "le",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logit",
    "lt",
    "median",
    "nan_to_num",
    "nanmean",
    "nansum",
    "ne",
    "neg",
    "quantile",
    "rad2deg",
    "relu",
    "searchsorted",
    "sigmoid",
    "signbit",
    "sinc",
    "softmax",
    "std_mean",
    "take_along_dim",
    "tensordot",
    "trace",
    "trapezoid",
    "true_divide",
    "var_mean",
    "vdot",
    "xlogy",
]  # fmt: skip
