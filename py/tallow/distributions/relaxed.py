"""Choices that are relaxed to numbers, so that gradients pass them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import functional
from .. import functions as f
from ..functions.statistics import logsumexp
from ..tensor import Tensor
from . import constraints
from .discrete import Categorical, Chances
from .distribution import Distribution
from .transformed import OfBase, TransformedDistribution
from .transforms import (
    ExpTransform,
    SigmoidTransform,
)
from .utils import Value, clamp_probs, floating


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
    temperature = OfBase[Value]()
    logits = OfBase[Tensor]()
    probs = OfBase[Tensor]()

    def __init__(
        self,
        temperature: Value,
        probs: Value | None = None,
        logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args)


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
    temperature = OfBase[Value]()
    logits = OfBase[Tensor]()
    probs = OfBase[Tensor]()

    def __init__(
        self,
        temperature: Value,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)
