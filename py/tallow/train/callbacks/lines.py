"""Lines of progress."""

from __future__ import annotations

import shutil
import sys

from ..run import Run
from .base import Callback, Record
from .progress import Progress, amount, duration


class ProgressLines(Callback):
    """Prints a line for each record. In a terminal the last line shows how far the epoch is, and is
    written anew at each look."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def on_epoch_start(self, learner: Run) -> None:
        """Notes when."""
        if sys.stdout is not None and sys.stdout.isatty():  # a program without a console has none
            if self._progress is None:
                self._progress = Progress(learner, learner.clock)
            self._progress.epoch(learner)

    def on_look(self, learner: Run, figures: Record) -> None:
        """Writes the last line anew."""
        if self._progress is None or "items_per_second" not in figures:
            return
        share, left = self._progress.share(learner), self._progress.left(learner)
        parts = [
            f"epoch {learner.epoch + 1:3}/{learner.epochs}",
            f"step {learner.steps:,}" if share is None else f"{share:4.0%}",
            f"train_loss {figures['train_loss']:.4g}",
            f"{amount(figures['items_per_second'])} items/s",
        ]
        if left is not None:
            parts.append(f"{duration(left[0])} left, {duration(left[1])} in all")
        width = shutil.get_terminal_size().columns - 1
        self._write("  ".join(parts)[:width])

    def on_record(self, learner: Run, record: Record) -> None:
        """Prints the line."""
        figures = [
            f"{name} {value:.4g}"
            for name, value in record.items()
            if isinstance(value, float) and name != "seconds"
        ]
        self._write("")
        print(f"epoch {record['epoch']:3}", *figures, f"{record['seconds']:.1f} s", sep="  ")

    def on_fit_end(self, learner: Run) -> None:
        """Leaves no line that is only half true."""
        self._write("")
        self._progress = None

    def _write(self, text: str) -> None:
        """Has a text take the place of the last line, in a terminal."""
        if self._progress is not None:
            sys.stdout.write(f"\r\x1b[K{text}")
            sys.stdout.flush()
