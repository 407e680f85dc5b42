"""What programs share that compute on the host: a run is over when the call returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from ..compile.plan import Plan
from ..core.drivers import at_once
from ..errors import DeviceError
from .base import PROFILE_REPEATS, Feed, Result, Timing, typical
from .buffer import Buffer


class ImmediateProgram(ABC):
    """A plan on the host."""

    _plan: Plan
    _closed = False

    @at_once
    def run(self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None) -> list[Result]:
        return self._run(inputs, fetch or [True] * len(self._plan.outputs))

    def start(self, inputs: Sequence[Feed]) -> list[Buffer]:
        return self._run(inputs, [False] * len(self._plan.outputs))

    @abstractmethod
    def _run(self, inputs: Sequence[Feed], fetch: Sequence[bool]) -> list[Result]:
        """Runs on inputs in the plan's order; any buffer of the right size serves."""

    def _check_open(self) -> None:
        if self._closed:
            raise DeviceError(f"{self._plan.name}: the program is closed")


def clocked(steps: Sequence[Callable[[], Any]]) -> list[float]:
    """Takes steps, and tells how many seconds each took."""
    times = []
    for step in steps:
        began = perf_counter()
        step()
        times.append(perf_counter() - began)
    return times


def profiled(run: Callable[[], list[float]], seconds: float, tick: float = 0.0) -> Timing:
    """Runs some times, with the clock around each step.

    run: takes the steps once, and tells how many seconds each took. seconds: no run is started
    after that time. tick: of the clock, in seconds; 0 if it is fine.
    """
    runs: list[list[float]] = []
    until = perf_counter() + seconds
    while not runs or (len(runs) < PROFILE_REPEATS and perf_counter() < until):
        runs.append(run())
    times = typical(runs, tick)
    return Timing("clock", times, sum(times), len(runs), tick)
