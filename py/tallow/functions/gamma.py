"""Gamma functions and related ones, under the names of torch.special."""

from __future__ import annotations

import math

from ..core import dtype as dt
from ..errors import OptionError
from ..graph import seams
from ..tensor import Scalar, Tensor, asarray
from . import elementwise
from .elementwise import clip
from .manipulation import expand_dims
from .reduction import sum as sum_of

_LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
    1.5056327351493116e-7,
)  # fmt: skip

_FROM_1 = (0.0024484358, -0.0039752858, 0.0053250945, -0.0092752013, 0.016808246, -0.031319204,
           0.062911046, -0.14595969, 0.48312895)  # fmt: skip

_FROM_2 = (8.3552542e-6, -2.7071452e-5, 7.2141099e-5, -0.00025021287, 0.00090239173, -0.0033334552,
           0.013148975, -0.058468128, 0.34657359)  # fmt: skip


def lgamma(input: Tensor) -> Tensor:
    """Computes the logarithm of the absolute value of the gamma function; below 0 by reflection.

    input: numbers, of any shape; integers count as float32.
    Returns: the logarithms, of the shape of input.
    Source: Lanczos 1964 for float64; Stirling's series, and polynomials below 4, for other types.
    """
    x = elementwise.floating(input)
    negative = x < 0.0
    found = (_lanczos if x.dtype == dt.float64 else _above_0)(
        elementwise.where(negative, 1.0 - x, x)
    )
    # The sine of multiples of pi would lose digits.
    turn = elementwise.where(negative, elementwise.abs(x - elementwise.round(x)), 0.5)
    reflected = elementwise.log(math.pi / elementwise.sin(math.pi * turn)) - found
    found = elementwise.where(negative, reflected, found)
    found = elementwise.where(elementwise.isinf(x), math.inf, found)
    pull = lambda gradient, _, x: [gradient * digamma(x)]  # noqa: E731
    return seams.derivatives.with_gradient(found, [x], pull, [x])


def _lanczos(x: Tensor) -> Tensor:
    z = x - 1.0
    series = z * 0.0 + _LANCZOS[0]
    for n, factor in enumerate(_LANCZOS[1:], 1):
        series = series + factor / (z + float(n))
    t = z + 7.5
    tail = elementwise.log(series) + 0.5 * math.log(2 * math.pi)
    return (z + 0.5) * elementwise.log(t) - t + tail


def _above_0(x: Tensor) -> Tensor:
    """Of float32. Up to 4, a polynomial times the factors (x - 1) (x - 2), which are exact and have
    the zeros; below 1, by the value at x + 1."""
    below, far = x < 1.0, x > 2.0
    a = elementwise.where(far, x - 3.0, elementwise.where(below, x - 0.5, x - 1.5))
    near = elementwise.where(far, _FROM_2[0], _FROM_1[0])
    for second, first in zip(_FROM_2[1:], _FROM_1[1:], strict=True):
        near = near * a + elementwise.where(far, second, first)
    # NumPy's log has fewer digits next to 1 than its log1p.
    next_to_1 = below & (x > 0.5)
    logarithm = elementwise.where(next_to_1, elementwise.log1p(x - 1.0), elementwise.log(x))
    near = near * (x - 1.0) * elementwise.where(below, x, x - 2.0)
    near = near + elementwise.where(below, -logarithm, 0.0)
    inverse = 1.0 / elementwise.maximum(x, 4.0)
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680))))
    large = (x - 0.5) * (logarithm - 1.0) + (series + 0.5 * math.log(2 * math.pi) - 0.5)
    return elementwise.where(x < 4.0, near, large)


def digamma(input: Tensor) -> Tensor:
    """Computes the derivative of `lgamma`: the asymptotic series at an argument greater by 10, and
    reflection below 0.

    input: numbers, of any shape; integers count as float32.
    Returns: the derivatives, of the shape of input; NaN at negative integers.
    Source: PyTorch's documentation, `torch.special.digamma`.
    """
    x = elementwise.floating(input)
    negative = x < 0.0
    z = elementwise.where(negative, 1.0 - x, x)
    found = z * 0.0
    for n in range(10):
        found = found - 1.0 / (z + float(n))
    z = z + 10.0
    square = 1.0 / (z * z)
    series = z * 0.0
    for factor in (1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12):
        series = (series + factor) * square
    found = found + elementwise.log(z) - 0.5 / z - series
    turn = math.pi * elementwise.where(negative, x - elementwise.floor(x), 0.5)
    pole = negative & (turn == 0.0)
    cotangent = elementwise.cos(turn) / elementwise.sin(elementwise.where(pole, 1.0, turn))
    found = elementwise.where(negative, found - math.pi * cotangent, found)
    return elementwise.where(x == math.inf, x, elementwise.where(pole, math.nan, found))


_STEP = 0.2


_STEPS = [-9.5 + _STEP * n for n in range(66)]


_BEFORE = 1 / math.expm1(_STEP)  # what the steps before the first would add, as a part of it


def _floating(*values: Tensor | Scalar) -> list[Tensor]:
    """As tensors, integers as float32."""
    kinds = [x.dtype for x in values if isinstance(x, Tensor) and x.dtype.is_floating]
    kind = kinds[0] if kinds else "float32"
    found = [x if isinstance(x, Tensor) else asarray(x, kind) for x in values]
    return [x if x.dtype.is_floating else x.astype(kind) for x in found]


def _tail(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Where x is less than a; the gamma density's integral from x to its nearer end, divided by x
    and the density at x; the same of log(t / x) times the density; and x, kept off 0 and infinity.

    With t = x exp(-s), or x exp(s), the density falls without a turn in s, and the trapezoidal rule
    in log(s) converges exponentially (Trefethen and Weideman 2014).
    """
    x = clip(x, 1e-37, 1e18)
    lower = x < a
    away = elementwise.abs(a - x)
    near = 2.0 / (away + elementwise.sqrt(away * away + x * 4 / 3))
    near = elementwise.where(near <= 1.0, near, (x + 1.0) / a)
    far = 2.0 / (away + elementwise.sqrt(away * away + x * 2.0))
    far = elementwise.minimum(far, elementwise.log1p(2.0 / x) + 1.0)
    width = elementwise.where(lower, near, far).detach()
    points = asarray([math.exp(v) for v in _STEPS], x.dtype)
    weights = [_STEP * math.exp(v) for v in _STEPS]
    weights[0] *= 1 + _BEFORE
    s = expand_dims(width, -1) * points
    s = elementwise.where(expand_dims(lower, -1), s, elementwise.minimum(s, 87.0))
    wide_a, wide_x = expand_dims(a, -1), expand_dims(x, -1)
    fall = elementwise.where(
        expand_dims(lower, -1),
        wide_a * s + wide_x * elementwise.expm1(-s),
        wide_x * elementwise.expm1(s) - wide_a * s,
    )
    parts = elementwise.exp(-fall) * asarray(weights, x.dtype)
    whole = sum_of(parts, -1) * width
    return lower, whole, sum_of(parts * s, -1) * width, x


def _log_density(a: Tensor, x: Tensor) -> Tensor:
    """log(x ** a exp(-x) / gamma(a)); for large a by Stirling's series, which cancels less."""
    plain = a * elementwise.log(x) - x - lgamma(a)
    large = a > 10.0
    held = elementwise.where(large, a, 10.0)
    change = (x - held) / held
    inverse = 1.0 / held
    series = inverse * (1 / 12 - inverse * inverse * (1 / 360 - inverse * inverse * (1 / 1260)))
    by_series = (
        held * (elementwise.log1p(elementwise.maximum(change, -1 + 1e-7)) - change)
        + 0.5 * elementwise.log(held * (0.5 / math.pi))
        - series
    )
    # Far below, where the change from a is nearly all of it, there is nothing to cancel.
    return elementwise.where(large & (change > -0.9), by_series, plain)


def gammainc(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Computes the regularised lower incomplete gamma function: the probability that a draw of the
    gamma distribution of shape `input` is at most `other`.

    input: the shape parameters, of which negative ones give NaN.
    other: the bounds, a number or a tensor that broadcasts with input; negative ones give NaN.
    Returns: the probabilities, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Trefethen and Weideman 2014, for the integral by the trapezoidal rule.
    """
    a, x = _floating(input, other)
    a, x = a + x * 0.0, x + a * 0.0
    lower, whole, _, held = _tail(a, x)
    tail = whole * elementwise.exp(_log_density(a, held))
    found = elementwise.where(lower, tail, 1.0 - tail)
    return _at_the_ends(found, a, x, 0.0, 1.0)


def gammaincc(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Computes the regularised upper incomplete gamma function, 1 less `gammainc`.

    input: the shape parameters, of which negative ones give NaN.
    other: the bounds, a number or a tensor that broadcasts with input; negative ones give NaN.
    Returns: the probabilities, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Trefethen and Weideman 2014, for the integral by the trapezoidal rule.
    """
    a, x = _floating(input, other)
    a, x = a + x * 0.0, x + a * 0.0
    lower, whole, _, held = _tail(a, x)
    tail = whole * elementwise.exp(_log_density(a, held))
    found = elementwise.where(lower, 1.0 - tail, tail)
    return _at_the_ends(found, a, x, 1.0, 0.0)


def _at_the_ends(found: Tensor, a: Tensor, x: Tensor, first: float, last: float) -> Tensor:
    found = elementwise.where(x == 0, first, found)
    found = elementwise.where(x == math.inf, last, found)
    return elementwise.where((x < 0) | (a < 0), math.nan, found)


def gamma_slope(concentration: Tensor, value: Tensor) -> Tensor:
    """How fast a draw of the gamma distribution moves with its concentration if its rank stays: the
    implicit derivative (Figurnov, Mohamed, Mnih 2018).

    It is -(d P(a, x) / d a) / p(x), where d P / d a is the integral of the density times
    log(t) - digamma(a) on either side of x.
    """
    a, x = concentration.detach(), value.detach()
    lower, whole, lengths, x = _tail(a, x)
    offset = digamma(a) - elementwise.log(x)
    return x * elementwise.where(lower, offset * whole + lengths, lengths - offset * whole)


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)


_TERMS = 10


def zeta(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Computes Hurwitz's zeta function: the sum of (k + other) ** -input over k from 0 on.

    input: the exponents, above 1.
    other: where the sum begins, positive, a number or a tensor that broadcasts with input.
    Returns: the sums, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Euler and Maclaurin's formula.
    """
    x, q = _floating(input, other)
    found = x * 0.0
    for k in range(_TERMS):
        found = found + elementwise.pow(q + float(k), -x)
    return _rest(found, x, q, elementwise.pow(q + float(_TERMS), -x))


def _rest(found: Tensor, x: Tensor | float, q: Tensor, power: Tensor) -> Tensor:
    """A sum of the first terms and, by the integral and its corrections, of all others. power:
    the next term."""
    end = q + float(_TERMS)
    found = found + power * end / (x - 1.0) + power * 0.5
    factor = power / end * x
    for k, number in enumerate(_BERNOULLI):
        found = found + factor * (number / math.factorial(2 * k + 2))
        factor = factor * (x + (2 * k + 1.0)) * (x + (2 * k + 2.0)) / (end * end)
    return found


def polygamma(n: int, input: Tensor) -> Tensor:
    """Computes the derivative of order n of `digamma`.

    n: the order, 0 or more.
    input: numbers above -10, of any shape; integers count as float32.
    Returns: the derivatives, of the shape of input.
    Raises: OptionError for a negative n.
    Source: PyTorch's documentation, `torch.special.polygamma`.
    """
    if n < 0:
        raise OptionError(f"polygamma: n must not be negative: {n}")
    if n == 0:
        return digamma(input)
    (q,) = _floating(input)
    found = q * 0.0
    for k in range(_TERMS):
        found = found + elementwise.pow(1.0 / (q + float(k)), float(n + 1))
    power = elementwise.pow(1.0 / (q + float(_TERMS)), float(n + 1))
    return _rest(found, float(n + 1), q, power) * float((-1) ** (n + 1) * math.factorial(n))


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Computes the logarithm of the gamma function of p dimensions.

    input: numbers, of any shape; integers count as float32.
    p: how many dimensions there are, 1 or more.
    Returns: the logarithms, of the shape of input.
    Raises: OptionError for a p below 1.
    Source: PyTorch's documentation, `torch.mvlgamma`.
    """
    if p < 1:
        raise OptionError(f"mvlgamma: p must be positive: {p}")
    (x,) = _floating(input)
    found = x * 0.0 + p * (p - 1) / 4 * math.log(math.pi)
    for k in range(p):
        found = found + lgamma(x - k / 2)
    return found


gammaln = lgamma


psi = digamma


multigammaln = mvlgamma


igamma = gammainc


igammac = gammaincc
