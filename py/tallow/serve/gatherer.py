"""Requests that wait become batches: pure asyncio, with a clock that a test can set."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import ServiceError


class Clock(Protocol):
    """What tells the time."""

    def time(self) -> float:
        """Seconds since some moment."""

    async def at_most(self, event: asyncio.Event, seconds: float) -> None:
        """Waits for the event, and for so long at most."""


class RealClock:
    """This computer's."""

    def time(self) -> float:
        """See `Clock`."""
        return time.monotonic()

    async def at_most(self, event: asyncio.Event, seconds: float) -> None:
        """See `Clock`."""
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            pass


@dataclass(eq=False)
class Waiting:
    """A request that waits. rows: its length along the first axis. key: requests of one key may
    share a batch. since: when it came."""

    feeds: Any
    rows: int
    key: Hashable
    since: float
    answer: asyncio.Future[Any] = field(repr=False)


Run = Callable[[Sequence[Waiting]], Awaitable[Sequence[Any]]]
"""Computes a batch: an answer, or an exception, for each request."""


class Gatherer:
    """Has requests wait for others, computes them as one batch, and gives each its answer.

    While a batch is computed, the next one gathers. A request whose caller went away is dropped.

    run: computes a batch. most_rows: how many rows a batch has at most; a request of more is a
    batch of its own. wait: how many seconds a request waits for others. most_waiting: how many
    requests wait at most.
    changed: is told how many wait, when that changes.
    """

    def __init__(
        self,
        run: Run,
        most_rows: int,
        wait: float,
        most_waiting: int,
        *,
        clock: Clock | None = None,
        changed: Callable[[int], None] = lambda count: None,
    ) -> None:
        self._run, self._most_rows, self._wait = run, most_rows, wait
        self._most_waiting, self._clock = most_waiting, clock or RealClock()
        self._tell = changed
        self._queue: list[Waiting] = []
        self._changed = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._queue)

    async def ask(self, feeds: Any, rows: int, key: Hashable) -> Any:
        """The answer to a request. A caller that is cancelled takes its request back.

        Raises: ServiceError "busy" if too many wait, and "unready" once it closes; what computing
          raised.
        """
        if self._closing:
            raise ServiceError("unready", "the model is being taken away; ask again")
        self._drop()
        if len(self._queue) >= self._most_waiting:
            raise ServiceError("busy", f"{len(self._queue)} requests wait already; ask again later")
        if self._task is None:
            self._task = asyncio.create_task(self._work())
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.append(Waiting(feeds, rows, key, self._clock.time(), answer))
        self._changed.set()
        self._tell(len(self._queue))
        try:
            return await answer
        finally:
            answer.cancel()  # of a caller that went away; otherwise it is done
            self._drop()

    async def close(self) -> None:
        """Answers what waits, then ends. Nobody can ask any more."""
        self._closing = True
        self._changed.set()
        if self._task is not None:
            await self._task

    async def _work(self) -> None:
        while True:
            self._drop()
            if not self._queue:
                if self._closing:
                    return
                self._changed.clear()
                await self._changed.wait()
                continue
            left = self._queue[0].since + self._wait - self._clock.time()
            batch = self._first()
            full = sum(each.rows for each in batch) >= self._most_rows
            if left > 0 and not full and not self._closing:
                self._changed.clear()
                await self._clock.at_most(self._changed, left)
                continue
            self._keep([each for each in self._queue if each not in batch])
            await self._compute(batch)

    def _drop(self) -> None:
        """Forgets requests whose caller went away."""
        self._keep([each for each in self._queue if not each.answer.done()])

    def _keep(self, queue: list[Waiting]) -> None:
        if len(queue) != len(self._queue):
            self._queue = queue
            self._tell(len(queue))

    def _first(self) -> list[Waiting]:
        """The oldest request, and those that fit into its batch."""
        batch, rows = [self._queue[0]], self._queue[0].rows
        for each in self._queue[1:]:
            if each.key == batch[0].key and rows + each.rows <= self._most_rows:
                batch.append(each)
                rows += each.rows
        return batch

    async def _compute(self, batch: Sequence[Waiting]) -> None:
        try:
            answers = await self._run(batch)
        except Exception as error:
            answers = [error] * len(batch)
        for each, answer in zip(batch, answers, strict=True):
            if each.answer.done():
                continue
            if isinstance(answer, Exception):
                each.answer.set_exception(answer)
            else:
                each.answer.set_result(answer)


def parts(rows: int, most: int) -> list[tuple[int, int]]:
    """Cuts a batch into runs of few lengths, so that few plans are compiled: powers of two, and
    `most`.

    A run may be longer than its rows by an eighth, which is filled up; else the rest is a run of
    its own. So 13 rows are runs of 8, 4 and 1, and 31 rows are one run of 32.
    Returns: (rows, length of the run) of each.
    """
    found = []
    while rows:
        length = min(1 << (rows - 1).bit_length(), most)
        if length > rows and 8 * (length - rows) > length:
            length = 1 << (rows.bit_length() - 1)
        taken = min(rows, length)
        found.append((taken, length))
        rows -= taken
    return found
