"""A learner lets other tasks run between its steps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import tallow as tl
from tallow import nn, optim
from tallow.train import Callback, Learner
from tallow.train.figures import Pace


def test_others_get_turns_after_each_look_and_between(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    gave_way, looks, since = 0, 0, 0.0
    longest = 0.0
    for _ in range(2000):
        now[0] += 0.004
        if pace.due(1):
            pace.looked()
            looks += 1
            assert pace.gives_way
        if pace.gives_way:
            gave_way += 1
            longest = max(longest, now[0] - since)
            since = now[0]
    assert 25 < looks < 60
    assert 7 * looks < gave_way < 11 * looks
    assert longest < 0.05


def test_another_task_runs_while_a_learner_does(run_async: Callable[..., Any]) -> None:
    seen: list[int] = []

    class Steps(Callback):
        def on_step_end(self, learner: Any) -> None:
            now[0] = learner.steps

    now = [0]
    model = nn.Linear(2, 2)
    learner = Learner(
        model, optim.SGD(model.parameters(), 0.1), nn.functional.cross_entropy,
        callbacks=[Steps()], progress=False, device="numpy",
    )  # fmt: skip
    batch = (tl.ones((4, 2)), tl.zeros((4,), dtype="int32"))

    async def both() -> None:
        training = asyncio.ensure_future(learner.fit_async([batch] * 30))
        while not training.done():
            seen.append(now[0])
            await asyncio.sleep(0)
        await training

    run_async(both())
    assert len(set(seen)) > 5
