"""Families on a few values, given by probabilities or by their logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functional
from .. import functions as f
from ..core.shape import Shape, broadcast_shapes
from ..errors import ShapeError
from ..tensor import Tensor, asarray
from . import constraints
from .constraints import Constraint, dependent_property
from .distribution import Distribution, ExponentialFamily
from .utils import (
    Value,
    clamp_probs,
    floating,
    lazy_property,
    logits_to_probs,
    normalized,
    one_of,
    probs_to_logits,
)


def weighed(probs: Tensor, values: Tensor) -> Tensor:
    """probs * values; what is impossible has no share, whatever its value (0 log 0 is 0)."""
    never = f.equal(probs, 0)
    return f.where(never, 0.0, probs * f.where(never, 0.0, values))


class Chances(Distribution):
    """A family of which either probs or logits are given: probabilities, or of each on its own
    log(p / (1 - p)). Raises OptionError unless one of both is given."""

    binary = True
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}  # noqa: RUF012

    def __init__(
        self,
        probs: Value | None = None,
        logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(self._given(probs, logits).shape, (), validate_args)

    def _given(self, probs: Value | None, logits: Value | None) -> Tensor:
        """Keeps the parameter that is given."""
        one_of(probs, logits, type(self).__name__)
        name, value = ("logits", logits) if probs is None else ("probs", probs)
        assert value is not None
        (found,) = floating(value)
        vars(self)[name] = found
        self._by_probs = probs is not None
        return found

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, True)

    @lazy_property
    def logits(self) -> Tensor:
        """log(p / (1 - p)), of probabilities kept off 0 and 1."""
        return probs_to_logits(self.probs, True)

    @property
    def param_shape(self) -> Shape:
        """The shape of the parameter that was given."""
        return (self.probs if self._by_probs else self.logits).shape


class Bernoulli(Chances, ExponentialFamily):
    """1 with a probability, else 0. logits: log(p / (1 - p))."""

    has_enumerate_support = True
    support = constraints.boolean

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return (f.rand(shape) < self.probs.detach()).astype(self.probs.dtype)

    def log_prob(self, value: Value) -> Tensor:
        logits, values = floating(self.logits, self._validate_sample(value))
        return -functional.binary_cross_entropy_with_logits(logits, values, reduction="none")

    def entropy(self) -> Tensor:
        certain = f.isinf(self.logits)
        logits = f.where(certain, 0.0, self.logits)
        found = functional.binary_cross_entropy_with_logits(logits, self.probs, reduction="none")
        return f.where(certain, 0.0, found)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._listed(f.arange(2).astype(self.probs.dtype), expand)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        """NaN where both are as likely."""
        found = (self.probs >= 0.5).astype(self.probs.dtype)
        return f.where(self.probs == 0.5, math.nan, found)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1.0 - self.probs)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return functional.softplus(natural_params[0])

    @property
    def _mean_carrier_measure(self) -> Value:
        return 0.0


class ContinuousBernoulli(Chances, ExponentialFamily):
    """Numbers between 0 and 1 of a density proportional to p ** x (1 - p) ** (1 - x) (Loaiza-Ganem
    and Cunningham 2019). lims: between these, where the formulas cancel, series are used."""

    has_rsample = True
    support = constraints.unit_interval

    def __init__(
        self,
        probs: Value | None = None,
        logits: Value | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        super().__init__(probs, logits, validate_args)
        if probs is not None:
            vars(self)["probs"] = clamp_probs(self.probs)

    @property
    def _outside(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    @property
    def _cut(self) -> Tensor:
        """The probabilities, but a limit between the limits."""
        return f.where(self._outside, self.probs, self._lims[0])

    def log_norm(self) -> Tensor:
        """The logarithm of the factor by which the density is 1 altogether."""
        cut, x = self._cut, f.square(self.probs - 0.5)
        found = f.log(f.abs(f.log1p(-cut) - f.log(cut))) - f.log(f.abs(1.0 - 2.0 * cut))
        return f.where(self._outside, found, math.log(2) + (4 / 3 + 104 / 45 * x) * x)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.icdf(f.rand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Value) -> Tensor:
        logits, values = floating(self.logits, self._validate_sample(value))
        loss = functional.binary_cross_entropy_with_logits(logits, values, reduction="none")
        return self.log_norm() - loss

    def cdf(self, value: Value) -> Tensor:
        x, cut = self._validate_sample(value), self._cut
        raised = f.exp(x * f.log(cut) + (1.0 - x) * f.log1p(-cut))
        found = f.where(self._outside, (raised + cut - 1.0) / (2.0 * cut - 1.0), x)
        return f.where(x <= 0.0, 0.0, f.where(x >= 1.0, 1.0, found))

    def icdf(self, value: Value) -> Tensor:
        p, cut = asarray(value), self._cut
        found = f.log1p(-cut + p * (2.0 * cut - 1.0)) - f.log1p(-cut)
        return f.where(self._outside, found / (f.log(cut) - f.log1p(-cut)), p)

    def entropy(self) -> Tensor:
        never, always = f.log1p(-self.probs), f.log(self.probs)
        return self.mean * (never - always) - self.log_norm() - never

    @property
    def mean(self) -> Tensor:
        cut, x = self._cut, self.probs - 0.5
        found = cut / (2.0 * cut - 1.0) + 1.0 / (f.log1p(-cut) - f.log(cut))
        return f.where(self._outside, found, 0.5 + (1 / 3 + 16 / 45 * f.square(x)) * x)

    @property
    def variance(self) -> Tensor:
        cut, x = self._cut, f.square(self.probs - 0.5)
        found = cut * (cut - 1.0) / f.square(1.0 - 2.0 * cut)
        found = found + 1.0 / f.square(f.log1p(-cut) - f.log(cut))
        return f.where(self._outside, found, 1 / 12 - (1 / 15 - 128 / 945 * x) * x)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = f.where(outside, x, self._lims[0] - 0.5)
        found = f.log(f.abs(f.expm1(cut))) - f.log(f.abs(cut))
        return f.where(outside, found, 0.5 * x + f.square(x) * (1 / 24))

    @property
    def _mean_carrier_measure(self) -> Value:
        return 0.0


class Categorical(Distribution):
    """One of the indices along the last axis, int32. probs: weights that need not add up to 1;
    logits: their logarithms. The attributes of these names are normalised.

    Raises OptionError unless one of both is given, ShapeError for one without an axis.
    """

    has_enumerate_support = True
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}  # noqa: RUF012

    _event_axes = 0
    """How many axes a draw has."""

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        one_of(probs, logits, type(self).__name__)
        value = logits if probs is None else probs
        assert value is not None
        (given,) = floating(value)
        if not given.ndim:
            raise ShapeError(f"{type(self).__name__}: the parameters have no axis of categories")
        self._weights, self._by_probs = given, probs is not None
        super().__init__(given.shape[:-1], given.shape[-1:] * self._event_axes, validate_args)

    def _check_parameters(self, looks: bool) -> None:
        """Looks at what was given, since normalising hides what is wrong."""
        name, region = ("probs", constraints.nonnegative) if self._by_probs else (
            "logits", constraints.real)  # fmt: skip
        self._check_one(name, self._weights, region, looks)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities, which add up to 1."""
        if self._by_probs:
            return self._weights / f.sum(self._weights, axis=-1, keepdims=True)
        return logits_to_probs(self._weights)

    @lazy_property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return probs_to_logits(self.probs) if self._by_probs else normalized(self._weights)

    @property
    def param_shape(self) -> Shape:
        """The shape of the probabilities."""
        return self._weights.shape

    @property
    def _num_events(self) -> int:
        return self._weights.shape[-1]

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    def _indices(self, sample_shape: Sequence[int]) -> Tensor:
        """Draws by Gumbel's maximum: the largest of the logits with noise."""
        noise = -f.log(-f.log(f.rand((*sample_shape, *self.param_shape))))
        return f.argmax(self.logits.detach() + noise, axis=-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._indices(sample_shape)

    def log_prob(self, value: Value) -> Tensor:
        return self._log_prob_at(self._validate_sample(value))

    def _log_prob_at(self, indices: Tensor) -> Tensor:
        index = indices.astype("int32")
        shape = broadcast_shapes(index.shape, self.batch_shape, what="log_prob")
        indices = f.expand_dims(f.broadcast_to(index, shape), -1)
        logits = f.broadcast_to(self.logits, (*shape, self._num_events))
        return f.squeeze(f.take_along_axis(logits, indices, axis=-1), -1)

    def entropy(self) -> Tensor:
        return -f.sum(weighed(self.probs, self.logits), axis=-1)

    @property
    def mean(self) -> Tensor:
        """NaN: indices are names."""
        return f.full(self._extended_shape(), math.nan, self.probs.dtype)

    @property
    def mode(self) -> Tensor:
        return f.argmax(self.probs, axis=-1)

    @property
    def variance(self) -> Tensor:
        """NaN."""
        return f.full(self._extended_shape(), math.nan, self.probs.dtype)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All indices, along a first axis."""
        return self._listed(f.arange(self._num_events), expand)


class OneHotCategorical(Categorical):
    """As `Categorical`, but a draw is 1 at its index and 0 elsewhere, in the type of the
    probabilities."""

    _event_axes = 1
    support = constraints.one_hot

    def _one_hot(self, index: Tensor) -> Tensor:
        return functional.one_hot(index, self._num_events).astype(self.probs.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._one_hot(self._indices(sample_shape))

    def log_prob(self, value: Value) -> Tensor:
        return self._log_prob_at(f.argmax(self._validate_sample(value), axis=-1))

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._one_hot(f.argmax(self.probs, axis=-1))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1.0 - self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All draws, along a first axis."""
        return self._one_hot(super().enumerate_support(expand))


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """As `OneHotCategorical`; gradients pass draws as if they were the probabilities (Bengio,
    Leonard, Courville 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
