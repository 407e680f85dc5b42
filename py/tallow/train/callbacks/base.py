"""What a learner calls on its way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..run import Run

Record = Mapping[str, Any]


class Callback:
    """The base of all callbacks; a subclass defines what it needs, the rest does nothing.

    What a callback returns is ignored. To end a run, call `learner.stop()`.
    """

    def on_fit_start(self, learner: Run) -> None:
        """A run begins, or goes on."""

    def on_epoch_start(self, learner: Run) -> None:
        """An epoch begins, or goes on; `learner.epoch` is the number of epochs before it."""

    def on_step_end(self, learner: Run) -> None:
        """A step was given to the device; `learner.steps` counts it. Nothing is read."""

    def on_look(self, learner: Run, figures: Record) -> None:
        """Figures of the running epoch were read, which happens a few times a second: train_loss
        (its mean so far) and the other means of training, lr, items_per_second (since the look
        before; not where an epoch ends), memory, process_memory where the system tells it, and
        grad_norm if it is measured."""

    def on_record(self, learner: Run, record: Record) -> None:
        """An epoch, or a validation within one, has ended; the record is in `learner.history`."""

    def on_checkpoint(self, learner: Run, name: str) -> None:
        """A checkpoint was written."""

    def on_fit_end(self, learner: Run) -> None:
        """A run has ended, whether it was complete, was stopped, or failed."""

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps: numbers, texts, lists and dicts."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from `state_dict`."""
