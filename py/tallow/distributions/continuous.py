"""Families on the line, drawn from by inverting their distribution functions; but the normal one
comes from Box and Muller's (functions/philox.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functions as f
from ..errors import OptionError
from ..functions.bessel import i0e, i1e
from ..functions.special import ndtri
from ..tensor import Tensor, asarray
from . import constraints, draws
from .constraints import Constraint, dependent_property
from .distribution import EULER, HALF_LOG_TAU, Distribution, ExponentialFamily, wrong
from .utils import Value, floating


class _Scaled(Distribution):
    """A family whose members are moved and stretched: loc and scale."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.real

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        self.loc, self.scale = floating(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    def _standard(self, value: Value) -> Tensor:
        return (value - self.loc) / self.scale

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


class Normal(_Scaled, ExponentialFamily):
    """The normal distribution; scale is the standard deviation."""

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.loc + self.scale * f.randn(self._extended_shape(sample_shape))

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        return -0.5 * f.square(self._standard(value)) - f.log(self.scale) - HALF_LOG_TAU

    def entropy(self) -> Tensor:
        return f.log(self.scale) + (0.5 + HALF_LOG_TAU)

    def cdf(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        return 0.5 * (1.0 + f.erf(self._standard(value) * math.sqrt(0.5)))

    def icdf(self, value: Value) -> Tensor:
        return self.loc + self.scale * ndtri(asarray(value))

    @property
    def variance(self) -> Tensor:
        return f.square(self.scale)

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        inverse = f.reciprocal(f.square(self.scale))
        return self.loc * inverse, -0.5 * inverse

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return -0.25 * f.square(x) / y + 0.5 * f.log(-math.pi / y)

    @property
    def _mean_carrier_measure(self) -> Value:
        return 0.0


class Laplace(_Scaled):
    """Two exponential distributions, back to back at loc."""

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(f.rand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        return -f.abs(self._standard(value)) - f.log(2.0 * self.scale)

    def entropy(self) -> Tensor:
        return f.log(2.0 * self.scale) + 1.0

    def cdf(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
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
        return self.icdf(f.rand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        x = self._standard(value)
        return -(x + f.exp(-x)) - f.log(self.scale)

    def entropy(self) -> Tensor:
        return f.log(self.scale) + (1.0 + EULER)

    def cdf(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        return f.exp(-f.exp(-self._standard(value)))

    def icdf(self, value: Value) -> Tensor:
        return self.loc - self.scale * f.log(-f.log(value))

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def variance(self) -> Tensor:
        return f.square(self.scale) * (math.pi**2 / 6)


class Uniform(Distribution):
    """Even between low, included, and high, excluded. Raises OptionError if it is known that low is
    not less than high."""

    has_rsample = True
    arg_constraints = {"low": constraints.dependent, "high": constraints.dependent}  # noqa: RUF012

    def __init__(self, low: Value, high: Value, validate_args: bool | None = None) -> None:
        self.low, self.high = floating(low, high)
        super().__init__(self.low.shape, (), validate_args)
        if self._validate_args is not False and wrong(
            self.low < self.high, self.low, bool(self._validate_args)
        ):
            raise OptionError(f"Uniform: low {self.low!r} is not less than high {self.high!r}")

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        return constraints.interval(self.low, self.high)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(f.rand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        inside = (self.low <= value) & (self.high > value)
        return f.where(inside, -f.log(self.high - self.low), -math.inf)

    def entropy(self) -> Tensor:
        return f.log(self.high - self.low)

    def cdf(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        return f.clip((value - self.low) / (self.high - self.low), 0.0, 1.0)

    def icdf(self, value: Value) -> Tensor:
        return self.low + (self.high - self.low) * value

    @property
    def mean(self) -> Tensor:
        return (self.low + self.high) * 0.5

    @property
    def mode(self) -> Tensor:
        """NaN: there is no mode."""
        return f.full_like(self.low, math.nan)

    @property
    def variance(self) -> Tensor:
        return f.square(self.high - self.low) * (1 / 12)


class Exponential(ExponentialFamily):
    """The time until something happens that happens `rate` times in a unit of time."""

    has_rsample = True
    arg_constraints = {"rate": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative

    def __init__(self, rate: Value, validate_args: bool | None = None) -> None:
        (self.rate,) = floating(rate)
        super().__init__(self.rate.shape, (), validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return -f.log(f.rand(self._extended_shape(sample_shape))) / self.rate

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        return f.log(self.rate) - self.rate * value

    def entropy(self) -> Tensor:
        return 1.0 - f.log(self.rate)

    def cdf(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
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

    @property
    def stddev(self) -> Tensor:
        return 1.0 / self.rate

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return -f.log(-natural_params[0])

    @property
    def _mean_carrier_measure(self) -> Value:
        return 0.0


class Cauchy(_Scaled):
    """The ratio of two normal variables: no mean, no variance."""

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(f.rand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        return -math.log(math.pi) - f.log(self.scale) - f.log1p(f.square(self._standard(value)))

    def entropy(self) -> Tensor:
        return f.log(self.scale) + math.log(4 * math.pi)

    def cdf(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        return f.atan(self._standard(value)) * (1 / math.pi) + 0.5

    def icdf(self, value: Value) -> Tensor:
        return self.loc + self.scale * f.tan(math.pi * (value - 0.5))

    @property
    def mean(self) -> Tensor:
        """NaN."""
        return f.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return f.full_like(self.loc, math.inf)


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold (Pickands 1975): an exponential tail for a concentration of 0,
    heavier ones above, an end below."""

    has_rsample = True
    arg_constraints = {  # noqa: RUF012
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }

    def __init__(
        self,
        loc: Value,
        scale: Value,
        concentration: Value,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.scale, self.concentration = floating(loc, scale, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        ends = self.concentration < 0
        last = self.loc - self.scale / f.where(ends, self.concentration, -1.0)
        return constraints.interval(self.loc, f.where(ends, last, math.inf))

    def _held(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, but for rounding, and 1 instead of it there."""
        nothing = f.abs(self.concentration) <= 1e-8
        return nothing, f.where(nothing, 1.0, self.concentration)

    def _above(self, value: Value) -> Tensor:
        return (self._validate_sample(value) - self.loc) / self.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(f.rand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Value) -> Tensor:
        z, (nothing, held) = self._above(value), self._held()
        heavy = (1.0 / held + 1.0) * f.log1p(held * z)
        return -f.log(self.scale) - f.where(nothing, z, heavy)

    def log_survival_function(self, value: Value) -> Tensor:
        """The logarithm of the probability of more than a value."""
        z, (nothing, held) = self._above(value), self._held()
        return f.where(nothing, -z, -f.log1p(held * z) / held)

    def log_cdf(self, value: Value) -> Tensor:
        """The logarithm of `cdf`."""
        return f.log(self.cdf(value))

    def cdf(self, value: Value) -> Tensor:
        return -f.expm1(self.log_survival_function(value))

    def icdf(self, value: Value) -> Tensor:
        log_survival, (nothing, held) = f.log1p(-asarray(value)), self._held()
        heavy = f.expm1(-held * log_survival) / held
        return self.loc + self.scale * f.where(nothing, -log_survival, heavy)

    def entropy(self) -> Tensor:
        return f.log(self.scale) + self.concentration + 1.0

    @property
    def mean(self) -> Tensor:
        """NaN where there is none, for a concentration of 1 and more."""
        there = self.concentration < 1
        found = self.loc + self.scale / (1.0 - f.where(there, self.concentration, 0.5))
        return f.where(there, found, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """NaN where there is none, for a concentration of 1 / 2 and more."""
        there = self.concentration < 0.5
        held = f.where(there, self.concentration, 0.25)
        found = f.square(self.scale / (1.0 - held)) / (1.0 - 2.0 * held)
        return f.where(there, found, math.nan)


class VonMises(Distribution):
    """A normal distribution round a circle, from -pi to pi."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}  # noqa: RUF012
    support = constraints.real

    def __init__(self, loc: Value, concentration: Value, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = floating(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        angle = draws.von_mises(self.concentration, shape) + self.loc.detach()
        return f.remainder(angle + math.pi, 2 * math.pi) - math.pi

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        # cos - 1 is -2 sin(half)², without cancelling.
        near = -2.0 * self.concentration * f.square(f.sin((value - self.loc) * 0.5))
        return near - math.log(2 * math.pi) - f.log(i0e(self.concentration))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """That round the circle: 1 less the length of the mean direction."""
        return 1.0 - i1e(self.concentration) / i0e(self.concentration)
