"""The gatherer, with a clock that the test sets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tallow.errors import ServiceError
from tallow.serve.gatherer import Gatherer, parts


class SetClock:
    """Time passes when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: list[tuple[float, asyncio.Event]] = []

    def time(self) -> float:
        return self.now

    async def at_most(self, event: asyncio.Event, seconds: float) -> None:
        timer = asyncio.Event()
        self._timers.append((self.now + seconds, timer))
        waits = [asyncio.create_task(each.wait()) for each in (event, timer)]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for each in waits:
            each.cancel()

    async def pass_(self, seconds: float) -> None:
        self.now += seconds
        for at, timer in self._timers:
            if at <= self.now:
                timer.set()
        await settle()


async def settle() -> None:
    """Everything that can go on has gone on."""
    for _ in range(20):
        await asyncio.sleep(0)


class Runs:
    """What was computed: twice each request. `hold` has the runs wait."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, batch: Any) -> list[Any]:
        self.batches.append([each.feeds for each in batch])
        await self.go.wait()
        return [each.feeds * 2 for each in batch]


def test_gathers_until_the_oldest_has_waited() -> None:
    async def go() -> None:
        clock, runs = SetClock(), Runs()
        gatherer = Gatherer(runs, 8, 1.0, 100, clock=clock)
        first = asyncio.create_task(gatherer.ask(1, 1, "k"))
        await settle()
        await clock.pass_(0.6)
        second = asyncio.create_task(gatherer.ask(2, 1, "k"))
        await settle()
        assert runs.batches == [] and gatherer.waiting == 2
        await clock.pass_(0.5)
        assert runs.batches == [[1, 2]] and gatherer.waiting == 0
        assert [await first, await second] == [2, 4]

    asyncio.run(go())


def test_a_full_batch_does_not_wait() -> None:
    async def go() -> None:
        runs = Runs()
        gatherer = Gatherer(runs, 4, 1.0, 100, clock=SetClock())
        asked = [asyncio.create_task(gatherer.ask(i, 2, "k")) for i in range(3)]
        await settle()
        assert runs.batches == [[0, 1]] and gatherer.waiting == 1
        await gatherer.close()
        assert [await each for each in asked] == [0, 2, 4]

    asyncio.run(go())


def test_other_shapes_are_other_batches_and_large_requests_their_own() -> None:
    async def go() -> None:
        clock, runs = SetClock(), Runs()
        gatherer = Gatherer(runs, 4, 1.0, 100, clock=clock)
        asked = [
            asyncio.create_task(gatherer.ask(i, rows, key))
            for i, (rows, key) in enumerate([(1, "a"), (1, "b"), (1, "a"), (9, "c")])
        ]
        await settle()
        await clock.pass_(1.0)
        assert runs.batches == [[0, 2], [1], [3]]
        assert [await each for each in asked] == [0, 2, 4, 6]

    asyncio.run(go())


def test_the_next_batch_gathers_while_one_is_computed() -> None:
    async def go() -> None:
        clock, runs = SetClock(), Runs()
        gatherer = Gatherer(runs, 8, 0.0, 100, clock=clock)
        runs.go.clear()
        asked = [asyncio.create_task(gatherer.ask(1, 1, "k"))]
        await settle()
        asked += [asyncio.create_task(gatherer.ask(i, 1, "k")) for i in (2, 3)]
        await settle()
        runs.go.set()
        assert [await each for each in asked] == [2, 4, 6]
        assert runs.batches == [[1], [2, 3]]

    asyncio.run(go())


def test_who_goes_away_is_dropped_waiting_or_computed() -> None:
    async def go() -> None:
        clock, runs = SetClock(), Runs()
        gatherer = Gatherer(runs, 8, 1.0, 2, clock=clock)
        first, second = (asyncio.create_task(gatherer.ask(i, 1, "k")) for i in (1, 2))
        await settle()
        first.cancel()
        await settle()
        assert gatherer.waiting == 1  # there is room again
        runs.go.clear()
        await clock.pass_(1.0)
        assert runs.batches == [[2]]
        second.cancel()
        await settle()
        runs.go.set()
        third = asyncio.create_task(gatherer.ask(3, 1, "k"))
        await settle()
        await clock.pass_(1.0)
        assert await third == 6

    asyncio.run(go())


def test_too_many_are_refused_at_once_and_none_after_the_end() -> None:
    async def go() -> None:
        told: list[int] = []
        gatherer = Gatherer(Runs(), 8, 1.0, 2, clock=SetClock(), changed=told.append)
        asked = [asyncio.create_task(gatherer.ask(i, 1, "k")) for i in (1, 2)]
        await settle()
        with pytest.raises(ServiceError, match="2 requests wait already") as refused:
            await gatherer.ask(3, 1, "k")
        assert refused.value.kind == "busy"
        await gatherer.close()
        assert [await each for each in asked] == [2, 4]
        assert told == [1, 2, 0]
        with pytest.raises(ServiceError) as refused:
            await gatherer.ask(4, 1, "k")
        assert refused.value.kind == "unready"

    asyncio.run(go())


def test_errors_reach_whom_they_concern() -> None:
    async def run(batch: Any) -> list[Any]:
        if batch[0].feeds == "all":
            raise KeyError("all")
        return [ValueError("mine") if each.feeds == "bad" else each.feeds for each in batch]

    async def go() -> None:
        gatherer = Gatherer(run, 2, 1.0, 100)
        found = await asyncio.gather(
            gatherer.ask("bad", 1, "k"), gatherer.ask("good", 1, "k"), return_exceptions=True
        )
        assert isinstance(found[0], ValueError) and found[1] == "good"
        found = await asyncio.gather(
            gatherer.ask("all", 1, "k"), gatherer.ask("x", 1, "k"), return_exceptions=True
        )
        assert [type(each) for each in found] == [KeyError, KeyError]
        await gatherer.close()

    asyncio.run(go())


@pytest.mark.parametrize(
    ("rows", "most", "expected"),
    [
        (1, 32, [(1, 1)]),
        (7, 32, [(7, 8)]),
        (13, 32, [(8, 8), (4, 4), (1, 1)]),
        (31, 32, [(31, 32)]),
        (70, 32, [(32, 32), (32, 32), (4, 4), (2, 2)]),
        (6, 6, [(6, 6)]),
        (5, 1, [(1, 1)] * 5),
    ],
)
def test_runs_of_few_lengths(rows: int, most: int, expected: list[tuple[int, int]]) -> None:
    assert parts(rows, most) == expected


def test_runs_hold_all_rows_and_waste_little() -> None:
    for most in (1, 3, 8, 20, 64):
        for rows in range(1, 200):
            found = parts(rows, most)
            assert sum(taken for taken, _ in found) == rows
            assert all(length <= most and 8 * (length - taken) <= length for taken, length in found)
            assert {length for _, length in found} <= {1, 2, 4, 8, 16, 32, 64, most}
