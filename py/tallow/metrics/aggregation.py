"""Metrics of values themselves: their mean, sum, greatest and least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import functions as f
from ..core import context
from ..errors import NonFiniteError
from ..tensor import Tensor, asarray
from .metric import Summed
from .tasks import one_of


class Aggregator(Summed):
    """The base of metrics of values themselves.

    nan_strategy: what becomes of NaN: "warn" and "ignore" leave it out (torchmetrics warns of it,
      which would need a read here), "error" raises NonFiniteError outside of compiled functions,
      "disable" keeps it, and a number takes its place.
    Raises: OptionError for another strategy.
    Source: torchmetrics, `aggregation`.
    """

    empty = 0.0
    """The value of no values."""

    def __init__(self, nan_strategy: str | float = "warn") -> None:
        super().__init__()
        if not isinstance(nan_strategy, float):
            allowed = ("error", "warn", "ignore", "disable")
            one_of(f"{type(self).__name__}: nan_strategy", nan_strategy, allowed)
        self.nan_strategy = nan_strategy
        self.add_state("value", asarray(self.empty))

    def cleaned(self, value: Any, weight: Any = 1.0) -> tuple[Tensor, Tensor]:
        """Values and weights of one shape, float32; weights of 0 where values are left out."""
        value, weight = (asarray(each).astype("float32") for each in (value, weight))
        value, weight = f.broadcast_arrays(value, weight)
        bad = f.isnan(value) | f.isnan(weight)
        if isinstance(self.nan_strategy, float):
            return f.where(bad, self.nan_strategy, value), f.where(bad, 1.0, weight)
        if self.nan_strategy == "disable":
            return value, weight
        if self.nan_strategy == "error" and not context.trace.get() and bool(bad.any()):
            raise NonFiniteError(f"{type(self).__name__}: a value is NaN")
        return f.where(bad, self.empty, value), f.where(bad, 0.0, weight)

    def of_states(self, *states: Tensor) -> Tensor:
        return states[0]


class SumMetric(Aggregator):
    """The sum of all values. nan_strategy: see `Aggregator`."""

    def of_batch(self, value: Any) -> list[Tensor]:
        return [self.cleaned(value)[0].sum()]


class MeanMetric(Aggregator):
    """The mean of all values, which may have weights. nan_strategy: see `Aggregator`."""

    def __init__(self, nan_strategy: str | float = "warn") -> None:
        super().__init__(nan_strategy)
        self.add_state("weight", asarray(0.0))

    def of_batch(self, value: Any, weight: Any = 1.0) -> list[Tensor]:
        value, weight = self.cleaned(value, weight)
        return [(value * weight).sum(), weight.sum()]

    def of_states(self, *states: Tensor) -> Tensor:
        return states[0] / states[1]


class MaxMetric(Aggregator):
    """The greatest of all values. nan_strategy: see `Aggregator`."""

    empty = -f.inf

    def of_batch(self, value: Any) -> list[Tensor]:
        return [f.max(self.cleaned(value)[0])]

    def combine(self, states: Sequence[Tensor], parts: Sequence[Tensor]) -> list[Tensor]:
        return [f.maximum(states[0], parts[0])]


class MinMetric(Aggregator):
    """The least of all values. nan_strategy: see `Aggregator`."""

    empty = f.inf

    def of_batch(self, value: Any) -> list[Tensor]:
        return [f.min(self.cleaned(value)[0])]

    def combine(self, states: Sequence[Tensor], parts: Sequence[Tensor]) -> list[Tensor]:
        return [f.minimum(states[0], parts[0])]
