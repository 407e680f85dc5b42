"""Draws that no formula gives: candidates that are accepted or rejected, a fixed number of rounds
at once, so that they need no loop on the device. The probability that a draw has no accepted
candidate is below 1e-12; then the last one stands.
"""

from __future__ import annotations

import math
from typing import Any

from .. import functions as f
from ..autograd import Function
from ..functions.torch_gamma import gamma_slope, lgamma
from ..shape import Shape
from ..tensor import Tensor

_LEAST = 1.1754943508222875e-38  # the smallest normal number of float32


def _accepted(candidates: Tensor, accept: Tensor) -> Tensor:
    """Along the first axis the first candidate that is accepted; the last one if none is."""
    found = candidates[-1]
    for number in range(candidates.shape[0] - 2, -1, -1):
        found = f.where(accept[number], candidates[number], found)
    return found


# ---- gamma ---------------------------------------------------------------------------------------

_GAMMA_ROUNDS = 10  # of which each fails with a probability below 0.05


class _WithSlope(Function):
    """A draw of the gamma distribution, whose gradient is the implicit one."""

    @staticmethod
    def forward(ctx: Any, concentration: Tensor, drawn: Tensor) -> Tensor:
        ctx.save_for_backward(concentration, drawn)
        return drawn + concentration * 0.0

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
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
    drawn = d * _accepted(v, accept)
    # Below 1, a draw of one more times a power of an even one.
    power = f.exp(f.log(f.rand(shape)) / f.where(small, a, 1.0))
    drawn = f.maximum(f.where(small, drawn * power, drawn), _LEAST)
    found: Tensor = _WithSlope.apply(whole, drawn.astype(whole.dtype).detach())
    return found


# ---- counts --------------------------------------------------------------------------------------

_COUNT_ROUNDS = 20  # of which each fails with a probability below 0.25
_FEW = 10.0  # the mean from which on candidates are drawn instead of counting up
_MOST = 48  # draws of a smaller mean exceed it with a probability below 1e-16


def _counted(first: Tensor, grow: Any, shape: Shape) -> Tensor:
    """How many numbers have a distribution function below an even draw: draws by inversion. first:
    the probability of 0. grow(p, k): that of k + 1, of the probability of k."""
    even = f.rand(shape)
    below, probability = first, first
    found = (even > below).astype("float32")
    for k in range(_MOST):
        probability = grow(probability, float(k))
        below = below + probability
        found = found + (even > below).astype("float32")
    return found


def _stirling(k: Tensor) -> Tensor:
    """What log(k!) is more than Stirling's formula (Loader 2000)."""
    inverse = 1.0 / k
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260)))


def _deviance(x: Tensor, mean: Tensor) -> Tensor:
    """x log(x / mean) + mean - x (Loader 2000)."""
    change = f.maximum((x - mean) / mean, -1 + 1e-7)
    return x * f.log1p(change) + (mean - x)


def poisson(rate: Tensor, shape: Shape) -> Tensor:
    """Draws of Poisson's distribution, in a shape that rate broadcasts to: by inversion for a rate
    below 10, else by transformed rejection (Hoermann 1993, PTRS)."""
    mean = f.broadcast_to(rate, shape).detach().astype("float32")
    few = mean < _FEW
    low = f.where(few, mean, 1.0)
    counted = _counted(f.exp(-low), lambda p, k: p * low * (1 / (k + 1.0)), shape)
    mu = f.where(few, _FEW, mean)
    b = 0.931 + 2.53 * f.sqrt(mu)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    steep = 0.9277 - 3.6224 / (b - 2.0)
    u = f.rand((_COUNT_ROUNDS, *shape)) - 0.5
    v = f.rand((_COUNT_ROUNDS, *shape))
    side = 0.5 - f.abs(u)
    k = f.floor((2.0 * a / side + b) * u + mu + 0.43)
    at_once = (side >= 0.07) & (v <= steep)
    held = f.maximum(k, 1.0)
    log_p = -_deviance(held, mu) - _stirling(held) - 0.5 * f.log(2 * math.pi * held)
    log_p = f.where(k < 1.0, -mu, log_p)
    level = f.log(v) + f.log(inverse_alpha) - f.log(a / (side * side) + b)
    refused = (k < 0.0) | ((side < 0.013) & (v > side))
    many = _accepted(f.maximum(k, 0.0), at_once | (~refused & (level <= log_p)))
    return f.where(few, counted, many).astype(rate.dtype)


def binomial(total_count: Tensor, probs: Tensor, shape: Shape) -> Tensor:
    """Draws of the binomial distribution, in a shape that both broadcast to: by inversion for a
    mean below 10, else by transformed rejection (Hoermann 1993, BTRS)."""
    n = f.broadcast_to(total_count, shape).detach().astype("float32")
    whole = f.broadcast_to(probs, shape).detach().astype("float32")
    turned = whole > 0.5
    p = f.where(turned, 1.0 - whole, whole)
    few = n * p < _FEW
    low = f.where(few, p, 0.0)
    odds = low / (1.0 - low)
    size = f.where(few, n, 1.0)
    counted = _counted(
        f.exp(size * f.log1p(-low)),
        lambda q, k: q * f.maximum(size - k, 0.0) * odds * (1 / (k + 1.0)),
        shape,
    )
    counted = f.minimum(counted, n)
    n_, p_ = f.where(few, 40.0, n), f.where(few, 0.5, p)
    mean, other = n_ * p_, n_ * (1.0 - p_)
    spread = f.sqrt(mean * (1.0 - p_))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p_
    steep = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    middle = f.floor((n_ + 1.0) * p_)
    u = f.rand((_COUNT_ROUNDS, *shape)) - 0.5
    v = f.rand((_COUNT_ROUNDS, *shape))
    side = 0.5 - f.abs(u)
    k = f.floor((2.0 * a / side + b) * u + mean + 0.5)
    inside = (k >= 0.0) & (k <= n_)

    def log_p(count: Tensor) -> Tensor:
        """Less what does not depend on the count."""
        ones = f.clip(count, 0.25, n_ - 0.25)
        rest = n_ - ones
        found = -_deviance(ones, mean) - _deviance(rest, other)
        found = found - _stirling(f.maximum(ones, 1.0)) - _stirling(f.maximum(rest, 1.0))
        return found - 0.5 * (f.log(ones) + f.log(rest))

    level = f.log(v) + f.log(alpha) - f.log(a / (side * side) + b)
    accept = inside & (((side >= 0.07) & (v <= steep)) | (level <= log_p(k) - log_p(middle)))
    many = _accepted(f.clip(k, 0.0, n_), accept)
    found = f.where(few, counted, many)
    return f.where(turned, n - found, found).astype(probs.dtype)


# ---- directions ----------------------------------------------------------------------------------

_ANGLE_ROUNDS = 27  # of which each fails with a probability below 0.35


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
    found = _accepted(short, accept)
    angle = 2.0 * f.asin(f.sqrt(f.clip(0.5 * found, 0.0, 1.0)))
    return f.where(f.rand(shape) < 0.5, -angle, angle).astype(concentration.dtype)


def log_factorial(count: Tensor) -> Tensor:
    """log(count!)."""
    return lgamma(count + 1.0)
