"""Learners for the tests of distributed training, which workers import."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.unit.train.problem import X, Y

import tallow as tl
from tallow import nn, optim
from tallow.data import DataLoader, TensorDataset
from tallow.optim import Optimizer
from tallow.train import Learner

MAKERS: dict[str, Callable[[Any], Optimizer]] = {
    "sgd": lambda parameters: optim.SGD(parameters, lr=0.1, momentum=0.9),
    "adamw": lambda parameters: optim.AdamW(parameters, lr=0.02),
}


class Dying(Learner):
    """Its workers die in a step, as often as `path` is there to be removed."""

    path: Path
    at = 3

    def step(self, batch: Any) -> Any:
        """Kills the process, in a worker."""
        if self.steps == self.at and self.path.exists():
            self.path.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().step(batch)


class Failing(Learner):
    """Its second worker fails."""

    def step(self, batch: Any) -> Any:
        """Refuses a share of six samples."""
        if batch[0].shape[0] == 6:
            raise ValueError("six samples are one too few")
        return super().step(batch)


def network(*middle: nn.Module) -> nn.Module:
    """A model without random numbers in its steps."""
    tl.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 16), *middle, nn.Tanh(), nn.Linear(16, 3))


def learner(
    kind: type[Learner] = Learner, optimizer: str = "sgd", *middle: nn.Module, **options: Any
) -> Any:
    """A learner of the small problem."""
    model = network(*middle)
    given = {"seed": 0, "progress": False} | options
    return kind(model, MAKERS[optimizer](model.parameters()), nn.functional.cross_entropy, **given)


def batches(size: int = 32, count: int = 101) -> DataLoader[Any]:
    """Batches in a random order; the last one is smaller."""
    data = TensorDataset(tl.asarray(X[:count]), tl.asarray(Y[:count]))
    return DataLoader(data, size, shuffle=True, seed=3)
