"""Special functions: error functions, entropies, logits."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..graph import seams
from ..tensor import Scalar, Tensor, asarray
from . import elementwise
from .bessel import i0, i0e, i1, i1e
from .gamma import digamma, gammainc, gammaincc, gammaln, lgamma, multigammaln, polygamma, psi, zeta
from .manipulation import broadcast_arrays


def erfc(input: Tensor) -> Tensor:
    """Computes 1 - erf(input), with its digits where that is small too.

    input: numbers, of any shape; integers count as float32.
    Returns: the values, of the shape of input.
    Source: Press et al., "Numerical Recipes", erfcc.
    """
    x = elementwise.floating(input)
    size = elementwise.abs(x)
    held = elementwise.minimum(size, 30.0)
    # The square in two parts, as the exponential needs more digits than one has.
    high = elementwise.floor(held * 256.0) * (1 / 256)
    rest = (high - held) * (high + held)
    t, series = _erfc_series(held)
    tail = t * elementwise.exp(-(high * high)) * elementwise.exp(series + rest)
    found = elementwise.where(x < 0, 2.0 - tail, tail)
    # In float64, erf has more digits than the series.
    near = size < (0.5 if x.dtype.size < 8 else 4.0)
    return elementwise.where(near | elementwise.isnan(x), 1.0 - elementwise.erf(x), found)


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


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """Computes log(x / (1 - x)) of each element x.

    input: numbers, of any shape.
    eps: x is clamped to eps and 1 - eps first; None clamps nothing.
    Returns: the logits, of the shape of input.
    Source: PyTorch's documentation, `torch.logit`.
    """
    x = input if eps is None else elementwise.clip(input, eps, 1 - eps)
    return elementwise.log(x) - elementwise.log1p(-x)


def xlogy(input: Tensor | Scalar, other: Tensor | Scalar) -> Tensor:
    """Computes input * log(other); 0 where input is 0 and other is a number.

    input, other: numbers or tensors, which broadcast.
    Returns: the products, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.xlogy`.
    """
    return _times_logarithm(input, other, elementwise.log, 0.0)


def _times_logarithm(
    input: Tensor | Scalar,
    other: Tensor | Scalar,
    logarithm: Callable[[Tensor], Tensor],
    begins: float,
) -> Tensor:
    """A product with a logarithm, which has values above `begins`."""
    x, y = broadcast_arrays(*(elementwise.floating(asarray(each)) for each in (input, other)))
    nothing = (x == 0) & ~elementwise.isnan(y)

    def pull(gradient: Tensor, _: Tensor, x: Tensor, y: Tensor) -> list[Tensor]:
        factor = elementwise.where((x == 0) & (y <= begins), 0.0, logarithm(y))
        return [gradient * factor, gradient * (x / (y - begins))]

    found = elementwise.where(nothing, 0.0, x * logarithm(y))
    return seams.derivatives.with_gradient(found, [x, y], pull, [x, y])


_NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
         -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip


_FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
        -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)  # fmt: skip


def erfinv(input: Tensor) -> Tensor:
    """Computes the inverse of the error function.

    input: numbers from -1 to 1, of any shape; those beyond give NaN.
    Returns: the numbers, of the shape of input, in single precision.
    Source: Giles 2010.
    """
    x = elementwise.floating(input)
    ends = elementwise.abs(x) >= 1.0
    inner = elementwise.where(ends, 0.0, x)
    found = _giles(-elementwise.log((1.0 - inner) * (1.0 + inner))) * inner
    outside = elementwise.where(elementwise.abs(x) == 1.0, elementwise.sign(x) * math.inf, math.nan)
    return seams.derivatives.with_gradient(
        elementwise.where(ends, outside, found),
        [x],
        lambda gradient, y: [gradient * elementwise.exp(y * y) * (math.sqrt(math.pi) / 2)],
        [],
    )


def _giles(w: Tensor) -> Tensor:
    """erfinv(x) / x, of w = -log(1 - x²)."""
    near, far = w - 2.5, elementwise.sqrt(elementwise.maximum(w, 5.0)) - 3.0
    first, second = w * 0.0 + _NEAR[0], w * 0.0 + _FAR[0]
    for a, b in zip(_NEAR[1:], _FAR[1:], strict=True):
        first, second = first * near + a, second * far + b
    return elementwise.where(w < 5.0, first, second)


def ndtri(input: Tensor) -> Tensor:
    """Computes quantiles of the standard normal distribution, the inverse of `ndtr`: by `erfinv`,
    and a step of Newton's in the logarithm where it has fewer digits.

    input: probabilities, of any shape; those beyond 0 and 1 give NaN.
    Returns: the numbers, of the shape of input.
    Source: PyTorch's documentation, `torch.special.ndtri`.
    """
    p = elementwise.floating(input)
    inside = (p > 0.0) & (p < 1.0)
    held = elementwise.where(inside, p, 0.5)
    upper = held > 0.5
    tail = elementwise.where(upper, 1.0 - held, held)
    far = tail < 1e-6
    w = -elementwise.log(elementwise.where(far, 0.04, 4.0 * tail * (1.0 - tail)))
    x = (2.0 * tail - 1.0) * _giles(w) * math.sqrt(2)
    double = -2.0 * elementwise.log(elementwise.where(far, tail, 0.01))
    x = elementwise.where(far, -elementwise.sqrt(double - elementwise.log(2 * math.pi * double)), x)
    for _ in range(2):
        log_p = log_ndtr(x)
        slope = elementwise.exp(-0.5 * x * x - log_p) * (1 / math.sqrt(2 * math.pi))
        x = x - (log_p - elementwise.log(tail)) / slope
    found = elementwise.where(upper, -x, x)
    ends = elementwise.where(p == 0.0, -math.inf, elementwise.where(p == 1.0, math.inf, math.nan))
    return seams.derivatives.with_gradient(
        elementwise.where(inside, found, ends),
        [p],
        lambda gradient, y: [gradient * elementwise.exp(0.5 * y * y) * math.sqrt(2 * math.pi)],
        [],
    )


def ndtr(input: Tensor) -> Tensor:
    """Computes the probability that a standard normal variable is at most input.

    input: numbers, of any shape; integers count as float32.
    Returns: the probabilities, of the shape of input.
    Source: PyTorch's documentation, `torch.special.ndtr`.
    """
    return 0.5 * erfc(elementwise.floating(input) * -math.sqrt(0.5))


def log_ndtr(input: Tensor) -> Tensor:
    """Computes the logarithm of `ndtr`, which is finite where that is 0.

    input: numbers, of any shape; integers count as float32.
    Returns: the logarithms, of the shape of input.
    Source: PyTorch's documentation, `torch.special.log_ndtr`.
    """
    x = elementwise.floating(input)
    low = x < -1.0
    size = elementwise.where(low, -x, 1.0) * math.sqrt(0.5)
    far = log_erfcx(size) - size * size - math.log(2)
    near = elementwise.log1p(-0.5 * erfc(elementwise.where(low, -1.0, x) * math.sqrt(0.5)))
    return elementwise.where(low, far, near)


def erfcx(input: Tensor) -> Tensor:
    """Computes exp(x²) erfc(x) of each element x.

    input: numbers, of any shape; integers count as float32.
    Returns: the values, of the shape of input.
    Source: PyTorch's documentation, `torch.special.erfcx`.
    """
    x = elementwise.floating(input)
    negative = x < 0.0
    found = elementwise.exp(log_erfcx(elementwise.abs(x)))
    return seams.derivatives.with_gradient(
        elementwise.where(negative, 2.0 * elementwise.exp(x * x) - found, found),
        [x],
        lambda gradient, y, x: [gradient * (2.0 * x * y - 2 / math.sqrt(math.pi))],
        [x],
    )


def entr(input: Tensor) -> Tensor:
    """Computes -x log(x) of each element x; 0 at 0, and -infinity below.

    input: numbers, of any shape; integers count as float32.
    Returns: the entropies, of the shape of input.
    Source: PyTorch's documentation, `torch.special.entr`.
    """
    x = elementwise.floating(input)
    found = elementwise.where(x == 0.0, 0.0, -x * elementwise.log(x))
    return seams.derivatives.with_gradient(
        elementwise.where(x < 0.0, -math.inf, found),
        [x],
        lambda gradient, _, x: [gradient * (-elementwise.log(x) - 1.0)],
        [x],
    )


def xlog1py(input: Tensor | Scalar, other: Tensor | Scalar) -> Tensor:
    """Computes input * log(1 + other); 0 where input is 0 and other is a number.

    input, other: numbers or tensors, which broadcast.
    Returns: the products, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.special.xlog1py`.
    """
    return _times_logarithm(input, other, elementwise.log1p, -1.0)


def expit(input: Tensor) -> Tensor:
    """Computes 1 / (1 + exp(-x)) of each element x.

    input: numbers, of any shape; integers count as float32.
    Returns: the values, of the shape of input.
    Source: PyTorch's documentation, `torch.special.expit`.
    """
    return elementwise.floating(input).sigmoid()


SPECIAL = (
    digamma, entr, erfc, erfcx, erfinv, expit, gammainc, gammaincc, gammaln, i0, i0e, i1, i1e,
    lgamma, log_ndtr, multigammaln, ndtr, ndtri, polygamma, psi, xlog1py, zeta,
)  # fmt: skip
"""What torch.special has of this file and of those that it imports."""
