"""If, Loop and Scan that are part of the plan around them, and those that stay on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl

from ..graphs import model, node, value, weight
from .running import BOOL, INT, X, both, graph, session_of

W = np.random.default_rng(3).standard_normal((3, 3), dtype=np.float32)
ON = [{"c": np.array(c), "x": X} for c in (True, False, True)]
FED = [value("c", [], BOOL), value("x", [4, 3])]


@pytest.fixture(params=["numpy", "wasm", "webgpu"])
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "webgpu":
        request.getfixturevalue("native")
    return str(request.param)


def whole(session: Any) -> bool:
    """Whether a run was one plan, without steps on the host."""
    return len(session.plans) == 1 and not session.report().host


def either(then: list[Any], other: list[Any], weights: Any = ()) -> Any:
    """Their last nodes make `a` and `b`."""
    return node(
        "If", "c", "y",
        then_branch=graph(then, [], [value("a", None)], weights),
        else_branch=graph(other, [], [value("b", None)]),
    )  # fmt: skip


def turns(nodes: list[Any], weights: Any = (), count: str = "n", condition: str = "c") -> Any:
    """A Loop over x; the nodes make `w` of `v`, and a row of each turn is the maximum of `w`."""
    body = graph(
        [
            *nodes,
            node("Identity", condition, "on"),
            node("ReduceMax", "w", "most", keepdims=0),
        ],
        [value("i", [], INT), value("c", [], BOOL), value("v", None)],
        [value("on", [], BOOL), value("w", None), value("most", [])],
        weights,
    )
    return node("Loop", f"{count} _ x", "y rows", body=body)


def looped(made: Any, count: int = 10, weights: Any = ()) -> Any:
    outputs = [value("y", None), value("rows", [None])]
    own = [weight("n", np.int64(count)), weight("matrix", W), *weights]
    return model([made], [value("x", [4, 3])], outputs, own)


STEP = [node("MatMul", "v matrix", "u"), node("Tanh", "u", "w")]


def test_an_if_chooses_between_both_results(device: str) -> None:
    made = either([node("Sqrt", "x", "a")], [node("Neg", "x", "b")])
    session = both(model([made, node("Add", "y y", "z")], FED, "z"), *ON, device=device)
    assert whole(session)  # and what is NaN in one branch does not spoil the other


@pytest.mark.parametrize(
    "made",
    [
        either([node("ReduceMax", "x", "a", keepdims=0)], [node("Neg", "x", "b")]),
        either([node("MatMul", "x wide", "m"), node("MatMul", "m high", "a")],
               [node("Neg", "x", "b")],
               [weight("wide", np.ones((3, 1 << 16), np.float32)),
                weight("high", np.ones((1 << 16, 3), np.float32) / 2**16)]),
    ],
    ids=["shapes", "work"],
)  # fmt: skip
def test_an_if_stays_on_the_host_where_its_branches_differ_or_are_much_work(made: Any) -> None:
    session = session_of(model([made], FED, "y"))
    for feeds in ON:
        got = session.run(feeds)["y"]
        wanted = -X if not feeds["c"] else got
        np.testing.assert_array_equal(got, wanted)
    (step,) = session.report().host
    assert (step.operator, str(step.reason)) == ("If", "it decides what is computed")


def test_the_branch_that_is_not_taken_may_have_an_index_out_of_range() -> None:
    made = either([node("Gather", "x at", "a")], [node("Neg", "x", "b")])
    proto = model([made], [*FED, value("at", [4], INT)], "y")
    session = session_of(proto)
    far = {"x": X, "at": np.int64([0, 1, 2, 9])}
    np.testing.assert_array_equal(session.run({**far, "c": np.array(False)})["y"], -X)
    with pytest.raises(tl.OnnxFormatError, match="index 9"):
        session.run({**far, "c": np.array(True)})


def test_a_loop_whose_turns_are_known(device: str) -> None:
    session = both(looped(turns(STEP)), {"x": X}, {"x": -X}, device=device)
    assert whole(session)


def test_the_weights_of_a_body_are_there_once() -> None:
    many = [weight("own", np.random.default_rng(0).random((3, 3)).astype(np.float32))]
    body = [node("MatMul", "v own", "u"), node("Tanh", "u", "w")]
    sizes = []
    for count in (1, 10):
        session = session_of(looped(turns(body, many), count))
        session.run({"x": X})
        sizes.append(session.stats["weights"])
    assert sizes[0] == sizes[1]


def test_a_loop_that_ends_at_a_known_turn() -> None:
    body = [*STEP, node("Less", "i last", "goes")]
    made = turns(body, [weight("last", np.int64(4))], "_", "goes")
    session = both(looped(made), {"x": X})
    assert whole(session)
    assert session.run({"x": X})["rows"].shape == (5,)


def test_a_loop_that_grows(device: str) -> None:
    session = both(looped(turns([node("Concat", "v v", "w", axis=0)]), 3), {"x": X}, device=device)
    assert whole(session)


def test_loops_in_loops_and_ifs_in_loops() -> None:
    inner = node(
        "Loop", "three _ v", "w",
        body=graph(
            [node("Identity", "c2", "on2"), node("Mod", "i2 two", "odd"),
             node("Cast", "odd", "is_odd", to=BOOL),
             node("If", "is_odd", "w2",
                  then_branch=graph([node("Add", "v2 x", "p")], [], [value("p", None)]),
                  else_branch=graph([node("Sin", "v2", "q")], [], [value("q", None)]))],
            [value("i2", [], INT), value("c2", [], BOOL), value("v2", None)],
            [value("on2", [], BOOL), value("w2", None)]),
    )  # fmt: skip
    weights = [weight("two", np.int64(2)), weight("three", np.int64(3))]
    session = both(looped(turns([inner]), 2, weights), {"x": X})
    assert whole(session)
    many = both(looped(turns([inner]), 40, weights), {"x": X})  # too many nodes
    assert [step.operator for step in many.report().host] == ["Loop"]


@pytest.mark.parametrize(
    ("made", "count"),
    [
        (turns([*STEP, node("ReduceSum", "w", "s", keepdims=0), node("Less", "s far", "less")],
               [weight("far", np.float32(3))], condition="less"), 5),
        (turns(STEP), 1000),
    ],
    ids=["the data decide", "many turns"],
)  # fmt: skip
def test_loops_that_stay_on_the_host(made: Any, count: int) -> None:
    session = both(looped(made, count), {"x": X})
    assert [step.operator for step in session.report().host] == ["Loop"]


def test_a_session_of_few_turns_refuses_a_loop_of_more() -> None:
    with pytest.raises(tl.RealizeError, match="not ended after 9 turns"):
        session_of(looped(turns(STEP)), most_turns=9).run({"x": X})


@pytest.mark.parametrize("way", [0, 1])
def test_a_scan_of_few_steps(way: int, device: str) -> None:
    body = graph(
        [node("Add", "s v", "u"), node("Tanh", "u", "t"), node("Mul", "t v", "p")],
        [value("s", [4]), value("v", [4])],
        [value("t", [4]), value("p", [4])],
    )
    scan = node(
        "Scan", "start x", "last y", body=body, num_scan_inputs=1, scan_input_axes=[-1],
        scan_input_directions=[way], scan_output_axes=[1], scan_output_directions=[way],
    )  # fmt: skip
    proto = model([scan], [value("start", [4]), value("x", [4, None])], "last y")
    feeds = [{"start": X[:, 0], "x": x} for x in (X, X[:, :1])]
    assert whole(both(proto, *feeds, device=device))
    long = {"start": X[:, 0], "x": np.tile(X, 40)}
    session = session_of(proto, device)
    last = session.run(long)["last"]
    state = X[:, 0]
    for column in np.tile(X, 40).T[:: -1 if way else 1]:
        state = np.tanh(state + column)
    np.testing.assert_allclose(last, state, rtol=1e-4, atol=1e-5)
    assert [step.operator for step in session.report().host] == ["Scan"]


def test_a_scan_whose_inputs_have_other_lengths_is_refused() -> None:
    body = graph(
        [node("Add", "v w", "t")], [value("v", None), value("w", None)], [value("t", None)]
    )
    scan = node("Scan", "x z", "y", body=body, num_scan_inputs=2)
    proto = model([scan], [value("x", [4, 3]), value("z", [3, 3])])
    with pytest.raises(tl.OnnxFormatError, match="different lengths"):
        session_of(proto).run({"x": X, "z": X[:3]})


def test_a_summary_tells_where_control_flow_runs() -> None:
    small = tl.onnx.load(looped(turns(STEP)).SerializeToString()).summary()
    large = tl.onnx.load(looped(turns(STEP), 1000).SerializeToString()).summary()
    assert [use.place for use in small.uses if use.operator == "Loop"] == ["device"]
    assert [use.place for use in large.uses if use.operator == "Loop"] == ["host"]
    assert (small.at_least, large.at_least) == (False, True)
    assert small.multiply_adds == 10 * X.size * 3
