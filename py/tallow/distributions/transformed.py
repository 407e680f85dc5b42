"""Functions of variables of other families."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functional
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functions.torch_elements import logsumexp
from ..functions.torch_gamma import digamma, lgamma
from ..tensor import Tensor, asarray
from . import constraints
from .constraints import Constraint, dependent_property
from .continuous import Cauchy, Exponential, Normal, Uniform
from .discrete import Categorical, Chances
from .distribution import EULER, Distribution
from .gamma import Gamma
from .independent import Independent
from .transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    StickBreakingTransform,
    Transform,
)
from .utils import Value, clamp_probs, floating, sum_rightmost


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


class LogNormal(TransformedDistribution):
    """e to a normal variable of this mean and standard deviation."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}  # noqa: RUF012
    support = constraints.positive
    base_dist: Normal

    def __init__(self, loc: Value, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

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


class HalfNormal(TransformedDistribution):
    """The size of a normal variable of the mean 0."""

    arg_constraints = {"scale": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative
    base_dist: Normal

    def __init__(self, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0.0, scale, validate_args), AbsTransform(), validate_args)

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

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
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return f.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return f.square(self.scale) * (1 - 2 / math.pi)


class HalfCauchy(TransformedDistribution):
    """The size of a variable of Cauchy's distribution about 0."""

    arg_constraints = {"scale": constraints.positive}  # noqa: RUF012
    support = constraints.nonnegative
    base_dist: Cauchy

    def __init__(self, scale: Value, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0.0, scale, validate_args), AbsTransform(), validate_args)

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

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
    def mean(self) -> Tensor:
        """Infinite."""
        return f.full_like(self.scale, math.inf)

    @property
    def mode(self) -> Tensor:
        return f.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return self.base_dist.variance


class InverseGamma(TransformedDistribution):
    """1 divided by a gamma variable."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}  # noqa: RUF012
    support = constraints.positive
    base_dist: Gamma

    def __init__(
        self, concentration: Value, rate: Value, validate_args: bool | None = None
    ) -> None:
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(-1.0), validate_args)

    @property
    def concentration(self) -> Tensor:
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        return self.base_dist.rate

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
        return self._normal.loc

    @property
    def scale(self) -> Tensor:
        return self._normal.scale


# ---- relaxed choices -----------------------------------------------------------------------------


class LogitRelaxedBernoulli(Chances):
    """The logit of `RelaxedBernoulli`."""

    binary = True
    has_rsample = True
    support = constraints.real

    def __init__(
        self,
        temperature: Value,
        probs: Value | None = None,
        logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        even, kept = clamp_probs(f.rand(shape)), clamp_probs(self.probs)
        noise = f.log(even) - f.log1p(-even)
        return (noise + f.log(kept) - f.log1p(-kept)) / self.temperature

    def log_prob(self, value: Value) -> Tensor:
        away = self.logits - self._validate_sample(value) * self.temperature
        (heat,) = floating(self.temperature)
        return f.log(heat) + away - 2.0 * functional.softplus(away)


class RelaxedBernoulli(TransformedDistribution):
    """A number between 0 and 1 that is near one of them, the colder the nearer, through which
    gradients pass (Maddison, Mnih, Teh 2017; Jang, Gu, Poole 2017)."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012
    support = constraints.unit_interval
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self,
        temperature: Value,
        probs: Value | None = None,
        logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args)

    @property
    def temperature(self) -> Value:
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        return self.base_dist.probs


class ExpRelaxedCategorical(Categorical):
    """The logarithm of `RelaxedOneHotCategorical`."""

    _event_axes = 1
    _alike = ("temperature",)
    has_enumerate_support = False
    has_rsample = True
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    support = constraints.real_vector  # its exponentials add up to 1

    def __init__(
        self,
        temperature: Value,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return Distribution.sample(self, sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        even = clamp_probs(f.rand(self._extended_shape(sample_shape)))
        scores = (self.logits - f.log(-f.log(even))) / self.temperature
        return scores - logsumexp(scores, -1, keepdim=True)

    def log_prob(self, value: Value) -> Tensor:
        (heat,) = floating(self.temperature)
        count = self._num_events
        scores = self.logits - self._validate_sample(value) * heat
        scores = f.sum(scores - logsumexp(scores, -1, keepdim=True), axis=-1)
        return scores + math.lgamma(count) + (count - 1) * f.log(heat)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Parts of 1 of which one is nearly all, the colder the nearer, through which gradients pass
    (Maddison, Mnih, Teh 2017; Jang, Gu, Poole 2017)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012
    support = constraints.simplex
    base_dist: ExpRelaxedCategorical

    def __init__(
        self,
        temperature: Value,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)

    @property
    def temperature(self) -> Value:
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        return self.base_dist.probs
