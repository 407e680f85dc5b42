"""Files of figures: JSON lines, a table."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

from ..run import Run
from .base import Callback, Record


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
