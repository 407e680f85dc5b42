"""TensorScatter writes its regions of a cache, and moves nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from tests.onnx.case import Case, model_of

import tallow as tl
from tallow.compile import compile_graph
from tallow.graph import Graph


@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
@pytest.mark.parametrize(
    ("mode", "count", "writes"), [("linear", 2, 2), ("circular", 1, 2), ("circular", 3, 4)]
)
def test_a_cache_that_is_a_state_is_written_in_place(
    device: str, mode: str, count: int, writes: int
) -> None:
    cache, update = np.zeros((2, 4, 64, 8), np.float32), np.zeros((2, 4, count, 8), np.float32)
    case = Case("TensorScatter", [cache, update, np.zeros(2, np.int64)], {"mode": mode})
    graph = tl.onnx.load(model_of(case, 24).SerializeToString()).graph()
    graph = Graph(graph.inputs, graph.outputs, states={"x0": "y0"})
    plan = compile_graph(graph, device).plan
    found = [step for step in plan.run if "update_at" in step.name]
    for step in found:
        *reads, target = step.bindings
        assert plan.slots[target].kind == "state" and target in reads
    assert len(found) == writes and not plan.copies
    others = [slot.bytes for slot in plan.slots if slot.kind != "state"]
    assert max(others) <= max(update.nbytes, 64)
