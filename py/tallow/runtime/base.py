"""The seam between plans and what runs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..compile import Begin, Compiled, Target
from ..compile.limits import Limits
from .buffer import Buffer, Memory


@dataclass(frozen=True)
class DeviceInfo:
    """What a device reports. adapter: its real name; features: WebGPU's names for them."""

    device: str
    adapter: str
    features: tuple[str, ...] = ()


# A profile repeats the run for this time by default, but at most this often: many clocks are
# coarse.
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


Feed = Any
"""Bytes as the device takes them, in any contiguous buffer, or a `Buffer` of the device."""


Result = Any
"""A HostArray of what is fetched, a `Buffer` of what stays."""


class Program(Protocol):
    """A plan, loaded: weights in place, `prepare` done, ready to run.

    Inputs come in the plan's order.
    """

    def use_states(self, states: Sequence[Buffer]) -> None:
        """Binds the plan's states, in its order, to these buffers, which all later runs read and
        update. A plan with states runs only after that."""

    def run(self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None) -> list[Result]:
        """Runs, and blocks until the outputs that are fetched are there.

        fetch: which outputs come to the host; None means all. The others stay on the device, as
        buffers of their own. Does not wait if none is fetched.
        """

    async def run_async(
        self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None
    ) -> list[Result]:
        """Runs like `run`, without blocking the event loop."""

    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Timing:
        """Runs on inputs in the plan's order, some times, and tells how long each step took.

        Every run updates the states: have it use clones. seconds: no run is started after that
        time.
        """

    async def profile_async(
        self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS
    ) -> Timing:
        """Profiles like `profile`, without blocking the event loop."""

    @property
    def stats(self) -> dict[str, Any]:
        """kernels, dispatches (of one run), slots, bytes, runs, adapter."""

    def close(self) -> None:
        """Frees what the program holds; running it afterwards is a DeviceError."""


class Backend(Protocol):
    """A device that loads plans."""

    @property
    def target(self) -> Target:
        """What plans for it are compiled for."""

    @property
    def info(self) -> DeviceInfo:
        """What the device reports."""

    @property
    def limits(self) -> Limits:
        """What kernels for it may use."""

    @property
    def memory(self) -> Memory:
        """The owner of its buffers; a new object after a loss."""

    def tuning_record(self) -> str | None:
        """What `keep_tuning_record` kept for this adapter; None if nothing. Raises OSError or a
        TallowError where storage is refused."""

    async def keep_tuning_record(self, text: str) -> None:
        """Keeps a text for this adapter, beyond the process. Raises OSError or a TallowError."""

    @property
    def begin(self) -> Begin | None:
        """Starts to compile a kernel of the plan that `load_now` gets next, while Python writes
        the others; None where Python would wait for that."""

    def load(self, compiled: Compiled) -> Program:
        """Loads a plan and blocks until it is ready."""

    async def load_async(self, compiled: Compiled) -> Program:
        """Loads a plan."""

    def load_now(self, compiled: Compiled) -> Program:
        """Loads a plan without waiting for the device, so that it never needs to block. What is
        wrong with the plan may show only when something is read."""
