"""How far a run is, as texts."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..run import Run


class Progress:
    """Where a run is, and how long the rest takes, as the time so far says.

    clock: the learner's.
    """

    def __init__(self, learner: Run, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began, self._steps = clock(), learner.steps
        self.epoch(learner)

    def epoch(self, learner: Run) -> None:
        """An epoch begins, or goes on."""
        self._epoch_began, self._batch = self._clock(), learner.batch

    def share(self, learner: Run) -> float | None:
        """Which part of the epoch is over, from 0 to 1; None if the data do not tell."""
        return min(1.0, learner.batch / learner.batches) if learner.batches else None

    def left(self, learner: Run) -> tuple[float, float] | None:
        """The seconds that the epoch will still take, and those of the whole run."""
        now, batches = self._clock(), learner.batches
        done = learner.batch - self._batch
        total = learner.steps - self._steps
        if not batches or done <= 0 or total <= 0:
            return None
        epoch = (now - self._epoch_began) / done * max(0, batches - learner.batch)
        steps = batches * max(0, learner.epochs - learner.epoch) - learner.batch
        return epoch, (now - self._began) / total * max(0, steps)


def duration(seconds: float) -> str:
    """ "1:05" of 65 seconds, "2:00:09" of two hours and 9 seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def amount(number: float) -> str:
    """ "12,345" of a large number, "4.2" of a small one."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def size(count: float) -> str:
    """ "34.1 MB" of so many bytes."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.3g} {unit}" if count < 1000 else f"{count:,.0f} {unit}"


def shown(value: object) -> str:
    """A value of a record."""
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else str(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
