"""A pytest plugin that says where a run spent its processor time: by tier, and the slowest files.

It counts a test's process and all programs that this process has started, browsers too, so that a
busy machine changes little. `build.py test` loads it with `-p tests.processor_time`; elsewhere than
on Linux it counts only programs that have ended.
"""

from __future__ import annotations

import os
import resource
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

MOST = 25
"""Files that are listed."""

_NAME = "processor seconds of its file"


def _descendants(process: int) -> Iterator[int]:
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has just ended
            for child in map(int, task.read_text().split()):
                yield child
                yield from _descendants(child)


def seconds() -> float:
    """What this process and all that it has started have taken of all processors."""
    own, ended = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ticks = 0
    for process in _descendants(os.getpid()):
        with suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # its own, and of what it has started
    return sum(each.ru_utime + each.ru_stime for each in (own, ended)) + ticks / os.sysconf(
        "SC_CLK_TCK"
    )


class Meter:
    """Where tests run: measures each file. Where they are reported: adds that up."""

    def __init__(self) -> None:
        self._before: float | None = None
        self._ends_file = False
        self.files: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Any:
        if self._before is None:
            self._before = seconds()
        self._ends_file = nextitem is None or nextitem.path != item.path
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown" and self._ends_file and self._before is not None:
            now = seconds()
            report.user_properties.append((_NAME, now - self._before))
            self._before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            for name, value in report.user_properties:
                if name == _NAME and isinstance(value, float):
                    self.files[report.nodeid.partition("::")[0]] += value

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if len(self.files) < 2:
            return
        tiers: defaultdict[str, float] = defaultdict(float)
        for path, taken in self.files.items():
            tiers["/".join(path.split("/")[:2])] += taken
        terminalreporter.section("processor seconds")
        for table, most in ((tiers, None), (self.files, MOST)):
            for path, taken in sorted(table.items(), key=lambda each: -each[1])[:most]:
                terminalreporter.line(f"{taken:7.0f}  {path}")
        terminalreporter.line(f"{sum(tiers.values()):7.0f}  in all")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Meter(), "processor time")
