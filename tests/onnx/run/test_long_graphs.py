"""Graphs with many nodes: the time to open them is linear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from tests.steps import steps

import tallow as tl
from tallow.compile import compile_graph
from tallow.formats.onnx.run.float64 import IN_FLOAT64, Sides
from tallow.graph import input_node

from ..graphs import model, node, value, weight

SQUARE = np.full((4, 4), 0.5, np.float32)
Nodes = list[onnx.NodeProto]


def _chain(
    *ops: str, shape: tuple[int, ...] = (4, 4), **attributes: object
) -> Callable[[int], onnx.ModelProto]:
    """Makes chains of nodes; "+w" after an operator adds the weight w as an input."""

    def make(length: int) -> onnx.ModelProto:
        nodes: Nodes = []
        for i in range(length):
            op, _, more = ops[i % len(ops)].partition("+")
            nodes.append(node(op, f"x{i} {more}", f"x{i + 1}", **attributes))
        w = np.full((2, 2, 3, 3), 0.1, np.float32) if "Conv+w" in ops else SQUARE
        return model(nodes, [value("x0", shape)], f"x{length}", [weight("w", w)])

    return make


def _outputs(count: int) -> onnx.ModelProto:
    """A node with many readers, each of which is an output."""
    nodes = [node("Sin", "x", "s"), *(node("Mul", f"s c{i}", f"y{i}") for i in range(count))]
    numbers = [weight(f"c{i}", np.float32([i + 2])) for i in range(count)]
    return model(nodes, [value("x", [4, 4])], " ".join(f"y{i}" for i in range(count)), numbers)


def _inputs(count: int) -> onnx.ModelProto:
    names = [f"x{i}" for i in range(count)]
    return model([node("Concat", " ".join(names), "y", axis=0)], [value(x, [1, 4]) for x in names])


def _parts(count: int) -> onnx.ModelProto:
    nodes = [node("Mul", f"x c{i}", f"p{i}") for i in range(count)]
    nodes.append(node("Concat", " ".join(f"p{i}" for i in range(count)), "y", axis=0))
    numbers = [weight(f"c{i}", np.float32([i + 2])) for i in range(count)]
    return model(nodes, [value("x", [1, 4])], weights=numbers)


KINDS: dict[str, Callable[[int], onnx.ModelProto]] = {
    "elementwise": _chain("Relu", "Sin"),
    "sums": _chain("Add+w"),
    "products": _chain("MatMul+w", "Relu"),
    "softmax and transpose": _chain("Softmax", "Transpose"),
    "convolutions": _chain("Conv+w", shape=(1, 2, 4, 4), pads=[1, 1, 1, 1]),
    "outputs": _outputs,
    "inputs": _inputs,
    "parts of a whole": _parts,
}


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
@pytest.mark.parametrize("kind", KINDS)
def test_twice_the_nodes_take_twice_the_work(kind: str, device: str) -> None:
    def work(length: int) -> int:
        data = KINDS[kind](length).SerializeToString()
        return steps(lambda: compile_graph(tl.onnx.load(data).graph(), device))

    work(2)  # one-time costs
    assert work(80) <= 2.5 * work(40)


class _Asked(dict[str, Any]):
    """Only allows looking up single names, because iterating over all for each node is slow."""

    def __iter__(self) -> Any:
        raise AssertionError("all names are gone through")


def test_sides_look_up_what_a_node_reads() -> None:
    sides, given = Sides(()), _Asked(x=None)
    record = tl.onnx.load(_chain("Sin")(1).SerializeToString())._record.graph.nodes[0]
    made = {name: input_node(name, (), tl.float64) for name in record.outputs}
    assert not sides.for_numpy(record, made, given, IN_FLOAT64)
    sides.for_device(record, made, given)
    given["x0"] = None
    assert sides.for_numpy(record, made, given, IN_FLOAT64)
    sides.for_device(record, made, given)


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
@pytest.mark.parametrize("ops", [("Sin",), ("Sin", "Add+w"), ("Transpose", "Sin")])
def test_a_chain_that_is_longer_than_pythons_stack(
    ops: tuple[str, ...], device: str, request: pytest.FixtureRequest
) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    x = wanted = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
    functions: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "Sin": np.sin,
        "Add+w": lambda y: y + SQUARE,
        "Transpose": np.transpose,
    }
    for i in range(1200):
        wanted = functions[ops[i % len(ops)]](wanted)
    with tl.onnx.load(_chain(*ops)(1200).SerializeToString()).session(device) as session:
        (got,) = session.run({"x0": x}).values()
    np.testing.assert_allclose(got, wanted, atol=1e-4)


def test_a_sum_is_looked_for_once_in_a_graph_of_many_paths(native: str) -> None:
    """There are 2 ** 40 paths from the expanded value back to its inputs."""
    nodes = [node("Add", f"m{i} m{i}", f"m{i + 1}") for i in range(40)]
    nodes.append(node("Add", "x m40", "y"))
    proto = model(nodes, [value("x", [4, 4]), value("m0", [4, 1])])
    x, rows = np.ones((4, 4), np.float32), np.arange(4, dtype=np.float32).reshape(4, 1)
    for device in ("numpy", "webgpu"):
        with tl.onnx.load(proto.SerializeToString()).session(device) as session:
            got = session.run({"x": x, "m0": rows * np.float32(2.0**-40)})["y"]
        np.testing.assert_array_equal(got, x + rows)
