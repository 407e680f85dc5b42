"""Draws of gamma variables and of angles, by candidates that are accepted or rejected, as those of
counts in functions/draws.py: see there."""

from __future__ import annotations

import math

from .. import functions as f
from ..autograd import Context, Function
from ..core.shape import Shape
from ..functions.draws import accepted, binomial_draws, poisson_draws
from ..functions.gamma import gamma_slope, lgamma
from ..tensor import Tensor

__all__ = ["binomial_draws", "log_factorial", "poisson_draws", "standard_gamma", "von_mises"]

_LEAST = 1.1754943508222875e-38  # the smallest normal number of float32


# ---- gamma ---------------------------------------------------------------------------------------

_GAMMA_ROUNDS = 10  # each round fails with a probability below 0.05


class _WithSlope(Function):
    """A draw of the gamma distribution, whose gradient is the implicit one."""

    @staticmethod
    def forward(ctx: Context, concentration: Tensor, drawn: Tensor) -> Tensor:
        ctx.save_for_backward(concentration, drawn)
        return drawn + concentration * 0.0

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> tuple[Tensor, None]:
        concentration, drawn = ctx.saved_tensors
        return gradient * gamma_slope(concentration, drawn), None


def standard_gamma(concentration: Tensor, shape: Shape) -> Tensor:
    """Draws of the gamma distribution of rate 1, in a shape that concentration broadcasts to
    (Marsaglia and Tsang 2000). Gradients pass to the concentration: see `gamma_slope`."""
    whole = f.broadcast_to(concentration, shape)
    a = whole.detach().astype("float32")
    small = a < 1.0
    d = f.where(small, a + 1.0, a) - 1 / 3
    x = f.randn((_GAMMA_ROUNDS, *shape))
    v = 1.0 + x * (1 / 3) / f.sqrt(d)
    positive = v > 0.0
    v = f.where(positive, v, 1.0)
    v = v * v * v
    level = 0.5 * x * x + d - d * v + d * f.log(v)
    accept = positive & (f.log(f.rand((_GAMMA_ROUNDS, *shape))) < level)
    drawn = d * accepted(v, accept)
    # Below 1, a draw of one more times a power of an even one.
    power = f.exp(f.log(f.rand(shape)) / f.where(small, a, 1.0))
    drawn = f.maximum(f.where(small, drawn * power, drawn), _LEAST)
    found: Tensor = _WithSlope.apply(whole, drawn.astype(whole.dtype).detach())
    return found


# ---- directions ----------------------------------------------------------------------------------

_ANGLE_ROUNDS = 27  # each round fails with a probability below 0.35


def von_mises(concentration: Tensor, shape: Shape) -> Tensor:
    """Angles about 0 of von Mises' distribution, from -pi to pi (Best and Fisher 1979)."""
    kappa = f.maximum(f.broadcast_to(concentration, shape).detach().astype("float32"), 1e-6)
    double = 2.0 * kappa
    e = double * kappa / (f.sqrt(1.0 + double * double) + 1.0)
    root = f.sqrt(1.0 + e)
    rho = root * e / ((root + 1.0) * kappa)
    above = (1.0 - rho) * (1.0 - rho) / (2.0 * rho)  # r - 1
    # 1 - cos of half a turn's even angle, without cancelling.
    half = f.sin(f.rand((_ANGLE_ROUNDS, *shape)) * (0.5 * math.pi))
    away = 2.0 * half * half
    # 1 - f, where f is the cosine of the candidate.
    short = above * away / (above + 2.0 - away)
    c = kappa * (above + short)
    u = f.rand((_ANGLE_ROUNDS, *shape))
    accept = (c * (2.0 - c) - u > 0.0) | (f.log(c / u) + 1.0 - c >= 0.0)
    found = accepted(short, accept)
    angle = 2.0 * f.asin(f.sqrt(f.clip(0.5 * found, 0.0, 1.0)))
    return f.where(f.rand(shape) < 0.5, -angle, angle).astype(concentration.dtype)


def log_factorial(count: Tensor) -> Tensor:
    """log(count!)."""
    return lgamma(count + 1.0)
