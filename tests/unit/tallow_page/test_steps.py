"""Long actions, step by step: they end where they are closed, and leave what any step leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from tests.unit.tallow_page.long_actions import finished

from tallow.errors import FeedError
from tallow.runtime.device import set_default_device
from tallow_page import app
from tallow_page import open as view
from tallow_page.steps import Answer, streamed

X = np.arange(8, dtype=np.float32).reshape(2, 4)


def test_each_item_is_a_text_and_the_last_is_the_answer() -> None:
    ended: list[str] = []

    @streamed
    async def count(total: int) -> AsyncGenerator[Any, None]:
        """Counts."""
        try:
            for number in range(total):
                yield {"done": number}
            yield Answer({"counted": total})
        finally:
            await asyncio.sleep(0)
            ended.append("closed")

    assert count.__doc__ == "Counts."
    reports, answer = asyncio.run(finished(count(1000)))
    assert (reports, answer) == ([{"done": n} for n in range(1000)], {"counted": 1000})

    async def stopped() -> list[str]:
        steps = count(1000)
        texts = [await anext(steps) for _ in range(3)]
        await steps.aclose()
        await steps.aclose()  # twice
        with pytest.raises(StopAsyncIteration):
            await anext(steps)
        return texts

    assert asyncio.run(stopped()) == [f'{{"progress": {{"done": {n}}}}}' for n in range(3)]
    assert ended == ["closed", "closed"]


@pytest.fixture
def opened() -> Iterator[None]:
    """A model that negates, open and run once on NumPy."""
    asyncio.run(app.start("numpy"))
    asyncio.run(_opened())
    yield
    view.close_model()
    set_default_device(None)


async def _opened() -> None:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "small", [x], [y])
    opsets = [helper.make_opsetid("", 17)]
    content = helper.make_model(graph, opset_imports=opsets).SerializeToString()
    await view.open_model(bytearray(content), "[]")
    await _run(X)


async def _run(x: np.ndarray[Any, Any]) -> None:
    async def nothing() -> None:
        pass

    feed = {"name": "x", "shape": list(x.shape), "dtype": "float32"}
    await view.run_model(json.dumps([feed]), nothing, x)


def test_a_series_that_is_stopped_leaves_the_model_as_after_a_run(opened: None) -> None:
    async def part() -> None:
        steps = view.time_model(100, 100)
        for done in (1, 2):
            report = json.loads(await anext(steps))["progress"]
            assert report == {"stage": "runs", "done": done, "total": 100}
        await steps.aclose()
        _, whole = await finished(view.time_model(3, 100))
        assert whole["series"]["count"] == 3
        assert np.frombuffer(view.output_bytes("y"), np.float32).tolist() == (-X).ravel().tolist()

    asyncio.run(part())


@pytest.mark.parametrize("action", [view.time_model, view.compare_model])
def test_what_comes_between_two_steps_ends_the_action_with_a_reason(
    opened: None, action: Any
) -> None:
    async def between(change: Any) -> None:
        steps = action(100, 100)
        await anext(steps)
        await change()
        with pytest.raises(FeedError, match="another run, model or device was chosen meanwhile"):
            while True:
                await anext(steps)

    async def close() -> None:
        view.close_model()

    asyncio.run(between(lambda: _run(X + 1)))
    asyncio.run(between(lambda: app.start("numpy")))
    asyncio.run(_run(X))
    asyncio.run(between(close))
