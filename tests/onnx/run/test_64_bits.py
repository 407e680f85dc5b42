"""64-bit integers with WebGPU: exact, whether the GPU or NumPy computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

import tallow as tl
from tallow.graph import Graph, input_node

from ..graphs import Node, model, node, value, weight

FLOAT, INT, INT32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32
UINT, UINT32, BOOL = TensorProto.UINT64, TensorProto.UINT32, TensorProto.BOOL
TYPES = {
    np.dtype("float32"): FLOAT, np.dtype("int64"): INT, np.dtype("int32"): INT32,
    np.dtype("uint64"): UINT, np.dtype("uint32"): UINT32, np.dtype("bool"): BOOL,
}  # fmt: skip

pytestmark = pytest.mark.usefixtures("native")


def session_of(nodes: list[Node], feeds: dict[str, Any], result: int, *weights: Any) -> Any:
    inputs = [value(name, x.shape, TYPES[x.dtype]) for name, x in feeds.items()]
    proto = model(nodes, inputs, [value("y", None, result)], weights, opset=18)
    return tl.onnx.load(proto.SerializeToString()).session("webgpu")


def on_host(session: Any) -> list[str]:
    return [step.operator for step in session.report().host]


LARGE = np.int64([100_000, -7, 2**31 - 1])
SHIFT = {"direction": "LEFT"}


@pytest.mark.parametrize(
    ("operator", "feeds", "attributes", "wanted"),
    [
        ("Mul", (LARGE, LARGE), {}, LARGE * LARGE),
        ("Add", (LARGE, LARGE), {}, LARGE + LARGE),
        ("Sub", (-LARGE, LARGE), {}, -2 * LARGE),
        ("Neg", (np.int64([-(2**31)]),), {}, np.int64([2**31])),
        ("Abs", (np.int64([-(2**31)]),), {}, np.int64([2**31])),
        ("Div", (np.int64([-(2**31)]), np.int64([-1])), {}, np.int64([2**31])),
        ("ReduceSum", (np.int64([2 * 10**9, 2 * 10**9]),), {"keepdims": 0}, np.int64(4 * 10**9)),
        ("ReduceProd", (np.int64([100_000, 100_000]),), {"keepdims": 0}, np.int64(10**10)),
        ("CumSum", (np.int64([2 * 10**9] * 3), np.int64(0)), {}, np.int64([2, 4, 6]) * 10**9),
        ("MatMul", (np.int64([[10**5]]), np.int64([[10**5]])), {}, np.int64([[10**10]])),
        ("Cast", (np.float32([1e12, -3]),), {"to": INT}, np.int64([np.float32(1e12), -3])),
        ("Cast", (np.uint32([4 * 10**9]),), {"to": INT}, np.int64([4 * 10**9])),
        ("Cast", (np.int32([-1]),), {"to": UINT}, np.uint64([2**64 - 1])),
        ("Cast", (np.int64([2**40 + 1]),), {"to": FLOAT}, np.float32([2**40])),
        ("BitShift", (np.uint64([1]), np.uint64([40])), SHIFT, np.uint64([2**40])),
        ("BitwiseNot", (np.uint64([0]),), {}, np.uint64([2**64 - 1])),
        ("Identity", (np.int64([2**40]),), {}, np.int64([2**40])),
        ("Transpose", (np.int64([[2**40, 1]]),), {}, np.int64([[2**40], [1]])),
        ("Greater", (np.int64([2**32 + 1]), np.int64([2])), {}, np.array([True])),
    ],
    ids=str,
)
def test_what_32_bits_do_not_hold(
    operator: str, feeds: tuple[Any, ...], attributes: dict[str, Any], wanted: np.ndarray
) -> None:
    """NumPy computes it, and the report shows that."""
    named = {f"x{i}": x for i, x in enumerate(feeds)}
    one = node(operator, " ".join(named), "y", **attributes)
    session = session_of([one], named, TYPES[wanted.dtype])
    got = session.run(named)["y"]
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)
    assert on_host(session) == [operator]
    assert "64-bit integers may be larger than the 32 bits" in str(session.report())


def test_values_that_pass_on_through_a_network() -> None:
    """The following nodes run on the GPU again, with the exact value."""
    nodes = [node("Mul", "x x", "square"), node("Cast", "square", "f", to=FLOAT)]
    nodes += [node("Relu", "f", "r"), node("Add", "r r", "y")]
    session = session_of(nodes, {"x": LARGE}, FLOAT)
    for factor in (1, 3, 1):  # the second time they are already known to be large
        x = LARGE * factor
        got = session.run({"x": x})["y"]
        np.testing.assert_array_equal(got, (x * x).astype(np.float32) * 2)
        assert on_host(session) == ["Mul", "Cast"]
        assert session.stats["dispatches"] == 1
    small = session_of(nodes, {"x": LARGE}, FLOAT)
    np.testing.assert_array_equal(small.run({"x": np.int64([3, 5, 7])})["y"], [18, 50, 98])
    assert on_host(small) == ["Mul"]  # which might have exceeded 32 bits


def test_a_loop_that_outgrows_32_bits() -> None:
    from onnx import helper

    body = helper.make_graph(
        [node("Add", "v v", "w"), node("Identity", "c", "on")],
        "body",
        [value("i", [], INT), value("c", [], BOOL), value("v", [1], INT)],
        [value("on", [], BOOL), value("w", [1], INT)],
    )
    session = session_of(
        [node("Loop", "n _ x", "y", body=body)], {"n": np.int64(0), "x": np.int64([0])}, INT
    )
    for turns in (3, 40, 62):
        got = session.run({"n": np.array(turns), "x": np.int64([1])})["y"]
        assert got.tolist() == [2**turns]


@pytest.mark.parametrize("what", ["token ids", "positions", "mask", "shape", "argmax"])
def test_what_stays_on_the_gpu(what: str) -> None:
    ids, mask = np.int64([[5, 30_521, 0]]), np.int64([[1, 1, 0]])
    table = weight("table", np.random.default_rng(0).standard_normal((30_522, 4), np.float32))
    one = weight("one", np.int64(1))
    nodes: dict[str, tuple[list[Node], dict[str, Any], int]] = {
        "token ids": ([node("Gather", "table x", "y")], {"x": ids}, FLOAT),
        "positions": (
            [
                node("CumSum", "x one", "sums"),
                node("Cast", "x", "truth", to=BOOL),
                node("Where", "truth sums one", "positions"),
                node("Gather", "table positions", "y"),
            ],
            {"x": mask},
            FLOAT,
        ),
        "mask": ([node("Cast", "x", "f", to=FLOAT), node("Relu", "f", "y")], {"x": mask}, FLOAT),
        "shape": (
            [node("Shape", "x", "s"), node("ReduceProd", "s", "n"), node("Add", "x n", "y")],
            {"x": ids},
            INT,
        ),
        "argmax": (
            [node("Gather", "table x", "e"), node("ArgMax", "e", "a"), node("Add", "a a", "b"),
             node("Mul", "b b", "y")],
            {"x": ids},
            INT,
        ),
    }  # fmt: skip
    chosen, feeds, result = nodes[what]
    session = session_of(chosen, feeds, result, table, one)
    numpy = tl.onnx.load(
        model(
            chosen, [value("x", list(ids.shape), INT)], [value("y", None, result)], [table, one]
        ).SerializeToString()
    ).session("numpy")
    np.testing.assert_array_equal(session.run(feeds)["y"], numpy.run(feeds)["y"])
    assert on_host(session) == []
    assert session.stats["dispatches"] > 0


@pytest.mark.parametrize(
    ("compute", "small", "large"),
    [
        (lambda x: x * x, [3, -4], [100_000, 1]),
        (lambda x: tl.sum(x), [3, -4], [2 * 10**9, 2 * 10**9]),
        (lambda x: x << 3, [3, 4], [2**30, 1]),
        (lambda x: x + 1, [3, 4], [2**31 - 1, 1]),
        (lambda x: x.astype(tl.float32), [3, 4], [2**40, 1]),
    ],
)
def test_tensors_and_sessions_are_refused_what_they_would_get_wrong(
    compute: Any, small: list[int], large: list[int]
) -> None:
    known = compute(tl.asarray(np.int64(small)))
    np.testing.assert_array_equal(known.numpy("webgpu"), known.numpy("numpy"))
    with pytest.raises(
        tl.DTypeError, match=r"may reach from .* run this model with device='numpy'"
    ):
        compute(tl.asarray(np.int64(large))).numpy("webgpu")
    x = tl.Tensor(input_node("x", (2,), tl.int64))
    graph = Graph((x.node,), {"y": compute(x).node})
    session = tl.compile_session(graph, "webgpu")
    got = session.run({"x": np.int64(small)})["y"]
    np.testing.assert_array_equal(got, known.numpy("numpy"))
    with pytest.raises(tl.FeedRangeError, match="'x' holds int64 values") as found:
        session.run({"x": np.int64(large)})
    assert found.value.name == "x"
