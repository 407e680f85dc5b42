"""The seam between plans and what runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..compile import Compiled, Limits
from ..hostarray import HostArray


@dataclass(frozen=True)
class DeviceInfo:
    """What a device says of itself. adapter: its real name; features: WebGPU's names for them."""

    device: str
    adapter: str
    features: tuple[str, ...] = ()


# A profile repeats the run for so long, unless told otherwise, but no more often than that: many
# clocks are coarse.
PROFILE_SECONDS = 0.5
PROFILE_REPEATS = 50


@dataclass(frozen=True)
class Timing:
    """How long the steps of a plan's `run` took, in `repeats` runs: see `typical`.

    source: "timestamp" (by the GPU's clock), "clock" (by the host's) or "counted" (the steps could
    not be measured). seconds: of each step, None if counted. total: of a run. resolution: a tick
    of the clock in seconds, 0 if it is finer than matters.
    """

    source: str
    seconds: Sequence[float] | None
    total: float
    repeats: int
    resolution: float = 0.0


def typical(runs: Sequence[Sequence[float]], resolution: float) -> list[float]:
    """One figure per step from those of several runs: the median, since other programs disturb
    some runs; by a coarse clock the mean, whose error shrinks with every run."""
    if resolution:
        return [sum(times) / len(times) for times in zip(*runs, strict=True)]
    return [sorted(times)[(len(times) - 1) // 2] for times in zip(*runs, strict=True)]


class Program(Protocol):
    """A plan, loaded: weights in place, `prepare` done, ready to run."""

    def run(self, inputs: Sequence[Any]) -> list[HostArray]:
        """Runs on inputs in the plan's order and blocks until the outputs are there."""

    async def run_async(self, inputs: Sequence[Any]) -> list[HostArray]:
        """Runs on inputs in the plan's order."""

    def profile(self, inputs: Sequence[Any], seconds: float = PROFILE_SECONDS) -> Timing:
        """Runs on inputs in the plan's order, some times, and tells how long each step took.

        seconds: no further run is begun after that long.
        """

    async def profile_async(
        self, inputs: Sequence[Any], seconds: float = PROFILE_SECONDS
    ) -> Timing:
        """As `profile`."""

    @property
    def stats(self) -> dict[str, Any]:
        """kernels, dispatches (of one run), slots, bytes, runs, adapter."""

    def close(self) -> None:
        """Frees what the program holds; running it afterwards is a DeviceError."""


class Backend(Protocol):
    """A device that loads plans."""

    @property
    def info(self) -> DeviceInfo: ...

    @property
    def limits(self) -> Limits: ...

    def tuning_record(self) -> str | None:
        """What `keep_tuning_record` kept for this adapter; None if nothing. Raises OSError or a
        TallowError where storage is refused."""

    async def keep_tuning_record(self, text: str) -> None:
        """Keeps a text for this adapter, beyond the process. Raises OSError or a TallowError."""

    def load(self, compiled: Compiled) -> Program:
        """Loads a plan and blocks until it is ready."""

    async def load_async(self, compiled: Compiled) -> Program:
        """Loads a plan."""
