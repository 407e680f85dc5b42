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


class Program(Protocol):
    """A plan, loaded: weights in place, `prepare` done, ready to run."""

    def run(self, inputs: Sequence[Any]) -> list[HostArray]:
        """Runs on inputs in the plan's order and blocks until the outputs are there."""

    async def run_async(self, inputs: Sequence[Any]) -> list[HostArray]:
        """Runs on inputs in the plan's order."""

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

    def load(self, compiled: Compiled) -> Program:
        """Loads a plan and blocks until it is ready."""

    async def load_async(self, compiled: Compiled) -> Program:
        """Loads a plan."""
