"""The gamma distribution and families made of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functional
from .. import functions as f
from ..errors import ShapeError
from ..functions.data_types import finfo
from ..functions.gamma import digamma, gammainc, lgamma
from ..functions.special import xlogy
from ..tensor import Tensor
from . import constraints, draws
from .distribution import Distribution, ExponentialFamily
from .utils import Value, broadcast_all, floating


class Gamma(ExponentialFamily):
    """The time until something has happened `concentration` times that happens `rate` times in a
    unit of time."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative

    def __init__(
        self, concentration: Value, rate: Value, validate_args: bool | None = None
    ) -> None:
        self.concentration, self.rate = floating(concentration, rate)
        super().__init__(self.concentration.shape, (), validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = draws.standard_gamma(self.concentration, shape) / self.rate
        return f.maximum(drawn, finfo(drawn.dtype).tiny)

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        powers = xlogy(self.concentration, self.rate) + xlogy(self.concentration - 1.0, value)
        return powers - self.rate * value - lgamma(self.concentration)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - f.log(self.rate) + lgamma(a) + (1.0 - a) * digamma(a)

    def cdf(self, value: Value) -> Tensor:
        return gammainc(self.concentration, self.rate * self._validate_sample(value))

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return f.maximum((self.concentration - 1.0) / self.rate, 0.0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / f.square(self.rate)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1.0, -self.rate

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return lgamma(x + 1.0) + (x + 1.0) * f.log(-1.0 / y)

    @property
    def _mean_carrier_measure(self) -> Value:
        return 0.0


class Chi2(Gamma):
    """The sum of the squares of df standard normal variables."""

    arg_constraints = {"df": constraints.positive}  # noqa: RUF012

    def __init__(self, df: Value, validate_args: bool | None = None) -> None:
        (self._df,) = floating(df)
        super().__init__(0.5 * self._df, 0.5, validate_args)

    def _check_parameters(self, looks: bool) -> None:
        self._check_one("df", self._df, constraints.positive, looks)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2.0


class Dirichlet(ExponentialFamily):
    """Parts of 1, along the last axis: gamma variables divided by their sum. Raises ShapeError for
    a concentration without an axis."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}  # noqa: RUF012
    support = constraints.simplex

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        (self.concentration,) = floating(concentration)
        shape = self.concentration.shape
        if not shape:
            raise ShapeError("Dirichlet: the concentration has no axis of parts")
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = draws.standard_gamma(self.concentration, self._extended_shape(sample_shape))
        return drawn / f.sum(drawn, axis=-1, keepdims=True)

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        a = self.concentration
        powers = f.sum(xlogy(a - 1.0, value), axis=-1)
        return powers + lgamma(f.sum(a, axis=-1)) - f.sum(lgamma(a), axis=-1)

    def entropy(self) -> Tensor:
        a = self.concentration
        total = f.sum(a, axis=-1)
        found = f.sum(lgamma(a) - (a - 1.0) * digamma(a), axis=-1) - lgamma(total)
        return found - (float(a.shape[-1]) - total) * digamma(total)

    @property
    def mean(self) -> Tensor:
        return self.concentration / f.sum(self.concentration, axis=-1, keepdims=True)

    @property
    def mode(self) -> Tensor:
        """Where all concentrations are below 1, all of the largest."""
        above = f.maximum(self.concentration - 1.0, 0.0)
        total = f.sum(above, axis=-1, keepdims=True)
        corner = functional.one_hot(
            f.argmax(self.concentration, axis=-1), self.concentration.shape[-1]
        ).astype(above.dtype)
        small = f.all(self.concentration < 1.0, axis=-1, keepdims=True)
        return f.where(small, corner, above / total)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        total = f.sum(a, axis=-1, keepdims=True)
        return a * (total - a) / (f.square(total) * (total + 1.0))

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        return f.sum(lgamma(x), axis=-1) - lgamma(f.sum(x, axis=-1))


class Beta(ExponentialFamily):
    """A part of 1: the first of `Dirichlet`'s two."""

    has_rsample = True
    arg_constraints = {  # noqa: RUF012
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(
        self, concentration1: Value, concentration0: Value, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = floating(concentration1, concentration0)
        super().__init__(self.concentration1.shape, (), validate_args)

    @property
    def _dirichlet(self) -> Dirichlet:
        both = f.stack([self.concentration1, self.concentration0], axis=-1)
        return Dirichlet(both, validate_args=False)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        powers = xlogy(a - 1.0, value) + xlogy(b - 1.0, 1.0 - value)
        return powers + lgamma(a + b) - lgamma(a) - lgamma(b)

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (f.square(total) * (total + 1.0))

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return lgamma(x) + lgamma(y) - lgamma(x + y)


class FisherSnedecor(Distribution):
    """The ratio of two variances, of df1 and df2 degrees of freedom."""

    has_rsample = True
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}  # noqa: RUF012
    support = constraints.positive

    def __init__(self, df1: Value, df2: Value, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = floating(df1, df2)
        super().__init__(self.df1.shape, (), validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        first = draws.standard_gamma(self.df1 * 0.5, shape) / self.df1
        second = draws.standard_gamma(self.df2 * 0.5, shape) / self.df2
        least = finfo(second.dtype).tiny
        return f.maximum(first / f.maximum(second, least), least)

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        found = lgamma(a + b) - lgamma(a) - lgamma(b)
        found = found + a * f.log(ratio) + (a - 1.0) * f.log(value)
        return found - (a + b) * f.log1p(ratio * value)

    @property
    def mean(self) -> Tensor:
        """NaN where there is none."""
        there = self.df2 > 2
        held = f.where(there, self.df2, 3.0)
        return f.where(there, held / (held - 2.0), math.nan)

    @property
    def mode(self) -> Tensor:
        """NaN for a df1 of at most 2."""
        found = (self.df1 - 2.0) / self.df1 * self.df2 / (self.df2 + 2.0)
        return f.where(self.df1 > 2, found, math.nan)

    @property
    def variance(self) -> Tensor:
        """NaN where there is none."""
        there = self.df2 > 4
        held = f.where(there, self.df2, 5.0)
        found = 2.0 * f.square(held) * (self.df1 + held - 2.0)
        found = found / (self.df1 * f.square(held - 2.0) * (held - 4.0))
        return f.where(there, found, math.nan)


class StudentT(Distribution):
    """A normal variable divided by a standard deviation of df degrees of freedom (Student 1908)."""

    has_rsample = True
    arg_constraints = {  # noqa: RUF012
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real

    def __init__(
        self, df: Value, loc: Value = 0.0, scale: Value = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = floating(*broadcast_all(df, loc, scale))
        super().__init__(self.df.shape, (), validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        squares = draws.standard_gamma(self.df * 0.5, shape) * 2.0
        return self.loc + self.scale * f.randn(shape) / f.sqrt(squares / self.df)

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        y, half = (value - self.loc) / self.scale, 0.5 * (self.df + 1.0)
        scaled = f.log(self.scale) + 0.5 * f.log(math.pi * self.df)
        found = lgamma(half) - lgamma(0.5 * self.df) - scaled
        return found - half * f.log1p(f.square(y) / self.df)

    def entropy(self) -> Tensor:
        half, whole = 0.5 * self.df, 0.5 * (self.df + 1.0)
        log_beta = lgamma(half) + 0.5 * math.log(math.pi) - lgamma(whole)
        found = f.log(self.scale) + whole * (digamma(whole) - digamma(half))
        return found + 0.5 * f.log(self.df) + log_beta

    @property
    def mean(self) -> Tensor:
        """NaN where there is none, for a df of at most 1."""
        return f.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """Infinite for a df of at most 2, NaN for one of at most 1."""
        there = self.df > 2
        held = f.where(there, self.df, 3.0)
        found = f.square(self.scale) * held / (held - 2.0)
        return f.where(there, found, f.where(self.df > 1, math.inf, math.nan))


__all__ = ["Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "StudentT"]
