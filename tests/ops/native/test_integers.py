"""Integers divided by zero, on desktop WebGPU."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow.graph import Graph, input_node

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
