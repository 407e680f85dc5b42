"""Early stopping."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...errors import OptionError
from ..run import Run
from .base import Callback, Record


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
