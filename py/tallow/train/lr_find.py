"""The learning-rate range test (Smith 2017, "Cyclical Learning Rates for Training Neural Networks",
section 3.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import cycle, islice
from typing import Any, NamedTuple

from ..core.drivers import Steps
from ..errors import OptionError
from ..tensor import reading
from .stepping import Stepping

_SMOOTHING = 0.9
_HOPELESS = 4.0
"""How many times the lowest loss ends the test."""


class LearningRates(NamedTuple):
    """What `lr_find` tried.

    rates: the learning rates. losses: the loss of the step with each, smoothed. suggestion: the
    rate at which the loss fell fastest; None if it never fell.
    """

    rates: list[float]
    losses: list[float]
    suggestion: float | None


def find(
    learner: Stepping, train: Iterable[Any], low: float, high: float, count: int
) -> Steps[LearningRates]:
    """Takes up to `count` steps with rates that grow from low to high, and undoes them."""
    if not 0 < low < high or count < 2:
        raise OptionError(
            f"lr_find: {count} rates from {low} to {high}; give two or more that grow from above 0"
        )
    groups = [group for each in learner.optimizers for group in each.param_groups]
    before = [group["lr"] for group in groups]
    model = learner.model.state_dict()
    states = [each.state_dict() for each in learner.optimizers]
    rates: list[float] = []
    losses: list[float] = []
    mean, training = 0.0, learner.model.training
    learner.model.train()
    try:
        for number, batch in enumerate(islice(cycle(train), count)):
            rate = low * (high / low) ** (number / (count - 1))
            for group in groups:
                group["lr"] = rate
            learner.tally.reset()
            learner.train_batch(batch)
            (vector,) = yield from reading([learner.tally.vector()])
            loss = learner.tally.means(vector.tolist())[1]["loss"]
            if not math.isfinite(loss):
                break
            mean = _SMOOTHING * mean + (1 - _SMOOTHING) * loss
            rates.append(rate)
            losses.append(mean / (1 - _SMOOTHING ** (number + 1)))
            if losses[-1] > _HOPELESS * min(losses):
                break
    finally:
        learner.model.load_state_dict(model)
        for optimizer, state in zip(learner.optimizers, states, strict=True):
            optimizer.load_state_dict(state)
        for group, rate in zip(groups, before, strict=True):
            group["lr"] = rate
        learner.model.train(training)
        learner.tally.reset()
        learner.norms.reset()
    if not rates:
        raise OptionError("lr_find: no step had a finite loss, or the data have no batch")
    falls = [(losses[i + 1] - losses[i], rates[i]) for i in range(len(rates) - 1)]
    steepest = min(falls, default=(0.0, rates[0]))
    return LearningRates(rates, losses, steepest[1] if steepest[0] < 0 else None)
