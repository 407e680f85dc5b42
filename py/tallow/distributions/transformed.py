"""Distributions of functions of other variables: what all share, and those of normal variables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Generic, Self, TypeVar, overload

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..tensor import Tensor, asarray
from . import constraints
from .constraints import Constraint, dependent_property
from .continuous import Cauchy, Normal
from .distribution import Distribution
from .independent import Independent
from .transforms import (
    AbsTransform,
    ComposeTransform,
    ExpTransform,
    StickBreakingTransform,
    Transform,
)
from .utils import Value, sum_rightmost

T = TypeVar("T")


class TransformedDistribution(Distribution):
    """What transforms make, one after the other, of variables of another distribution. Raises
    OptionError for what is no transform, ShapeError for too few axes."""

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        given = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(each, Transform) for each in given):
            raise OptionError(f"TransformedDistribution: {transforms!r} is no list of transforms")
        self.transforms: list[Transform] = given
        whole = ComposeTransform(given)
        base = base_distribution
        shape, axes = base.batch_shape + base.event_shape, len(base.event_shape)
        if len(shape) < whole.domain.event_dim:
            raise ShapeError(
                f"TransformedDistribution: {shape} has not the {whole.domain.event_dim} axes that "
                "the transforms need"
            )
        outward = whole.forward_shape(shape)
        expanded = whole.inverse_shape(outward)
        if expanded != shape:
            base = base.expand(expanded[: len(expanded) - axes])
        more = whole.domain.event_dim - axes
        self.base_dist = Independent(base, more) if more > 0 else base
        own = whole.codomain.event_dim + max(axes - whole.domain.event_dim, 0)
        cut = len(outward) - own
        super().__init__(outward[:cut], outward[cut:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @dependent_property
    def support(self) -> Constraint:
        if not self.transforms:
            return self.base_dist.support
        region = self.transforms[-1].codomain
        more = len(self.event_shape) - region.event_dim
        return constraints.independent(region, more) if more > 0 else region

    def _forward(self, x: Tensor) -> Tensor:
        for each in self.transforms:
            x = each(x)
        return x

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._forward(self.base_dist.sample(sample_shape)).detach()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Value) -> Tensor:
        y = self._validate_sample(value)
        axes = len(self.event_shape)
        found: Tensor | float = 0.0
        for each in reversed(self.transforms):
            x = each.inverted(y)
            axes += each.domain.event_dim - each.codomain.event_dim
            term = each.log_abs_det_jacobian(x, y)
            found = found - sum_rightmost(term, axes - each.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return found + sum_rightmost(base, axes - len(self.base_dist.event_shape))

    def _turned(self, probability: Tensor) -> Tensor:
        """As it is if the transforms grow, 1 less it if they fall."""
        sign = ComposeTransform(self.transforms).sign
        if not isinstance(sign, Tensor):
            return probability if sign == 1 else 1.0 - probability
        return sign * (probability - 0.5) + 0.5

    def cdf(self, value: Value) -> Tensor:
        y = self._validate_sample(value)
        for each in reversed(self.transforms):
            y = each.inverted(y)
        return self._turned(self.base_dist.cdf(y))

    def icdf(self, value: Value) -> Tensor:
        return self._forward(self.base_dist.icdf(self._turned(asarray(value))))


class OfBase(Generic[T]):
    """A parameter of the distribution that is transformed."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: TransformedDistribution, owner: type) -> T: ...

    def __get__(self, instance: TransformedDistribution | None, owner: type) -> Self | T:
        if instance is None:
            return self
        found: T = getattr(instance.base_dist, self._name)
        return found


class LogNormal(TransformedDistribution):
    """e to a normal variable of this mean and standard deviation."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.positive
    base_dist: Normal
    loc = OfBase[Tensor]()
    scale = OfBase[Tensor]()

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc

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


class LogisticNormal(TransformedDistribution):
    """Parts of 1, one more than there are normal variables along the last axis: a stick broken by
    them."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.simplex
    base_dist: Independent

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def _normal(self) -> Normal:
        found = self.base_dist.base_dist
        assert isinstance(found, Normal)
        return found

    @property
    def loc(self) -> Tensor:
        """The means of the normal variables."""
        return self._normal.loc

    @property
    def scale(self) -> Tensor:
        """Their standard deviations."""
        return self._normal.scale


class _Half(TransformedDistribution):
    """The size of a variable whose distribution is symmetric about 0."""

    arg_constraints = {"scale": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative
    scale = OfBase[Tensor]()

    def __init__(self, base: Distribution, validate_args: bool | None) -> None:
        super().__init__(base, AbsTransform(), validate_args)

    def log_prob(self, value: Value) -> Tensor:
        value = self._validate_sample(value)
        return f.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Value) -> Tensor:
        return 2.0 * self.base_dist.cdf(self._validate_sample(value)) - 1.0

    def icdf(self, value: Value) -> Tensor:
        return self.base_dist.icdf((asarray(value) + 1.0) * 0.5)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)

    @property
    def mode(self) -> Tensor:
        return f.zeros_like(self.scale)


class HalfNormal(_Half):
    """The size of a normal variable of the mean 0."""

    base_dist: Normal

    def __init__(self, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0.0, scale, validate_args), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return f.square(self.scale) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The size of a variable of Cauchy's distribution about 0."""

    base_dist: Cauchy

    def __init__(self, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0.0, scale, validate_args), validate_args)

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return f.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return self.base_dist.variance
