"""Families on a few values, given by probabilities or by their logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import functional
from .. import functions as f
from ..errors import OptionError, ShapeError
from ..functions.data_types import finfo
from ..functions.torch_elements import logsumexp
from ..shape import broadcast_shapes
from ..tensor import Tensor, asarray
from .distribution import Distribution, Value, floating


def _one_of(probs: Any, logits: Any, what: str) -> None:
    if (probs is None) == (logits is None):
        raise OptionError(f"{what}: give either probs or logits")


def _kept(probs: Tensor) -> Tensor:
    """Probabilities that are neither 0 nor 1, so that their logarithms are finite."""
    least = finfo(probs.dtype).eps
    return f.clip(probs, least, 1 - least)


def weighed(probs: Tensor, values: Tensor) -> Tensor:
    """probs * values; what is impossible has no share, whatever its value (0 log 0 is 0)."""
    never = f.equal(probs, 0)
    return f.where(never, 0.0, probs * f.where(never, 0.0, values))


class Bernoulli(Distribution):
    """1 with a probability, else 0. logits: log(p / (1 - p))."""

    def __init__(
        self,
        probs: Value | None = None,
        logits: Value | None = None,
        validate_args: bool | None = None,
    ) -> None:
        _one_of(probs, logits, "Bernoulli")
        if probs is not None:
            (self.probs,) = floating(probs)
            kept = _kept(self.probs)
            self.logits = f.log(kept) - f.log1p(-kept)
        else:
            (self.logits,) = floating(logits)  # type: ignore[arg-type]
            self.probs = functional.sigmoid(self.logits)
        super().__init__(self.probs.shape)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._drawn_shape(sample_shape)
        return (f.rand(shape) < self.probs.detach()).astype(self.probs.dtype)

    def log_prob(self, value: Value) -> Tensor:
        logits, values = floating(self.logits, value)
        return -functional.binary_cross_entropy_with_logits(logits, values, reduction="none")

    def entropy(self) -> Tensor:
        certain = f.isinf(self.logits)
        logits = f.where(certain, 0.0, self.logits)
        found = functional.binary_cross_entropy_with_logits(logits, self.probs, reduction="none")
        return f.where(certain, 0.0, found)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return (self.probs >= 0.5).astype(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1.0 - self.probs)


class Categorical(Distribution):
    """One of the indices along the last axis, int32. probs: weights that need not add up to 1;
    logits: their logarithms. The attributes of these names are normalised."""

    _event_axes = 0
    """How many axes a draw has."""

    def __init__(
        self,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        _one_of(probs, logits, type(self).__name__)
        (given,) = floating(probs if probs is not None else logits)  # type: ignore[arg-type]
        if not given.ndim:
            raise ShapeError(f"{type(self).__name__}: the parameters have no axis of categories")
        if probs is not None:
            self.probs = given / f.sum(given, axis=-1, keepdims=True)
            self.logits = f.log(_kept(self.probs))
        else:
            self.logits = given - logsumexp(given, -1, keepdim=True)
            self.probs = functional.softmax(self.logits, axis=-1)
        super().__init__(given.shape[:-1], given.shape[-1:] * self._event_axes)

    @property
    def param_shape(self) -> tuple[int, ...]:
        return self.probs.shape

    @property
    def _num_events(self) -> int:
        return self.probs.shape[-1]

    def _indices(self, sample_shape: Sequence[int]) -> Tensor:
        """Draws by Gumbel's maximum: the largest of the logits with noise."""
        noise = -f.log(-f.log(f.rand((*sample_shape, *self.param_shape))))
        return f.argmax(self.logits.detach() + noise, axis=-1)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._indices(sample_shape)

    def log_prob(self, value: Value) -> Tensor:
        index = asarray(value).astype("int32")
        shape = broadcast_shapes(index.shape, self.batch_shape, what="log_prob")
        places = f.expand_dims(f.broadcast_to(index, shape), -1)
        logits = f.broadcast_to(self.logits, (*shape, self._num_events))
        return f.squeeze(f.take_along_axis(logits, places, axis=-1), -1)

    def entropy(self) -> Tensor:
        return -f.sum(weighed(self.probs, self.logits), axis=-1)

    @property
    def mode(self) -> Tensor:
        return f.argmax(self.probs, axis=-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All indices, along a first axis."""
        ones = (1,) * len(self.batch_shape)
        values = f.reshape(f.arange(self._num_events), (-1, *ones))
        return f.broadcast_to(values, (self._num_events, *self.batch_shape)) if expand else values


class OneHotCategorical(Categorical):
    """As `Categorical`, but a draw is 1 at its index and 0 elsewhere, in the type of the
    probabilities."""

    _event_axes = 1

    def _one_hot(self, index: Tensor) -> Tensor:
        return functional.one_hot(index, self._num_events).astype(self.probs.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._one_hot(self._indices(sample_shape))

    def log_prob(self, value: Value) -> Tensor:
        return super().log_prob(f.argmax(asarray(value), axis=-1))

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
