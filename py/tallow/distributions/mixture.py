"""Mixtures of distributions of one family."""

from __future__ import annotations

from collections.abc import Sequence

from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functions.statistics import logsumexp
from ..tensor import Tensor
from . import constraints
from .constraints import Constraint, dependent_property
from .discrete import Categorical
from .distribution import Distribution
from .utils import Value


class MixtureSameFamily(Distribution):
    """A draw of one of the components, which lie along the last axis of a batch.

    mixture_distribution: a `Categorical` that chooses. component_distribution: the components.
    Raises OptionError for something else, ShapeError if their batches do not fit.
    """

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise OptionError("MixtureSameFamily: the mixture distribution is not Categorical")
        if not isinstance(component_distribution, Distribution):
            raise OptionError("MixtureSameFamily: the component distribution is no Distribution")
        whole, chosen = component_distribution.batch_shape, mixture_distribution.batch_shape
        count = mixture_distribution.probs.shape[-1]
        fits = all(
            a == b or 1 in (a, b)
            for a, b in zip(reversed(whole[:-1]), reversed(chosen), strict=False)
        )
        if not whole or whole[-1] != count or not fits or len(chosen) > len(whole) - 1:
            raise ShapeError(
                f"MixtureSameFamily: components {whole} of a mixture {chosen} of {count}"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = count
        super().__init__(whole[:-1], component_distribution.event_shape, validate_args)

    @property
    def mixture_distribution(self) -> Categorical:
        """Which component a draw is of."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, along the last axis of the batch."""
        return self._component_distribution

    def expand(self, batch_shape: Sequence[int], _instance: object = None) -> MixtureSameFamily:
        shape = tuple(batch_shape)
        return MixtureSameFamily(
            self._mixture_distribution.expand(shape),
            self._component_distribution.expand((*shape, self._num_component)),
            self._validate_args,
        )

    @dependent_property
    def support(self) -> Constraint:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def _axis(self) -> int:
        """The axis of the components."""
        return -1 - len(self.event_shape)

    @property
    def _shares(self) -> Tensor:
        probs = self._mixture_distribution.probs
        return f.reshape(probs, (*probs.shape, *(1,) * len(self.event_shape)))

    @property
    def mean(self) -> Tensor:
        return f.sum(self._shares * self._component_distribution.mean, axis=self._axis)

    @property
    def variance(self) -> Tensor:
        """The mean variance, and the variance of the means."""
        inner = f.sum(self._shares * self._component_distribution.variance, axis=self._axis)
        away = self._component_distribution.mean - f.expand_dims(self.mean, self._axis)
        return inner + f.sum(self._shares * f.square(away), axis=self._axis)

    def _of_each(self, value: Value) -> Tensor:
        """A value, with an axis for the components."""
        return f.expand_dims(self._validate_sample(value), self._axis)

    def cdf(self, value: Value) -> Tensor:
        found = self._component_distribution.cdf(self._of_each(value))
        return f.sum(found * self._mixture_distribution.probs, axis=-1)

    def log_prob(self, value: Value) -> Tensor:
        found = self._component_distribution.log_prob(self._of_each(value))
        return logsumexp(found + self._mixture_distribution.logits, -1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        chosen = self._mixture_distribution.expand(self.batch_shape).sample(sample_shape)
        drawn = self._component_distribution.sample(sample_shape)
        ones = (1,) * (1 + len(self.event_shape))
        index = f.reshape(chosen, (*chosen.shape, *ones))
        shape = list(drawn.shape)
        shape[drawn.ndim + self._axis] = 1
        found = f.take_along_axis(drawn, f.broadcast_to(index, shape), axis=self._axis)
        return f.squeeze(found, self._axis).detach()

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily({self._mixture_distribution!r}, {self._component_distribution!r})"
        )


__all__ = ["MixtureSameFamily"]
