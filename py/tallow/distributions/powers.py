"""Distributions of powers of gamma, exponential and even variables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functions as f
from ..functions.gamma import digamma, lgamma
from ..tensor import Tensor
from . import constraints
from .constraints import Constraint, dependent_property
from .continuous import Exponential, Uniform
from .distribution import EULER
from .gamma import Gamma
from .transformed import OfBase, TransformedDistribution
from .transforms import (
    AffineTransform,
    ExpTransform,
    PowerTransform,
    Transform,
)
from .utils import Value, floating


class InverseGamma(TransformedDistribution):
    """1 divided by a gamma variable."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}  # noqa: RUF012
    support = constraints.positive
    base_dist: Gamma
    concentration = OfBase[Tensor]()
    rate = OfBase[Tensor]()

    def __init__(
        self, concentration: Value, rate: Value, validate_args: bool | None = None
    ) -> None:
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(-1.0), validate_args)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + f.log(self.rate) + lgamma(a) - (1.0 + a) * digamma(a)

    @property
    def mean(self) -> Tensor:
        """Infinite for a concentration of at most 1."""
        there = self.concentration > 1
        held = f.where(there, self.concentration, 2.0)
        return f.where(there, self.rate / (held - 1.0), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1.0)

    @property
    def variance(self) -> Tensor:
        """Infinite for a concentration of at most 2."""
        there = self.concentration > 2
        held = f.where(there, self.concentration, 3.0)
        found = f.square(self.rate / (held - 1.0)) / (held - 2.0)
        return f.where(there, found, math.inf)


class Pareto(TransformedDistribution):
    """Sizes from scale on, of which a share of (scale / x) ** alpha exceeds x."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}  # noqa: RUF012

    def __init__(self, scale: Value, alpha: Value, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = floating(scale, alpha)
        base = Exponential(self.alpha, validate_args)
        parts = [ExpTransform(), AffineTransform(0.0, self.scale)]
        super().__init__(base, parts, validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: object = None) -> Pareto:
        found = super().expand(batch_shape)
        found.transforms = [ExpTransform(), AffineTransform(0.0, found.scale)]
        return found

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Tensor:
        return f.log(self.scale / self.alpha) + 1.0 + 1.0 / self.alpha

    @property
    def mean(self) -> Tensor:
        """Infinite for an alpha of at most 1."""
        there = self.alpha > 1
        held = f.where(there, self.alpha, 2.0)
        return f.where(there, held * self.scale / (held - 1.0), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        """Infinite for an alpha of at most 2."""
        there = self.alpha > 2
        held = f.where(there, self.alpha, 3.0)
        found = held * f.square(self.scale / (held - 1.0)) / (held - 2.0)
        return f.where(there, found, math.inf)


class Weibull(TransformedDistribution):
    """Scale times a power, 1 / concentration, of an exponential variable."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}  # noqa: RUF012
    support = constraints.positive

    def __init__(
        self, scale: Value, concentration: Value, validate_args: bool | None = None
    ) -> None:
        self.scale, self.concentration = floating(scale, concentration)
        base = Exponential(f.ones_like(self.scale), validate_args)
        super().__init__(base, self._parts(), validate_args)

    def _parts(self) -> list[Transform]:
        return [PowerTransform(1.0 / self.concentration), AffineTransform(0.0, self.scale)]

    def entropy(self) -> Tensor:
        c = self.concentration
        return EULER * (1.0 - 1.0 / c) + f.log(self.scale / c) + 1.0

    @property
    def mean(self) -> Tensor:
        return self.scale * f.exp(lgamma(1.0 + 1.0 / self.concentration))

    @property
    def mode(self) -> Tensor:
        """0 for a concentration of at most 1."""
        c = f.maximum(self.concentration, 1.0)
        return self.scale * f.pow((c - 1.0) / c, 1.0 / c)

    @property
    def variance(self) -> Tensor:
        inverse = 1.0 / self.concentration
        squares = f.exp(lgamma(1.0 + 2.0 * inverse))
        return f.square(self.scale) * (squares - f.exp(2.0 * lgamma(1.0 + inverse)))


class Kumaraswamy(TransformedDistribution):
    """A part of 1 (Kumaraswamy 1980), much like `Beta`'s."""

    arg_constraints = {  # noqa: RUF012
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(
        self, concentration1: Value, concentration0: Value, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = floating(concentration1, concentration0)
        base = Uniform(f.zeros_like(self.concentration0), f.ones_like(self.concentration0))
        parts = [
            PowerTransform(1.0 / self.concentration0),
            AffineTransform(1.0, -1.0),
            PowerTransform(1.0 / self.concentration1),
        ]
        super().__init__(base, parts, validate_args)

    def _moment(self, order: int) -> Tensor:
        b, raised = self.concentration0, 1.0 + order / self.concentration1
        return b * f.exp(lgamma(raised) + lgamma(b) - lgamma(raised + b))

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = digamma(b + 1.0) + EULER
        return (1.0 - 1.0 / b) + (1.0 - 1.0 / a) * harmonic - f.log(a) - f.log(b)

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        """NaN where a concentration is below 1, or both are 1."""
        a, b = self.concentration1, self.concentration0
        there = (a >= 1) & (b >= 1) & (a * b > 1)
        ratio = f.where(there, (a - 1.0) / f.where(there, a * b - 1.0, 1.0), 0.0)
        return f.where(there, f.pow(ratio, 1.0 / a), math.nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - f.square(self._moment(1))
