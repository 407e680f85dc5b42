"""The seam between plans and what runs them.

What may block is a generator of requests (core/drivers.py): who calls it drives it by `run_sync` or
`run_async`, or yields from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..compile import Begin, Compiled, Target
from ..compile.limits import Limits
from ..core.drivers import Steps
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

    def run(
        self, inputs: Sequence[Feed], fetch: Sequence[bool] | None = None
    ) -> Steps[list[Result]]:
        """Runs; the result is there once the outputs that are fetched are.

        fetch: which outputs come to the host; None means all. The others stay on the device, as
        buffers of their own. Does not wait if none is fetched.
        """

    def start(self, inputs: Sequence[Feed]) -> list[Buffer]:
        """Runs with nothing fetched, so that it need not wait: `run` without its steps, for calls
        that take microseconds."""

    def profile(self, inputs: Sequence[Feed], seconds: float = PROFILE_SECONDS) -> Steps[Timing]:
        """Runs on inputs in the plan's order, some times, and tells how long each step took.

        Every run updates the states: have it use clones. seconds: no run is started after that
        time.
        """

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

    def load(self, compiled: Compiled) -> Steps[Program]:
        """Loads a plan; the program is there once it is ready."""

    def load_now(self, compiled: Compiled) -> Program:
        """Loads a plan without waiting for the device, so that it never needs to block. What is
        wrong with the plan may show only when something is read."""
