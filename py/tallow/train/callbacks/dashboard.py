"""A dashboard in the terminal, drawn by rich."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

from ...core.packages import package
from ...errors import PackageError
from ..run import Run
from .base import Callback, Record
from .braille import plot
from .lines import ProgressLines
from .progress import Progress, amount, duration, shown, size

_COLOURS = ("cyan", "magenta", "yellow", "green")
_MOST_POINTS = 1000


def _rich(name: str) -> Any:
    return package(f"rich.{name}", "a dashboard", "dashboard")


class Dashboard(Callback):
    """Shows a run in the terminal while it goes on: how far it is and what is left, speed, memory,
    curves of losses and metrics, and the latest records. It is drawn at each look, a few times a
    second. Where there is no terminal, or no rich (pip install tallow[dashboard]), it prints a line
    for each record instead, and a warning says so once.

    console: a rich.console.Console; None is one for the terminal.
    rows: how many records are shown. height: of the curves, in lines.
    """

    def __init__(self, *, console: Any = None, rows: int = 8, height: int = 8) -> None:
        self.rows, self.height = rows, height
        self._console = console
        self._live: Any = None
        self._lines: ProgressLines | None = None
        self._curves: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._figures: dict[str, Any] = {}

    # ---- what the learner calls ----------------------------------------------------------------

    def on_fit_start(self, learner: Run) -> None:
        """Begins to draw."""
        self._curves.clear()
        for record in learner.history:
            self._take(record, record["step"], record)
        try:
            console = self._console or _rich("console").Console()
            missing = "" if console.is_terminal else "there is no terminal"
        except PackageError as error:
            missing = str(error)
        if missing:
            if self._lines is None:
                text = f"Dashboard: {missing}; it prints a line for each record instead"
                warnings.warn(text, RuntimeWarning, stacklevel=2)
            self._lines = ProgressLines()
            return
        self._lines = None
        self._progress = Progress(learner, learner.clock)
        self._live = _rich("live").Live(console=console, auto_refresh=False)
        self._live.start()

    def on_epoch_start(self, learner: Run) -> None:
        """Notes when."""
        if self._lines is not None:
            self._lines.on_epoch_start(learner)
        elif self._live is not None:
            self._progress.epoch(learner)

    def on_look(self, learner: Run, figures: Record) -> None:
        """Draws."""
        if self._lines is not None:
            self._lines.on_look(learner, figures)
            return
        self._figures |= figures
        self._take(figures, learner.steps, ("train_loss",))
        self._draw(learner)

    def on_record(self, learner: Run, record: Record) -> None:
        """Draws, with the record."""
        if self._lines is not None:
            self._lines.on_record(learner, record)
            return
        self._take(record, learner.steps, [name for name in record if name.startswith("valid_")])
        self._draw(learner)

    def on_fit_end(self, learner: Run) -> None:
        """Leaves the last picture where it is."""
        if self._lines is not None:
            self._lines.on_fit_end(learner)
        elif self._live is not None:
            self._draw(learner)
            self._live.stop()
            self._live = None

    # ---- the picture ---------------------------------------------------------------------------

    def _take(self, figures: Record, step: int, names: Any) -> None:
        """Adds points to the curves."""
        for name in names:
            value = figures[name]
            if name.startswith(("train_", "valid_")) and isinstance(value, float):
                points = self._curves[name]
                points.append((step, value))
                if len(points) > _MOST_POINTS:
                    del points[1::2]

    def _draw(self, learner: Run) -> None:
        if self._live is not None:
            self._live.update(self._picture(learner), refresh=True)

    def _picture(self, learner: Run) -> Any:
        parts = [self._line(learner), self._plots()]
        if learner.history:
            parts.append(self._table(learner))
        return _rich("console").Group(*parts)

    def _line(self, learner: Run) -> Any:
        """How far the run is; what matters most stands first, as a narrow terminal cuts the end."""
        figures, share = self._figures, self._progress.share(learner)
        left = self._progress.left(learner)
        epoch = min(learner.epoch + 1, learner.epochs)
        parts = [f"epoch {epoch}/{learner.epochs}", f"step {learner.steps:,}"]
        if learner.stopped is not None:
            parts.append(learner.stopped)
        elif learner.epoch == learner.epochs:
            parts.append("done")
        elif left is not None:
            parts.append(f"{duration(left[0])} left, {duration(left[1])} in all")
        if "items_per_second" in figures:
            parts.append(f"{amount(figures['items_per_second'])} items/s")
        if "memory" in figures:
            parts.append(f"{size(figures['memory'])} on the device")
        if "process_memory" in figures:
            parts.append(f"{size(figures['process_memory'])} in the process")
        text = _rich("text").Text("  ".join(parts), overflow="ellipsis", no_wrap=True)
        if share is None or learner.epoch == learner.epochs:
            return text
        grid = _rich("table").Table.grid(expand=True)
        grid.add_row(text)
        grid.add_row(_rich("progress_bar").ProgressBar(total=1.0, completed=share))
        return grid

    def _plots(self) -> Any:
        """Curves of the losses, and of the other measures of validations."""
        losses = {name: c for name, c in self._curves.items() if name.endswith("loss")}
        others = {
            name: curve
            for name, curve in self._curves.items()
            if name.startswith("valid_") and not name.endswith("loss")
        }
        chosen = dict(list(others.items())[: len(_COLOURS)])
        grid = _rich("table").Table.grid(expand=True, padding=(0, 1))
        panels = [_Curves(each, self.height) for each in (losses, chosen) if each]
        for _ in panels:
            grid.add_column(ratio=1)
        if panels:
            grid.add_row(*panels)
        return grid

    def _table(self, learner: Run) -> Any:
        """The latest records."""
        latest = learner.history[-self.rows :]
        names = list(dict.fromkeys(name for record in latest for name in record))
        table = _rich("table").Table(box=None, header_style="bold", padding=(0, 1))
        for name in names:
            table.add_column(name, justify="right")
        for record in latest:
            table.add_row(*(shown(record[name]) if name in record else "" for name in names))
        return table


class _Curves:
    """What rich draws of curves, by name, as wide as there is room."""

    def __init__(self, curves: dict[str, list[tuple[float, float]]], height: int) -> None:
        self.curves, self.height = curves, height

    def __rich_console__(self, console: Any, options: Any) -> Any:
        text, edge = _rich("text").Text(no_wrap=True, overflow="crop"), 9
        width = max(4, options.max_width - edge - 1)
        for number, (name, points) in enumerate(self.curves.items()):
            colour = _COLOURS[number % len(_COLOURS)]
            text.append(f"{name} {points[-1][1]:.4g}  ", colour)
        found = plot(list(self.curves.values()), width, self.height)
        for number, row in enumerate(found.rows):
            at = {0: f"{found.high:.3g}", self.height - 1: f"{found.low:.3g}"}.get(number, "")
            text.append(f"\n{at:>{edge - 1}} ", "dim")
            for character, owner in row:
                text.append(character, _COLOURS[owner % len(_COLOURS)] if owner >= 0 else None)
        yield text
