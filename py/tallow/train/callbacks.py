"""What a learner calls on its way, and the callbacks for stopping and for files of figures."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import OptionError
from .run import Run

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
        (its mean so far), items_per_second, and the other means of training."""

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


class EarlyStopping(Callback):
    """Ends a run that no longer becomes better.

    patience: after how many records in a row without a better value.
    monitor: a name in the records; None is what the learner monitors.
    min_delta: by how much a value must be better to count as better.
    mode: "min" or "max", which values are better; None decides by the name, as the learner does.
    Raises: OptionError for a patience below 1 and for an unknown mode.
    """

    def __init__(
        self,
        patience: int = 3,
        *,
        monitor: str | None = None,
        min_delta: float = 0.0,
        mode: str | None = None,
    ) -> None:
        if patience < 1:
            raise OptionError(f"EarlyStopping: patience={patience} is below 1")
        if mode not in (None, "min", "max"):
            raise OptionError(f"EarlyStopping: mode={mode!r} is neither 'min' nor 'max'")
        self.patience, self.monitor = patience, monitor
        self.min_delta, self.mode = abs(min_delta), mode
        self.best, self.waited = math.nan, 0

    def on_record(self, learner: Run, record: Record) -> None:
        """Stops the run after `patience` records that are not better."""
        name = self.monitor or learner.monitored(record)
        if name not in record:
            known = ", ".join(sorted(record))
            raise OptionError(f"EarlyStopping: there is no {name!r} in the records, only {known}")
        value = float(record[name])
        sign = 1.0 if (self.mode or learner.better(name)) == "max" else -1.0
        gain = sign * (value - self.best)
        if math.isnan(self.best) or gain > self.min_delta:
            self.best, self.waited = value, 0
            return
        self.waited += 1
        if self.waited >= self.patience:
            learner.stop(f"{name} was not better than {self.best:.6g} in {self.waited} records")

    def state_dict(self) -> dict[str, Any]:
        """The best value so far, and how many records ago it was."""
        return {"best": self.best, "waited": self.waited}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from `state_dict`."""
        self.best, self.waited = float(state["best"]), int(state["waited"])


class JSONLogger(Callback):
    """Appends each record to a file of JSON lines.

    path: the file; its folder is made.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def on_record(self, learner: Run, record: Record) -> None:
        """Appends a line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(dict(record)) + "\n")


class CSVLogger(Callback):
    """Writes the records as a table, anew after each, so that all of them have all columns.

    path: the file; its folder is made.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def on_record(self, learner: Run, record: Record) -> None:
        """Writes the table."""
        columns = list(dict.fromkeys(name for each in learner.history for name in each))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(f"{self.path.name}.part")
        with part.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, columns)
            table.writeheader()
            table.writerows(learner.history)
        part.replace(self.path)


class ProgressLines(Callback):
    """Prints a line for each record: the progress of a run where there is no terminal."""

    def on_record(self, learner: Run, record: Record) -> None:
        """Prints the line."""
        shown = [
            f"{name} {value:.4g}"
            for name, value in record.items()
            if isinstance(value, float) and name != "seconds"
        ]
        print(f"epoch {record['epoch']:3}", *shown, f"{record['seconds']:.1f} s", sep="  ")
