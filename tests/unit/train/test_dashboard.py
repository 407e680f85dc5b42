"""What a run shows in a terminal, and where there is none."""

from __future__ import annotations

import io
import math
import re
import sys
from typing import Any

import pytest
from rich.console import Console
from tests.unit.train.problem import learner, loaders

from tallow.train import Callback, Dashboard, ProgressLines, Run
from tallow.train.callbacks.braille import plot
from tallow.train.callbacks.progress import amount, duration, shown, size


class Clock(Callback):
    """A clock by which each step takes ten seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def on_step_end(self, learner: Run) -> None:
        self.now += 10.0


def ran(dashboard: Callback, epochs: int = 2, **options: Any) -> Run:
    """A run by such a clock."""
    clock = Clock()
    trained = learner(callbacks=[clock, dashboard], metrics=["accuracy"], **options)
    trained.clock = clock
    trained.fit(*loaders(), epochs=epochs)
    return trained


def pictures(text: str) -> list[str]:
    """What was drawn, one after the other, without colours and movements of the cursor."""
    parts = re.split(r"(?=epoch \d+/\d)", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text))
    return [part.replace("\r", "") for part in parts if part.startswith("epoch")]


def test_a_dashboard_shows_what_is_left_curves_and_records() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, height=60)
    trained = ran(Dashboard(console=console))
    drawn = pictures(out.getvalue())
    assert len(drawn) < 25  # of 14 steps, each longer than a look is apart; two records, and ends
    first, last = drawn[0], drawn[-1]
    assert first.startswith("epoch 1/2  step 1  1:00 left, 2:10 in all  3.2 items/s  ")
    assert "on the device" in first
    assert "━" in first
    assert "train_loss 1." in first and "valid_loss" not in first
    second = next(each for each in drawn if each.startswith("epoch 2/2  step 9 "))
    assert "0:50 left, 0:50 in all" in second
    assert last.startswith("epoch 2/2  step 14")
    assert "done" in last
    for record in trained.history:
        for name in ("train_loss", "valid_loss", "valid_accuracy"):
            assert shown(record[name]) in last
            assert name in last
    assert any("\u2801" <= character <= "\u28ff" for character in last)
    assert all(len(line) <= 100 for line in last.splitlines())


def test_a_narrow_terminal_has_a_narrow_picture() -> None:
    out = io.StringIO()
    ran(Dashboard(console=Console(file=out, force_terminal=True, width=40, height=60)))
    assert pictures(out.getvalue())[0].startswith("epoch 1/2  step 1  1:00 left, 2:10 in")
    assert all(len(line) <= 40 for each in pictures(out.getvalue()) for line in each.splitlines())


def test_data_of_unknown_length_have_no_bar() -> None:
    out = io.StringIO()
    dashboard = Dashboard(console=Console(file=out, force_terminal=True, width=100))
    clock = Clock()
    trained = learner(callbacks=[clock, dashboard], metrics=())
    trained.clock = clock
    trained.fit(iter(list(loaders()[0])), epochs=1)
    drawn = pictures(out.getvalue())
    assert not any("left" in each or "━" in each for each in drawn)


def test_a_run_that_fails_leaves_the_terminal_as_it_was() -> None:
    class Failing(Callback):
        def on_record(self, learner: Run, record: Any) -> None:
            raise ValueError("full")

    out = io.StringIO()
    dashboard = Dashboard(console=Console(file=out, force_terminal=True, width=100))
    with pytest.raises(ValueError, match="full"):
        learner(callbacks=[dashboard, Failing()]).fit(loaders()[0], epochs=1)
    shown_again = "\x1b[?25h"
    assert out.getvalue().rstrip().endswith(shown_again)


def test_without_a_terminal_there_are_lines_and_one_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    dashboard = Dashboard(console=Console(file=io.StringIO(), force_terminal=False))
    with pytest.warns(RuntimeWarning, match="there is no terminal; it prints a line") as warned:
        trained = ran(dashboard, progress=True)  # which adds no lines of its own
        trained.fit(*loaders(), epochs=1)
    assert len(warned) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line[:9] for line in lines] == ["epoch   1", "epoch   2", "epoch   1"]


def test_without_rich_there_are_lines_and_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.warns(RuntimeWarning, match=r"pip install tallow\[dashboard\]"):
        ran(Dashboard())
    assert capsys.readouterr().out.count("epoch ") == 2


def test_a_terminal_has_one_line_that_is_written_anew(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    ran(ProgressLines())
    out = capsys.readouterr().out
    looks = [part for part in out.split("\r\x1b[K") if "items/s" in part]
    assert re.fullmatch(
        r"epoch   1/2   14%  train_loss [\d.]+  3\.2 items/s  1:00 left, 2:10 in all", looks[0]
    )
    lines = [part for part in re.split(r"\r\x1b\[K|\n", out) if part.startswith("epoch   2  ")]
    assert len(lines) == 1  # of the record, which stays
    assert out.endswith("\r\x1b[K")


def test_a_file_has_lines_of_records_alone(capsys: pytest.CaptureFixture[str]) -> None:
    ran(ProgressLines())
    out = capsys.readouterr().out
    assert out.count("\n") == 2
    assert "\r" not in out and "left" not in out


def test_a_program_without_a_console_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert ran(ProgressLines()).epoch == 2


def test_a_plot_has_a_dot_for_each_point_and_lines_between() -> None:
    found = plot([[(0, 0.0), (1, 1.0)]], 2, 1)
    assert (found.low, found.high) == (0.0, 1.0)
    assert "".join(character for character, _ in found.rows[0]) == "⡠⠊"
    flat = plot([[(0, 5.0), (9, 5.0)], [(0, 5.0)]], 2, 1)
    assert [character for character, _ in flat.rows[0]] == ["⠉", "⠉"]
    assert [owner for _, owner in flat.rows[0]] == [1, 0]


def test_a_plot_leaves_out_what_is_not_finite() -> None:
    gap = plot([[(0, 0.0), (1, math.nan), (2, 1.0)]], 2, 1)
    assert gap == plot([[(0, 0.0), (2, 1.0)]], 2, 1)
    empty = plot([[(0, math.inf)]], 3, 1)
    assert "".join(character for character, _ in empty.rows[0]) == "   "


def test_texts_of_figures() -> None:
    assert [duration(each) for each in (0.4, 65, 7209)] == ["0:00", "1:05", "2:00:09"]
    assert [amount(each) for each in (4.24, 12345.6)] == ["4.24", "12,346"]
    assert [size(each) for each in (512, 34_100_000, 5.2e12)] == ["512 B", "34.1 MB", "5,200 GB"]
    assert [shown(each) for each in (0.123456, 1234, math.nan, "x")] == [
        *("0.1235", "1,234", "nan", "x")
    ]
