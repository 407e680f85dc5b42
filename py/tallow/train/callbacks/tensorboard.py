"""Figures for TensorBoard."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...utils.tensorboard import SummaryWriter
from ..run import Run
from .base import Callback, Record


class TensorBoard(Callback):
    """Writes what a run measures into a folder that TensorBoard shows: `train/loss` and the like at
    each look, `valid/loss` and metrics with each record, over steps.

    folder: the folder of the run; it is made.
    histograms: whether each record has a histogram of each parameter, which is read for it.
    hparams: what the run was given: numbers, truths and texts by name. When it ends, they are kept
      with the last record.
    Raises: PackageError when a run begins without tensorboard: pip install tallow[tensorboard].
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        histograms: bool = False,
        hparams: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder, self.histograms, self.hparams = str(folder), histograms, hparams
        self._writer: SummaryWriter | None = None

    def on_fit_start(self, learner: Run) -> None:
        """Begins a file. A run that goes on hides what was written after its checkpoint."""
        goes_on = learner.steps + 1 if learner.steps else None
        self._writer = SummaryWriter(self.folder, purge_step=goes_on)

    def on_look(self, learner: Run, figures: Record) -> None:
        """Writes the figures of steps."""
        self._write(figures, learner.steps)

    def on_record(self, learner: Run, record: Record) -> None:
        """Writes the figures of a validation, and the histograms."""
        measured = {name: x for name, x in record.items() if name.startswith("valid_")}
        self._write(measured, learner.steps)
        if self.histograms and self._writer is not None:
            for name, parameter in learner.model.named_parameters():
                self._writer.add_histogram(name.replace(".", "/"), parameter, learner.steps)
        if self._writer is not None:
            self._writer.flush()

    def on_fit_end(self, learner: Run) -> None:
        """Ends the file."""
        if self._writer is None:
            return
        if self.hparams is not None and learner.history:
            last = learner.history[-1]
            ended = {_tag(x): last[x] for x in last if x.startswith(("train_", "valid_"))}
            self._writer.add_hparams(self.hparams, ended, run_name=".", global_step=learner.steps)
        self._writer.close()
        self._writer = None

    def _write(self, figures: Record, step: int) -> None:
        for name, value in figures.items():
            if self._writer is not None and isinstance(value, (int, float)):
                self._writer.add_scalar(_tag(name), value, step)


def _tag(name: str) -> str:
    """A figure's name; TensorBoard shows together what begins alike."""
    kind, _, rest = name.partition("_")
    return f"{kind}/{rest}" if kind in ("train", "valid") else f"run/{name}"
