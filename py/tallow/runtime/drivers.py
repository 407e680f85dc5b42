"""One implementation of what may block, in a form that blocks and in one that is awaited.

Such code is a generator. It yields requests; `run_sync` answers each by blocking, and `run_async`
awaits it. An error of a request is raised where the generator yielded it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.hostarray import HostArray
from ..tensor import Tensor, host_values, host_values_async
from .device import backend, default_device, open_device


class Request(Protocol):
    """Something that may block."""

    def run_sync(self) -> Any:
        """The answer; blocks."""

    async def run_async(self) -> Any:
        """The answer, once it is there."""


@dataclass(frozen=True, slots=True)
class Read:
    """Requests the elements of tensors; the answer is a HostArray for each."""

    tensors: Sequence[Tensor]

    def run_sync(self) -> list[HostArray]:
        """The elements; blocks."""
        return host_values(self.tensors)

    async def run_async(self) -> list[HostArray]:
        """The elements, once they are there."""
        return await asyncio.gather(*host_values_async(self.tensors))


@dataclass(frozen=True, slots=True)
class YieldControl:
    """Requests nothing: lets other tasks run before the next loop iteration."""

    def run_sync(self) -> None:
        """Does nothing."""

    async def run_async(self) -> None:
        """Lets other tasks run."""
        await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Open:
    """Requests that a device be ready, once more after it was lost; the answer is its name. The
    default one, if None."""

    device: str | None

    def run_sync(self) -> str:
        """Opens it; blocks. Raises DeviceUnavailableError."""
        return backend(self.device).info.device

    async def run_async(self) -> str:
        """As `run_sync`, without blocking."""
        await open_device(self.device or default_device())
        return self.run_sync()


Steps = Generator[Any, Any, Any]
"""Yields requests, and returns its result."""


# Why: docs/decisions/onnx.md, "`run` and `run_async` share one implementation"
def run_sync(steps: Steps) -> Any:
    """Runs the generator, blocking, and returns its result."""
    try:
        request: Request = next(steps)
        while True:
            try:
                answer = request.run_sync()
            except Exception as error:
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        return end.value


async def run_async(steps: Steps) -> Any:
    """Runs the generator and returns its result. What cancels the task is raised in it, too."""
    try:
        request: Request = next(steps)
        while True:
            try:
                answer = await request.run_async()
            except (Exception, asyncio.CancelledError) as error:
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        return end.value
