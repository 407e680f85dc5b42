"""Compositions for a GPU compare all pairs of elements without storing the comparisons."""

import numpy as np
import pytest

import tallow as tl
from tallow import dtype as dt
from tallow.compile import compile_graph
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor


def largest_slot(build: object, **shapes: tuple[int, ...]) -> int:
    inputs = {name: Tensor(input_node(name, shape, dt.float32)) for name, shape in shapes.items()}
    assert callable(build)
    graph = Graph(tuple(x.node for x in inputs.values()), {"y": build(**inputs).node})
    return max(slot.bytes for slot in compile_graph(graph, "webgpu").plan.slots)


def test_sorting_stores_no_square() -> None:
    assert largest_slot(lambda x: tl.argsort(x), x=(1, 20_000)) <= 4 * 20_000
    assert largest_slot(lambda x: tl.argsort(x, count=7), x=(3, 5000)) <= 4 * 15_000


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_a_scatter_at_known_indices_stores_no_table(reduction: str) -> None:
    indices = tl.asarray(np.arange(3000, dtype=np.int32) % 1000)

    def build(x: Tensor, u: Tensor) -> Tensor:
        return tl.scatter(x, indices, u, reduction)

    assert largest_slot(build, x=(5000, 2), u=(3000, 2)) <= 4 * 5000 * 2
