"""One implementation of what may block, in a form that blocks and in one that is awaited.

Such code is a generator. It yields requests; `run_sync` answers each by blocking, and `run_async`
awaits it. An error of a request is raised where the generator yielded it. This is the only place
where the two forms differ, beside what requests do:
those here, and a few where a device or the browser needs its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Request(Protocol):
    """Something that may block."""

    def run_sync(self) -> Any:
        """The answer; blocks."""

    async def run_async(self) -> Any:
        """The answer, once it is there."""


Steps = Generator[Request, Any, T]
"""Yields requests, and returns its result."""


class InThread:
    """Requests a call that blocks; awaited, it runs in another thread."""

    __slots__ = ("_args", "_call")

    def __init__(self, call: Callable[..., Any], *args: Any) -> None:
        self._call, self._args = call, args

    def run_sync(self) -> Any:
        """What the call gives."""
        return self._call(*self._args)

    async def run_async(self) -> Any:
        """What the call gives, once it is there."""
        from asyncio import to_thread  # `import tallow` takes less time without it

        return await to_thread(self._call, *self._args)


class IfAwaited:
    """Requests what only code that awaits can wait for; code that blocks goes on without it, and
    its answer is None."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[[], Awaitable[Any]]) -> None:
        self._call = call

    def run_sync(self) -> None:
        """Does nothing."""

    async def run_async(self) -> Any:
        """What the call gives, once it is there."""
        return await self._call()


class YieldControl:
    """Requests nothing: lets other tasks run before the next loop iteration."""

    __slots__ = ()

    def run_sync(self) -> None:
        """Does nothing."""

    async def run_async(self) -> None:
        """Lets other tasks run."""
        from asyncio import sleep

        await sleep(0)


def at_once(function: Callable[P, T]) -> Callable[P, Steps[T]]:
    """A function that never waits, as steps without a request."""

    @wraps(function)
    def steps(*args: P.args, **options: P.kwargs) -> Steps[T]:
        return function(*args, **options)
        yield

    return steps


# Why: docs/decisions/engine.md, "What may block is written once, as a generator of requests"
def run_sync(steps: Steps[T]) -> T:
    """Runs the generator, blocking, and returns its result."""
    try:
        request = next(steps)
        while True:
            try:
                answer = request.run_sync()
            except Exception as error:
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


async def run_async(steps: Steps[T]) -> T:
    """Runs the generator and returns its result. What cancels the task is raised in it, too."""
    from asyncio import CancelledError

    try:
        request = next(steps)
        while True:
            try:
                answer = await request.run_async()
            except (Exception, CancelledError) as error:
                request = steps.throw(error)
            else:
                request = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result
