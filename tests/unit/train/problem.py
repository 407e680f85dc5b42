"""A small problem for learners: which of three coordinates is the largest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tallow as tl
from tallow import nn, optim
from tallow.data import DataLoader, TensorDataset
from tallow.metrics import Metric
from tallow.train import Callback, Learner, Run

_DRAWN = np.random.default_rng(5).standard_normal((250, 4)).astype(np.float32)
X, Y = _DRAWN, _DRAWN[:, :3].argmax(axis=1)
TRAIN, VALID = slice(0, 200), slice(200, 250)
STEPS_PER_EPOCH = 7
"""Of `loaders`: six batches of 32, and one of 8."""


class Accuracy(Metric):
    """The share of right classes."""

    higher_is_better = True

    def __init__(self) -> None:
        super().__init__()
        self.add_state("correct", tl.zeros(()))
        self.add_state("total", tl.zeros(()))

    def update(self, preds: tl.Tensor, target: tl.Tensor) -> None:
        self.correct += (preds.argmax(dim=1) == target).float().sum()
        self.total += float(target.shape[0])

    def compute(self) -> tl.Tensor:
        return self.correct / self.total


class StopAt(Callback):
    """Stops a run after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, learner: Run) -> None:
        if learner.steps == self.step:
            learner.stop("a test")


def network() -> nn.Module:
    """Has parameters, running means, and random numbers in each step."""
    tl.manual_seed(0)
    hidden = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1))
    return nn.Sequential(hidden, nn.Linear(16, 3))


def learner(folder: Path | None = None, **options: Any) -> Learner:
    """A learner with a schedule, a metric and everything else that a checkpoint has to keep."""
    model = network()
    optimizer = optim.AdamW(model.parameters(), lr=0.02)
    given: dict[str, Any] = {
        "metrics": [Accuracy()],
        "checkpoints": folder,
        "schedule": optim.lr_scheduler.StepLR(optimizer, 1, 0.5),
        "early_stopping": 50,
        "seed": 0,
        "progress": False,
    }
    return Learner(model, optimizer, nn.functional.cross_entropy, **(given | options))


def loaders(seed: int | None = 3) -> tuple[DataLoader[Any], DataLoader[Any]]:
    """Batches for training, in a random order, and for validation."""
    train = TensorDataset(tl.asarray(X[TRAIN]), tl.asarray(Y[TRAIN]))
    valid = TensorDataset(tl.asarray(X[VALID]), tl.asarray(Y[VALID]))
    return DataLoader(train, 32, shuffle=True, seed=seed), DataLoader(valid, 32)


def weights(trained: Learner) -> list[Any]:
    """All parameters and running means of a learner's model."""
    return [value.numpy().tolist() for value in trained.model.state_dict().values()]


def figures(trained: Learner) -> list[dict[str, Any]]:
    """The history without what depends on the machine."""
    return [{k: v for k, v in each.items() if k != "seconds"} for each in trained.history]
