"""Integers divided by zero, and those of 64 bits that a loop reads, on desktop WebGPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.graph import Graph, input_node
from tallow.runtime import eager

pytestmark = pytest.mark.usefixtures("native")


@pytest.mark.parametrize("name", ["trunc_divide", "floor_divide", "remainder"])
@pytest.mark.parametrize("known", [True, False])
def test_integers_by_zero(name: str, known: bool) -> None:
    """The answer is NumPy's, 0; onnxruntime, which judges the other cases too, has none."""
    x, y = (input_node(key, (4,), tl.int32) for key in "xy")
    result = getattr(tl, name)(tl.Tensor(x), 0 if known else tl.Tensor(y))
    graph = Graph((x,) if known else (x, y), {"output": result.node}, name)
    feeds = {"x": np.array([5, -5, 0, 7], np.int32), "y": np.zeros(4, np.int32)}
    for device in ("numpy", "webgpu"):
        with tl.compile_session(graph, device) as session:
            got = session.run(
                {node.attrs["name"]: feeds[node.attrs["name"]] for node in graph.inputs}
            )
        assert got["output"].tolist() == [0, 0, 0, 0], device


def test_a_loop_that_reads_a_number_of_64_bits_finds_its_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An action is drawn, read, and used as an index: after three, another needs no new plan."""
    made, compiled = [], eager._compiled

    def counted(*work: Any) -> Any:
        made.append(work)
        return compiled(*work)

    monkeypatch.setattr(eager, "_compiled", counted)
    counts = []
    for turn in range(8):
        scores = tl.asarray(np.roll(np.arange(8, dtype=np.float32), turn)).realize("webgpu")
        action = tl.argmax(scores).astype("int64")
        assert action.item() == (7 + turn) % 8
        assert tl.take(scores, action.reshape(1), axis=0).item() == 7
        counts.append(len(made))
    assert counts[-1] == counts[2]
