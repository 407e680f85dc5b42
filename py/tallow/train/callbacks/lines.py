"""Lines of progress."""

from __future__ import annotations

from ..run import Run
from .base import Callback, Record


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
