"""Families on the line, drawn from by inverting their distribution functions; but the normal one
comes from Box and Muller's (functions/philox.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functions as f
from ..functions.torch_special import erfinv
from ..tensor import Tensor, asarray
from .distribution import Distribution, Value, floating

_EULER = 0.5772156649015329
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class _Scaled(Distribution):
    """A family whose members are moved and stretched: loc and scale."""

    has_rsample = True

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self.loc, self.scale = floating(loc, scale)
        super().__init__(self.loc.shape)

    def _standard(self, value: Value) -> Tensor:
        return (value - self.loc) / self.scale

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


class Normal(_Scaled):
    """The normal distribution; scale is the standard deviation."""

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.loc + self.scale * f.randn(self._drawn_shape(sample_shape))

    def log_prob(self, value: Value) -> Tensor:
        return -0.5 * f.square(self._standard(value)) - f.log(self.scale) - _HALF_LOG_TAU

    def entropy(self) -> Tensor:
        return f.log(self.scale) + (0.5 + _HALF_LOG_TAU)

    def cdf(self, value: Value) -> Tensor:
        return 0.5 * (1.0 + f.erf(self._standard(value) * math.sqrt(0.5)))

    def icdf(self, value: Value) -> Tensor:
        return self.loc + self.scale * erfinv(asarray(value) * 2.0 - 1.0) * math.sqrt(2)

    @property
    def variance(self) -> Tensor:
        return f.square(self.scale)

    @property
    def stddev(self) -> Tensor:
        return self.scale


class LogNormal(Distribution):
    """e to a normal variable of this mean and standard deviation."""

    has_rsample = True

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self.base_dist = Normal(loc, scale)
        super().__init__(self.base_dist.batch_shape)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return f.exp(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Value) -> Tensor:
        logarithm = f.log(value)
        return self.base_dist.log_prob(logarithm) - logarithm

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc

    def cdf(self, value: Value) -> Tensor:
        return self.base_dist.cdf(f.log(value))

    def icdf(self, value: Value) -> Tensor:
        return f.exp(self.base_dist.icdf(value))

    @property
    def mean(self) -> Tensor:
        return f.exp(self.loc + 0.5 * self.base_dist.variance)

    @property
    def mode(self) -> Tensor:
        return f.exp(self.loc - self.base_dist.variance)

    @property
    def variance(self) -> Tensor:
        spread = self.base_dist.variance
        return f.expm1(spread) * f.exp(2.0 * self.loc + spread)


class Laplace(_Scaled):
    """Two exponential distributions, back to back at loc."""

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(f.rand(self._drawn_shape(sample_shape)))

    def log_prob(self, value: Value) -> Tensor:
        return -f.abs(self._standard(value)) - f.log(2.0 * self.scale)

    def entropy(self) -> Tensor:
        return f.log(2.0 * self.scale) + 1.0

    def cdf(self, value: Value) -> Tensor:
        x = self._standard(value)
        return 0.5 - 0.5 * f.sign(x) * f.expm1(-f.abs(x))

    def icdf(self, value: Value) -> Tensor:
        side = value - 0.5
        return self.loc - self.scale * f.sign(side) * f.log1p(-2.0 * f.abs(side))

    @property
    def variance(self) -> Tensor:
        return 2.0 * f.square(self.scale)


class Gumbel(_Scaled):
    """The largest of many: its distribution function is exp(-exp(-x))."""

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(f.rand(self._drawn_shape(sample_shape)))

    def log_prob(self, value: Value) -> Tensor:
        x = self._standard(value)
        return -(x + f.exp(-x)) - f.log(self.scale)

    def entropy(self) -> Tensor:
        return f.log(self.scale) + (1.0 + _EULER)

    def cdf(self, value: Value) -> Tensor:
        return f.exp(-f.exp(-self._standard(value)))

    def icdf(self, value: Value) -> Tensor:
        return self.loc - self.scale * f.log(-f.log(value))

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * _EULER

    @property
    def variance(self) -> Tensor:
        return f.square(self.scale) * (math.pi**2 / 6)


class Uniform(Distribution):
    """Even between low, included, and high, excluded."""

    has_rsample = True

    def __init__(self, low: Value, high: Value, validate_args: bool | None = None) -> None:
        self.low, self.high = floating(low, high)
        super().__init__(self.low.shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(f.rand(self._drawn_shape(sample_shape)))

    def log_prob(self, value: Value) -> Tensor:
        inside = (self.low <= value) & (self.high > value)
        return f.where(inside, -f.log(self.high - self.low), -math.inf)

    def entropy(self) -> Tensor:
        return f.log(self.high - self.low)

    def cdf(self, value: Value) -> Tensor:
        return f.clip((value - self.low) / (self.high - self.low), 0.0, 1.0)

    def icdf(self, value: Value) -> Tensor:
        return self.low + (self.high - self.low) * value

    @property
    def mean(self) -> Tensor:
        return (self.low + self.high) * 0.5

    @property
    def variance(self) -> Tensor:
        return f.square(self.high - self.low) * (1 / 12)


class Exponential(Distribution):
    """The time until something happens that happens `rate` times in a unit of time."""

    has_rsample = True

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        (self.rate,) = floating(rate)
        super().__init__(self.rate.shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return -f.log(f.rand(self._drawn_shape(sample_shape))) / self.rate

    def log_prob(self, value: Value) -> Tensor:
        return f.log(self.rate) - self.rate * value

    def entropy(self) -> Tensor:
        return 1.0 - f.log(self.rate)

    def cdf(self, value: Value) -> Tensor:
        return -f.expm1(-self.rate * value)

    def icdf(self, value: Value) -> Tensor:
        return -f.log1p(-value) / self.rate

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.rate

    @property
    def mode(self) -> Tensor:
        return f.zeros_like(self.rate)

    @property
    def variance(self) -> Tensor:
        return 1.0 / f.square(self.rate)
