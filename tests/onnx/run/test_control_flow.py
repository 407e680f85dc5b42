"""If, Loop and Scan: what they compute, and how many sessions they keep."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tallow as tl
from tallow.formats.onnx.run import plan_cache

from ..graphs import model, node, value, weight
from .running import BOOL, INT, X, both, graph, session_of


def branches(inputs: str = "c") -> Any:
    """y = 2 x if c, else x + 1, twice; x and the factor are captured. Shapes that differ keep the
    choice on the host."""
    then = graph([node("Mul", "x two", "a")], [], [value("a", None)])
    other = graph(
        [node("Add", "x one", "b")],
        [],
        [value("b", None)],
        [weight("one", np.ones((2, 1, 1), "f"))],
    )
    return node("If", inputs, "y", then_branch=then, else_branch=other)


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
def test_if(device: str, request: pytest.FixtureRequest) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    inputs = [value("c", [], BOOL), value("x", [4, 3])]
    proto = model([branches()], inputs, "y", [weight("two", np.float32(2))])
    session = both(proto, *({"c": np.array(c), "x": X} for c in (True, False, True)), device=device)
    (step,) = session.report().host
    assert (step.operator, str(step.reason)) == ("If", "it decides what is computed")
    assert "If, 1 x" in str(session.report())


def test_an_if_whose_condition_is_known_is_no_step() -> None:
    weights = [weight("two", np.float32(2)), weight("c", np.array(False))]
    proto = model([branches()], [value("x", [4, 3])], [value("y", [2, 4, 3])], weights)
    session = both(proto, {"x": X})
    assert session.report().host == ()
    assert len(session.plan.run) == 1


def nested(way: str, result: str) -> Any:
    """An If on the length of x, known when a stage is made; in both branches an If on what is fed:
    its result is +-10 x if that is true, else +-x."""

    def branch(sign: str) -> Any:
        then = graph(
            [node("Mul", "x ten", "a"), node("Mul", f"a {sign}", "b")], [], [value("b", None)]
        )
        other = graph([node("Mul", f"x {sign}", "c")], [], [value("c", None)])
        inner = node("If", way, "w", then_branch=then, else_branch=other)
        return graph([inner], [], [value("w", None)])

    return node("If", "odd", result, "if", then_branch=branch("minus"), else_branch=branch("plus"))


def by_length() -> onnx.ModelProto:
    """Two such Ifs with the same name, one after the other."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Mod", "shape two", "rest"),
        node("Cast", "rest", "flags", to=BOOL),
        node("Squeeze", "flags", "odd"),
        nested("c", "y"),
        nested("d", "z"),
    ]
    weights = [
        weight(name, np.float32(number))
        for name, number in (("ten", 10), ("minus", -1), ("plus", 1))
    ]
    weights.append(weight("two", np.int64([2])))
    inputs = [value("c", [], BOOL), value("d", [], BOOL), value("x", ["N"])]
    return model(nodes, inputs, [value("y", ["N"]), value("z", ["N"])], weights)


def test_sessions_are_as_many_as_are_kept_however_lengths_vary(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also for inlined branches; and each run takes its own branch."""
    open_sessions: set[int] = set()
    numbers = iter(range(10**6))
    compiling, close = plan_cache.compiling, tl.Session.close

    def opened(*arguments: Any) -> Any:
        session = yield from compiling(*arguments)
        session._program.number = next(numbers)
        open_sessions.add(session._program.number)
        return session

    def closed(session: Any) -> None:
        open_sessions.discard(session._program.number)
        close(session)

    monkeypatch.setattr(plan_cache, "compiling", opened)
    monkeypatch.setattr(tl.Session, "close", closed)
    session = session_of(by_length())
    counts = []
    for run in range(120):
        length, c, d = 1 + run % 40, run % 3 == 0, run % 5 < 2
        x = np.arange(1, length + 1, dtype=np.float32)
        got = session.run({"x": x, "c": np.array(c), "d": np.array(d)})
        sign = -1 if length % 2 else 1
        np.testing.assert_array_equal(got["y"], x * sign * (10 if c else 1))
        np.testing.assert_array_equal(got["z"], x * sign * (10 if d else 1))
        counts.append(len(open_sessions))
        if run % 10 == 0:
            gc.collect()
    # Eight lengths for each of the eight inner branches, and for the model itself.
    assert max(counts) == counts[-1] <= 8 * (8 + 1)
    session.close()
    assert not open_sessions


def loop(inputs: str, outputs: str) -> Any:
    """Doubles v each turn and outputs the old value, while v is below 100."""
    body = graph(
        [
            node("Mul", "v two", "w"),
            node("ReduceMax", "w", "most", keepdims=0),
            node("Less", "most limit", "on"),
            node("Identity", "v", "was"),
        ],
        [value("i", [], INT), value("c", [], BOOL), value("v", [2])],
        [value("on", [], BOOL), value("w", [2]), value("was", [2])],
        [weight("limit", np.float32(100))],
    )
    return node("Loop", inputs, outputs, body=body)


def test_loop() -> None:
    outputs = [value("last", [2]), value("y", [None, 2])]
    inputs = [value("n", [], INT), value("x", [2])]
    proto = model([loop("n _ x", "last y")], inputs, outputs, [weight("two", np.float32(2))])
    x = np.float32([1, 3])
    session = both(proto, *({"n": np.array(n), "x": x} for n in (3, 1, 50)))
    assert "Loop, 1 x" in str(session.report())
    nothing = session.run({"n": np.array(0), "x": x})
    assert nothing["y"].shape == (0, 2)
    np.testing.assert_array_equal(nothing["last"], x)


def test_loop_over_a_sequence() -> None:
    body = graph(
        [
            node("Identity", "c", "on"),
            node("Gather", "x i", "row", axis=0),
            node("SequenceInsert", "s row", "t"),
        ],
        [
            value("i", [], INT),
            value("c", [], BOOL),
            helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None),
        ],
        [value("on", [], BOOL), helper.make_tensor_sequence_value_info("t", 1, None)],
    )
    nodes = [
        node("SequenceEmpty", "", "s0"),
        node("Loop", "n _ s0", "rows", body=body),
        node("ConcatFromSequence", "rows", "y", axis=0, new_axis=1),
        node("SequenceLength", "rows", "count"),
    ]
    inputs = [value("n", [], INT), value("x", [4, 3])]
    outputs = [value("y", [None, 3]), value("count", [], INT)]
    both(model(nodes, inputs, outputs), *({"n": np.array(n), "x": X} for n in (4, 2)))


@pytest.mark.parametrize("way", [0, 1])
def test_scan(way: int) -> None:
    body = graph(
        [node("Add", "s v", "t"), node("Mul", "t v", "p")],
        [value("s", [4]), value("v", [4])],
        [value("t", [4]), value("p", [4])],
    )
    scan = node(
        "Scan", "start x", "last y", body=body, num_scan_inputs=1, scan_input_axes=[1],
        scan_input_directions=[way], scan_output_axes=[1], scan_output_directions=[way],
    )  # fmt: skip
    inputs = [value("start", [4]), value("x", [4, 3])]
    outputs = [value("last", [4]), value("y", [4, 3])]
    both(model([scan], inputs, outputs), {"start": np.float32([1, 2, 3, 4]), "x": X})


def test_control_flow_in_control_flow() -> None:
    """A loop whose body has an If, which reads values of both outer graphs."""
    then = graph([node("Add", "v x", "a")], [], [value("a", None)])
    other = graph([node("Sub", "v x", "b")], [], [value("b", None)])
    body = graph(
        [
            node("Identity", "c", "on"),
            node("Mod", "i two", "odd"),
            node("Cast", "odd", "is_odd", to=BOOL),
            node("If", "is_odd", "w", then_branch=then, else_branch=other),
        ],
        [value("i", [], INT), value("c", [], BOOL), value("v", [4, 3])],
        [value("on", [], BOOL), value("w", [4, 3])],
        [weight("two", np.int64(2))],
    )
    nodes = [node("Loop", "n _ x", "last", body=body), node("Relu", "last", "y")]
    inputs = [value("n", [], INT), value("x", [4, 3])]
    proto = model(nodes, inputs, [value("y", [4, 3])])
    both(proto, *({"n": np.array(n), "x": X} for n in (1, 2, 7)))


@pytest.mark.parametrize("bad", ["no branch", "two conditions", "short body"])
def test_control_flow_that_contradicts_itself(bad: str) -> None:
    make: dict[str, Callable[[], Any]] = {
        "no branch": lambda: node("If", "c", "y", then_branch=graph([], [], [value("x", None)])),
        "two conditions": lambda: branches("c c"),
        "short body": lambda: node(
            "Loop", "n c x", "y", body=graph([node("Identity", "x", "o")], [], [value("o", None)])
        ),
    }
    inputs = [value("c", [], BOOL), value("n", [], INT), value("x", [4, 3])]
    proto = model([make[bad]()], inputs, "y", [weight("two", np.float32(2))])
    feeds = {"c": np.array(bad == "short body"), "n": np.array(2), "x": X}
    with pytest.raises(tl.OnnxFormatError, match="node 'y'"):
        session_of(proto).run(feeds)


def test_graphs_nested_too_deep() -> None:
    inner = node("Relu", "x", "y0")
    for depth in range(26):
        body = graph([inner], [], [value(f"y{depth}", None)])
        inner = node("If", "c", f"y{depth + 1}", then_branch=body)
    proto = model([inner], [value("c", [], BOOL), value("x", [4, 3])], "y26")
    with pytest.raises(tl.OnnxFormatError, match=r"is nested in 24 others|truncated or corrupted"):
        tl.onnx.load(proto.SerializeToString())
