"""Ray: its cluster, its actors, and requests for what they answer."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...core.packages import package

_SIGNALS = ("SIGSEGV", "SIGILL", "SIGFPE", "SIGBUS")


@contextmanager
def signals_kept() -> Iterator[None]:
    """Within the block Ray may change what the process does on a fault; afterwards it does what it
    did. Wasmtime ends a run by faults that it handles, and Ray's handlers end the process."""
    if os.name != "posix":
        yield
        return
    libc = ctypes.CDLL(None)
    actions = {int(getattr(signal, name)): ctypes.create_string_buffer(256) for name in _SIGNALS}
    for number, action in actions.items():
        libc.sigaction(number, None, action)
    try:
        yield
    finally:
        for number, action in actions.items():
            libc.sigaction(number, action, None)


def ray_with_cluster(workers: int) -> Any:
    """The package `ray`, connected to a cluster: the one that the program is connected to, that of
    RAY_ADDRESS, or else one of this machine, which ends with the process.

    workers: how many there is to be room for, on this machine.
    Raises: PackageError without Ray.
    """
    ray = package("ray", "train.distributed.RayStrategy", "ray")
    if not ray.is_initialized():
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        options: dict[str, Any] = {"log_to_driver": False}
        if "RAY_ADDRESS" not in os.environ:
            options |= {"num_cpus": max(workers, os.cpu_count() or 1), "include_dashboard": False}
        with signals_kept():
            ray.init(**options)
    return ray


@dataclass(frozen=True, slots=True)
class Answers:
    """Requests what remote calls return. The answer is a list: for each call its result, the
    exception with which it ended, or a TimeoutError if there was none within `seconds`."""

    calls: Sequence[Any]
    seconds: float | None = None

    def run_sync(self) -> list[Any]:
        """The answers; blocks."""
        ray = package("ray", "train.distributed.RayStrategy", "ray")
        ready, _ = ray.wait(list(self.calls), num_returns=len(self.calls), timeout=self.seconds)
        found: list[Any] = []
        for call in self.calls:
            if call not in ready:
                found.append(TimeoutError())
                continue
            try:
                found.append(ray.get(call))
            except ray.exceptions.RayError as error:
                found.append(error)
        return found

    async def run_async(self) -> list[Any]:
        """The answers, once they are there."""
        return await asyncio.to_thread(self.run_sync)
