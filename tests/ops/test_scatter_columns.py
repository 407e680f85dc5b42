"""Scatters at an index for each element: where it is one column expanded along other axes, it is
looked for once, and rows are written."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from tests.onnx.graphs import model, node, value, weight

import tallow as tl
from tallow.core import context
from tallow.core.dtype import as_dtype
from tallow.functions.arrange import alike_along, scatter_elements
from tallow.graph import Graph, input_node
from tallow.ops import arrange
from tallow.tensor import Tensor

JOINED = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
NODES, EDGES, WIDTH = 30, 200, 8


@pytest.fixture(params=["numpy", "wasm", "webgpu"])
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "webgpu":
        request.getfixturevalue("native")
    name: str = request.param
    return name


def scattered(x: Any, axis: int, indices: Any, updates: Any, reduction: str) -> Any:
    """One element after the other."""
    result = x.copy()
    for at in itertools.product(*map(range, indices.shape)):
        to = list(at)
        to[axis] = indices[at]
        old, new = result[tuple(to)], updates[at]
        result[tuple(to)] = new if reduction == "none" else JOINED[reduction](old, new)
    return result


def scatters(graph: Graph) -> list[tuple[int, ...]]:
    """The shapes of the indices of all scatters."""
    return [n.inputs[1].shape for n in graph.nodes() if n.op is arrange.scatter]


# The shape of what is written to and of the indices, the axis, and the axes along which they are
# expanded; how many lines of indices are left.
COLUMNS = [
    ((6, 4), (9, 4), 0, [1], 1),
    ((6, 4), (9, 3), 0, [1], 1),
    ((6, 4), (9, 4), 0, [], 4),
    ((4, 6), (4, 9), 1, [0], 1),
    ((3, 5, 4), (3, 7, 4), 1, [0, 2], 1),
    ((3, 5, 4), (2, 7, 4), 1, [2], 2),
    ((3, 5, 4), (3, 7, 3), 1, [0], 3),
    ((5,), (7,), 0, [], 1),
]


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize(("whole", "shape", "axis", "expanded", "lines"), COLUMNS)
def test_values(
    whole: tuple[int, ...],
    shape: tuple[int, ...],
    axis: int,
    expanded: list[int],
    lines: int,
    reduction: str,
    device: str,
) -> None:
    random = np.random.default_rng(len(whole))
    narrow = tuple(1 if a in expanded else n for a, n in enumerate(shape))
    feeds = {
        "x": random.integers(1, 4, whole).astype(np.float32),
        "i": random.integers(0, whole[axis], narrow).astype(np.int32),
        "u": random.integers(1, 4, shape).astype(np.float32),
    }
    nodes = [input_node(name, a.shape, as_dtype(a.dtype)) for name, a in feeds.items()]
    x, i, u = map(Tensor, nodes)
    made = scatter_elements(x, axis, tl.broadcast_to(i, shape), u, reduction)
    graph = Graph(tuple(nodes), {"y": made.node})
    (indices,) = scatters(graph)
    assert indices == (lines, shape[axis])
    wanted = scattered(feeds["x"], axis, np.broadcast_to(feeds["i"], shape), feeds["u"], reduction)
    with tl.compile_session(graph, device) as session:
        np.testing.assert_allclose(session.run(feeds)["y"], wanted, rtol=1e-6)


def test_an_onnx_index_that_is_expanded_is_one_column(device: str) -> None:
    """As exporters write a graph network's sum of messages."""
    random = np.random.default_rng(3)
    proto = model(
        [
            node("Unsqueeze", "i one", "column"),
            node("Expand", "column shape", "wide"),
            node("ScatterElements", "x wide u", "y", axis=0, reduction="add"),
        ],
        [
            value("x", [NODES, WIDTH]),
            value("i", [EDGES], 7),
            value("u", [EDGES, WIDTH]),
        ],
        weights=[
            weight("one", np.array([1], np.int64)),
            weight("shape", np.array([EDGES, WIDTH], np.int64)),
        ],
        opset=18,
    )
    loaded = tl.onnx.load(proto.SerializeToString())
    assert scatters(loaded.graph()) == [(1, EDGES)]
    feeds: dict[str, Any] = {
        "x": random.standard_normal((NODES, WIDTH)).astype(np.float32),
        "i": random.integers(-NODES, NODES, EDGES),
        "u": random.standard_normal((EDGES, WIDTH)).astype(np.float32),
    }
    wanted = feeds["x"].copy()
    np.add.at(wanted, feeds["i"], feeds["u"])
    with loaded.session(device=device) as session:
        np.testing.assert_allclose(session.run(feeds)["y"], wanted, rtol=1e-4, atol=1e-5)
        assert session.report().device == device
        feeds["i"][5] = NODES
        with pytest.raises(tl.IndexRangeError, match=f"'i' holds the index {NODES}"):
            session.run(feeds)


def test_scatter_add_and_its_gradients(device: str) -> None:
    """By PyTorch's names; the gradient of a gather at such an index is a scatter of rows too."""
    random = np.random.default_rng(4)
    index = random.integers(0, NODES, EDGES)
    updates = random.standard_normal((EDGES, WIDTH)).astype(np.float32)
    x = random.standard_normal((NODES, WIDTH)).astype(np.float32)

    def total(x: Tensor, u: Tensor, index: Tensor) -> Tensor:
        wide = index[:, None].expand(-1, WIDTH)
        return ((x.scatter_add(0, wide, u) + 1) * (x.gather(0, wide) * u).sum()).sum()

    i = tl.asarray(index.astype(np.int32))
    with context.default_device.override(device):
        found = tl.grad(total, argnums=(0, 1))(tl.asarray(x), tl.asarray(updates), i)
        got_x, got_u = (each.numpy() for each in found)
    summed = (x.sum() + updates.sum() + NODES * WIDTH).astype(np.float64)
    product = (x[index].astype(np.float64) * updates).sum()
    wanted_x = np.full(x.shape, product)
    np.add.at(wanted_x, index, summed * updates)
    np.testing.assert_allclose(got_x, wanted_x, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(got_u, product + summed * x[index], rtol=1e-3, atol=1e-2)


def test_what_is_alike_is_seen_through_moves_and_arithmetic() -> None:
    column = Tensor(input_node("i", (4, 1), tl.int32))
    wide = tl.broadcast_to(column, (4, 3))
    both = tl.asarray(np.repeat(np.arange(4)[:, None], 3, axis=1))
    assert alike_along(wide.node) == {1}
    assert alike_along((wide + both.astype("int32") * 2).node) == {1}
    assert alike_along(both.node) == {1}
    assert alike_along(tl.asarray(np.tile(np.arange(3), (4, 1))).node) == {0}
    assert alike_along(wide.T.node) == {0}
    assert alike_along(tl.reshape(wide, (4, 1, 3)).node) == {1, 2}
    assert alike_along(wide[1:, :2].node) == {1}
    assert alike_along(tl.reshape(wide, (2, 6)).node) == set()
    assert alike_along((wide + tl.arange(3, dtype="int32")).node) == set()
