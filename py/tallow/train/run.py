"""`Run`: what callbacks see of a learner."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..metrics import Metric
from ..nn import Module
from ..optim import Optimizer


class Run:
    """A run: where it is, what it measured, and how to end it. A learner is one.

    model: what learns. optimizers: what changes it. metrics: what a validation measures, by name.
    monitor: the name in the records that decides which checkpoint is best; None is valid_loss, or
      train_loss without a validation.
    clock: seconds that never go back.
    """

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(
        self,
        model: Module,
        optimizers: list[Optimizer],
        metrics: dict[str, Metric],
        monitor: str | None,
    ) -> None:
        self.model, self.optimizers, self.metrics = model, optimizers, metrics
        self.monitor = monitor
        self.history: list[dict[str, Any]] = []
        """A record for each epoch, and for each validation within one."""
        self.epoch = 0
        """How many epochs are complete."""
        self.steps = 0
        """How many batches the run has learned from."""
        self.batch = 0
        """How many of them are of the running epoch."""
        self.ended = False
        """Whether the running epoch has no batch left, and its record is yet to be made."""
        self.due = False
        """Whether a record within an epoch is yet to be made."""
        self.epochs = 0
        """How many epochs there are to be."""
        self.batches: int | None = None
        """How many batches an epoch has; None if the data do not tell."""
        self.items = 0
        """How many samples the latest batch had."""
        self.stopped: str | None = None
        """Why the run was stopped; None if it was not."""
        self.best: tuple[str, float] | None = None
        """The best checkpoint, and its monitored value."""

    def stop(self, why: str = "stop() was called") -> None:
        """Ends the run after the running step; a callback may call it.

        why: what `stopped` says then.
        """
        self.stopped = why

    def monitored(self, record: Mapping[str, Any]) -> str:
        """The name in a record that decides which checkpoint is best."""
        return self.monitor or ("valid_loss" if "valid_loss" in record else "train_loss")

    def better(self, name: str) -> str:
        """Which values of a name are better, "min" or "max"."""
        metric = self.metrics.get(name.partition("_")[2])
        return "max" if metric is not None and metric.higher_is_better else "min"
