"""Compositions for a GPU compare all pairs of elements without storing the comparisons."""

import numpy as np
import pytest

import tallow as tl
from tallow.compile import compile_graph
from tallow.compile.passes.compose import compose
from tallow.core import dtype as dt
from tallow.graph import Graph, input_node, make
from tallow.ops import arrange
from tallow.tensor import Tensor


def largest_slot(build: object, **shapes: tuple[int, ...]) -> int:
    inputs = {name: Tensor(input_node(name, shape, dt.float32)) for name, shape in shapes.items()}
    assert callable(build)
    graph = Graph(tuple(x.node for x in inputs.values()), {"y": build(**inputs).node})
    return max(slot.bytes for slot in compile_graph(graph, "webgpu").plan.slots)


def test_sorting_stores_no_square() -> None:
    assert largest_slot(lambda x: tl.argsort(x), x=(1, 4000)) <= 4 * 4000
    assert largest_slot(lambda x: tl.argsort(x), x=(1, 20_000)) <= 4 * (1 << 15)
    assert largest_slot(lambda x: tl.argsort(x, count=7), x=(3, 5000)) <= 4 * 3 * (1 << 13)


def test_sorting_many_compares_each_with_few() -> None:
    x = input_node("x", (100_000,), dt.float32)
    graph = compose(Graph((x,), {"y": tl.argsort(Tensor(x)).node}))
    assert max(node.size for node in graph.nodes()) <= 256 * (1 << 17)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_a_scatter_at_known_indices_stores_no_table(reduction: str) -> None:
    indices = tl.asarray(np.arange(3000, dtype=np.int32) % 1000)

    def build(x: Tensor, u: Tensor) -> Tensor:
        return tl.scatter(x, indices, u, reduction)

    assert largest_slot(build, x=(5000, 2), u=(3000, 2)) <= 4 * 5000 * 2


def composed_scatter(
    x: np.ndarray, indices: np.ndarray, updates: np.ndarray, reduction: str
) -> tuple[Graph, np.ndarray]:
    """The graph that a GPU gets, and what it gives; an index beyond the last row stands for one
    that is out of range, as `position` gives it."""
    feeds = {"x": x, "i": indices, "u": updates}
    nodes = [input_node(name, each.shape, dt.as_dtype(each.dtype)) for name, each in feeds.items()]
    node = make(arrange.scatter, *nodes, reduction=reduction)
    graph = compose(Graph(tuple(nodes), {"y": node}))
    with tl.compile_session(graph, "numpy") as session:
        return graph, session.run(feeds)["y"]


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize(
    ("rows", "count", "length"), [(50, 7, 3), (3000, 700, 3), (1500, 1, 3000), (300, 300, 64)]
)
def test_a_scatter_finds_what_is_meant_for_each_row(
    reduction: str, dtype: type, rows: int, count: int, length: int
) -> None:
    random = np.random.default_rng(rows)
    x: np.ndarray = random.integers(1, 4, (2, rows, length)).astype(dtype)
    updates: np.ndarray = random.integers(1, 4, (2, count, length)).astype(dtype)
    # Some repeat, and the index `rows` stands for one that is out of range.
    indices = np.minimum(random.integers(0, max(count // 3, 2), (2, count)) * 7, rows)
    indices = indices.astype(np.int32)
    wanted = x.copy()
    join = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    with np.errstate(over="ignore"):
        for batch in range(2):
            for index, update in zip(indices[batch], updates[batch], strict=True):
                if index < rows:
                    row = wanted[batch, index]
                    wanted[batch, index] = update if reduction == "none" else (
                        join[reduction](row, update)
                    )  # fmt: skip
    _, got = composed_scatter(x, indices, updates, reduction)
    np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_what_is_infinite_stays_in_its_row() -> None:
    x = np.zeros((1, 4000, 40), np.float32)
    updates = np.ones((1, 100, 40), np.float32)
    updates[0, 3], updates[0, 4] = np.inf, np.nan
    indices = np.arange(100, dtype=np.int32)[None] % 50
    _, got = composed_scatter(x, indices, updates, "add")
    wanted = np.zeros_like(x)
    np.add.at(wanted[0], indices[0], updates[0])
    np.testing.assert_array_equal(got, wanted)


def test_an_embeddings_gradient_takes_no_vocabulary_times_batch() -> None:
    """Neither in what is computed, nor in what is fused into a loop."""
    rows, count, length = 3000, 128, 32
    shapes = (1, rows, length), (1, count), (1, count, length)
    x, i, u = np.zeros(shapes[0], np.float32), np.zeros(shapes[1], np.int32), np.ones(shapes[2])
    graph, got = composed_scatter(x, i, u.astype(np.float32), "add")
    assert (got[0, 0] == count).all() and not got[0, 1:].any()
    assert max(node.size for node in graph.nodes()) <= max(count * count, rows * length)
