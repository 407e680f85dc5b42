"""PyTorch's names for special functions and draws by weight; see torch_math.py."""

from __future__ import annotations

import math

from .. import dtype as dt
from ..errors import DTypeError, OptionError, ShapeError
from ..random import Generator
from ..tensor import Scalar, Tensor, asarray
from . import elementwise
from .cumulative import cumulative_sum
from .manipulation import expand_dims, squeeze
from .randomness import rand
from .reduction import sum as sum_of
from .torch_bessel import i0, i0e, i1, i1e
from .torch_elements import topk
from .torch_gamma import (
    digamma,
    gammainc,
    gammaincc,
    gammaln,
    lgamma,
    multigammaln,
    polygamma,
    psi,
    zeta,
)
from .torch_math import erfc, log_erfcx

# ---- special functions ---------------------------------------------------------------------------


def _floating(x: Tensor) -> Tensor:
    return x if x.dtype.is_floating else x.astype(dt.float32)


_NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
         -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
        -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)  # fmt: skip


def erfinv(input: Tensor) -> Tensor:
    """The number whose error function this is (Giles 2010, in single precision)."""
    x = _floating(input)
    ends = elementwise.abs(x) >= 1.0
    inner = elementwise.where(ends, 0.0, x)
    found = _giles(-elementwise.log((1.0 - inner) * (1.0 + inner))) * inner
    outside = elementwise.where(elementwise.abs(x) == 1.0, elementwise.sign(x) * math.inf, math.nan)
    return elementwise.where(ends, outside.detach(), found)


def _giles(w: Tensor) -> Tensor:
    """erfinv(x) / x, of w = -log(1 - x²)."""
    near, far = w - 2.5, elementwise.sqrt(elementwise.maximum(w, 5.0)) - 3.0
    first, second = w * 0.0 + _NEAR[0], w * 0.0 + _FAR[0]
    for a, b in zip(_NEAR[1:], _FAR[1:], strict=True):
        first, second = first * near + a, second * far + b
    return elementwise.where(w < 5.0, first, second)


def ndtri(input: Tensor) -> Tensor:
    """The number below which a normal variable is with this probability: the inverse of `ndtr`,
    by `erfinv`, and a step of Newton's in the logarithm where it has fewer digits."""
    p = _floating(input)
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
        x = x.detach()
        log_p = log_ndtr(x).detach()
        slope = elementwise.exp(-0.5 * x * x - log_p) * (1 / math.sqrt(2 * math.pi))
        x = x - (log_p - elementwise.log(tail)) / slope
    found = elementwise.where(upper, -x, x)
    ends = elementwise.where(p == 0.0, -math.inf, elementwise.where(p == 1.0, math.inf, math.nan))
    return elementwise.where(inside, found, ends)


def ndtr(input: Tensor) -> Tensor:
    """The probability that a normal variable is at most this."""
    return 0.5 * erfc(_floating(input) * -math.sqrt(0.5))


def log_ndtr(input: Tensor) -> Tensor:
    """The logarithm of `ndtr`, which is finite where that is 0."""
    x = _floating(input)
    low = x < -1.0
    size = elementwise.where(low, -x, 1.0) * math.sqrt(0.5)
    far = log_erfcx(size) - size * size - math.log(2)
    near = elementwise.log1p(-0.5 * erfc(elementwise.where(low, -1.0, x) * math.sqrt(0.5)))
    return elementwise.where(low, far, near)


def erfcx(input: Tensor) -> Tensor:
    """exp(x²) erfc(x)."""
    x = _floating(input)
    negative = x < 0.0
    found = elementwise.exp(log_erfcx(elementwise.abs(x)))
    return elementwise.where(negative, 2.0 * elementwise.exp(x * x) - found, found)


def entr(input: Tensor) -> Tensor:
    """-x log(x); 0 at 0, and -infinity below."""
    x = _floating(input)
    held = elementwise.where(x > 0.0, x, 1.0)
    found = -held * elementwise.log(held)
    return elementwise.where(
        x > 0.0,
        found,
        elementwise.where(x == 0.0, 0.0, elementwise.where(x < 0.0, -math.inf, math.nan)),
    )


def xlog1py(input: Tensor | Scalar, other: Tensor | Scalar) -> Tensor:
    """input * log(1 + other); 0 where input is 0 and other is a number."""
    x, y = asarray(input), asarray(other)
    nothing = (x == 0) & ~elementwise.isnan(y)
    return elementwise.where(
        nothing, 0.0, x * elementwise.log1p(elementwise.where(nothing, 0.0, y))
    )


def expit(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return _floating(input).sigmoid()


# ---- draws ---------------------------------------------------------------------------------------


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Indices drawn by weights, (classes,) or (n, classes), which need not add up to 1: num_samples
    for each row. Without replacement, a row draws no index twice.

    Raises ShapeError or DTypeError for other weights, OptionError for more samples than classes
    without replacement.
    """
    if input.ndim not in (1, 2) or not input.shape[-1]:
        raise ShapeError(f"multinomial: weights {input.shape} are not (classes,) or (n, classes)")
    if not input.dtype.is_floating:
        raise DTypeError(f"multinomial: weights must be floating, not {input.dtype.name}")
    classes = input.shape[-1]
    if num_samples < 1 or (num_samples > classes and not replacement):
        raise OptionError(f"multinomial: {num_samples} of {classes} classes without replacement")
    weights = input.detach()
    if not replacement:  # those whose exponential times end first (Efraimidis, Spirakis 2006)
        times = -elementwise.log(rand(input.shape, dtype=input.dtype, generator=generator))
        return topk(weights / times, num_samples).indices
    rows = weights if input.ndim == 2 else expand_dims(weights, 0)
    running = cumulative_sum(rows, 1)
    drawn = rand((rows.shape[0], num_samples), dtype=input.dtype, generator=generator)
    drawn = drawn * running[:, -1:]
    below = expand_dims(running, 1) <= expand_dims(drawn, 2)
    found = sum_of(below, 2)
    found = elementwise.minimum(found, classes - 1)
    return found if input.ndim == 2 else squeeze(found, 0)


SPECIAL = (
    digamma, entr, erfc, erfcx, erfinv, expit, gammainc, gammaincc, gammaln, i0, i0e, i1, i1e,
    lgamma, log_ndtr, multigammaln, ndtr, ndtri, polygamma, psi, xlog1py, zeta,
)  # fmt: skip
"""What torch.special has of this file and of those that it imports."""
