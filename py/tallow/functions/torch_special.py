"""PyTorch's names for special functions and draws by weight; see torch_math.py."""

from __future__ import annotations

import math

from .. import dtype as dt
from ..errors import DTypeError, OptionError, ShapeError
from ..random import Generator
from ..tensor import Tensor, apply
from .cumulative import cumulative_sum
from .manipulation import expand_dims, squeeze
from .randomness import rand
from .reduction import sum as sum_of
from .torch_elements import topk

# ---- special functions ---------------------------------------------------------------------------

_LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
    1.5056327351493116e-7,
)  # fmt: skip


def _floating(x: Tensor) -> Tensor:
    return x if x.dtype.is_floating else x.astype(dt.float32)


def lgamma(input: Tensor) -> Tensor:
    """The logarithm of the size of the gamma function (Lanczos 1964; below 0.5 by reflection)."""
    x = _floating(input)
    small = x < 0.5
    z = apply("where", small, -x, x - 1.0)
    series = z * 0.0 + _LANCZOS[0]
    for n, factor in enumerate(_LANCZOS[1:], 1):
        series = series + factor / (z + float(n))
    t = z + 7.5
    found = (z + 0.5) * apply("log", t) - t + apply("log", series) + 0.5 * math.log(2 * math.pi)
    turn = x - apply("floor", x)  # the sine of multiples of pi would lose digits
    sine = apply("where", small, apply("sin", math.pi * turn), 1.0)
    found = apply("where", small, math.log(math.pi) - apply("log", sine) - found, found)
    return apply("where", apply("isinf", x), math.inf, found)


def digamma(input: Tensor) -> Tensor:
    """The derivative of `lgamma`: the asymptotic series ten places on, and reflection below 0."""
    x = _floating(input)
    negative = x < 0.0
    z = apply("where", negative, 1.0 - x, x)
    found = z * 0.0
    for n in range(10):
        found = found - 1.0 / (z + float(n))
    z = z + 10.0
    square = 1.0 / (z * z)
    series = z * 0.0
    for factor in (1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12):
        series = (series + factor) * square
    found = found + apply("log", z) - 0.5 / z - series
    turn = math.pi * apply("where", negative, x - apply("floor", x), 0.5)
    cotangent = apply("cos", turn) / apply("sin", turn)
    return apply("where", negative, found - math.pi * cotangent, found)


_NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
         -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
        -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)  # fmt: skip


def erfinv(input: Tensor) -> Tensor:
    """The number whose error function this is (Giles 2010, in single precision)."""
    x = _floating(input)
    ends = apply("abs", x) >= 1.0
    inner = apply("where", ends, 0.0, x)
    w = -apply("log", (1.0 - inner) * (1.0 + inner))
    near, far = w - 2.5, apply("sqrt", apply("maximum", w, 5.0)) - 3.0
    first, second = w * 0.0 + _NEAR[0], w * 0.0 + _FAR[0]
    for a, b in zip(_NEAR[1:], _FAR[1:], strict=True):
        first, second = first * near + a, second * far + b
    found = apply("where", w < 5.0, first, second) * inner
    outside = apply("where", apply("abs", x) == 1.0, apply("sign", x) * math.inf, math.nan)
    return apply("where", ends, outside.detach(), found)


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
        times = -apply("log", rand(input.shape, dtype=input.dtype, generator=generator))
        return topk(weights / times, num_samples).indices
    rows = weights if input.ndim == 2 else expand_dims(weights, 0)
    running = cumulative_sum(rows, 1)
    drawn = rand((rows.shape[0], num_samples), dtype=input.dtype, generator=generator)
    drawn = drawn * running[:, -1:]
    below = expand_dims(running, 1) <= expand_dims(drawn, 2)
    found = sum_of(below, 2)
    found = apply("minimum", found, classes - 1)
    return found if input.ndim == 2 else squeeze(found, 0)


# ---- facts ---------------------------------------------------------------------------------------


__all__ = [
    "digamma",
    "erfinv",
    "lgamma",
    "multinomial",
]
