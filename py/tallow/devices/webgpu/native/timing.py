"""How long each step of a plan takes on a desktop GPU, by the clock on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ....compile.plan import Step
from ....runtime.base import PROFILE_REPEATS, Timing, typical
from .dispatch import Dispatch

# Seconds for which a step is repeated when it is profiled: a submit costs about 0.1 ms.
_PROFILE_STEP = 0.005
_PROFILE_RUNS = 3

Measure = Callable[[Dispatch, int], float]
"""The seconds that a dispatch takes, of this many in one submit."""


def timing_of(
    steps: Sequence[Step], dispatches: Sequence[Dispatch], measure: Measure, seconds: float
) -> Timing:
    """The times of all steps; dispatches are those of the steps that have a kernel. No further run
    is begun after this many seconds."""
    runs: list[list[float]] = []
    until = time.perf_counter() + seconds
    while not runs or (len(runs) < _PROFILE_RUNS and time.perf_counter() < until):
        runs.append([_step_seconds(dispatch, measure) for dispatch in dispatches])
    found = iter(typical(runs, 0))
    times = [next(found) if step.kernel else 0.0 for step in steps]
    return Timing("clock", times, sum(times), len(runs))


def _step_seconds(dispatch: Dispatch, measure: Measure) -> float:
    once = measure(dispatch, 1)
    repeats = min(PROFILE_REPEATS, int(_PROFILE_STEP / once))
    return measure(dispatch, repeats) if repeats > 1 else once
