"""Models that one plan can't run: shapes from data, control flow, sequences, strings, functions."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import tallow as tl
from tallow.formats.onnx.run import blocking

from ..graphs import model, node, value, weight

INT, BOOL, TEXT = TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING
X = np.random.default_rng(7).standard_normal((4, 3), dtype=np.float32)


def graph(nodes: list[Any], inputs: list[Any], outputs: list[Any], weights: Any = ()) -> Any:
    return helper.make_graph(nodes, "inner", inputs, outputs, list(weights))


def session_of(proto: onnx.ModelProto, device: str = "numpy", **options: Any) -> Any:
    return tl.onnx.load(proto.SerializeToString()).session(device, **options)


def both(proto: onnx.ModelProto, *feeds: dict[str, Any], device: str = "numpy") -> Any:
    """Asserts that one session agrees with onnxruntime for several inputs; returns the session."""
    other = onnxruntime.InferenceSession(proto.SerializeToString())
    session = session_of(proto, device)
    for feed in feeds:
        got = list(session.run(feed).values())
        for mine, wanted in zip(got, other.run(None, feed), strict=True):
            assert_same(mine, wanted)
    assert session.device == device
    return session


def assert_same(mine: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert isinstance(mine, list)
        for one, other in zip(mine, wanted, strict=True):
            assert_same(one, other)
        return
    assert (mine.dtype, mine.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype == object:
        assert mine.tolist() == wanted.tolist()
    else:
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6)


# ---- shapes -----------------------------------------------------------------------------------


def test_a_session_takes_any_shape_that_the_file_allows() -> None:
    proto = model([node("Softmax", "x", "y")], [value("x", ["N", "M"])], [value("y", ["N", "M"])])
    session = both(proto, *({"x": np.ones((n, m), np.float32)} for n in (1, 5) for m in (2, 300)))
    with pytest.raises(tl.FeedError, match=r"'x' expects float32 \('N', 'M'\), got float32 \(2,\)"):
        session.run({"x": np.ones(2, np.float32)})
    session.run({"x": X})


def test_shapes_that_were_seen_are_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    proto = model([node("Relu", "x", "y")], [value("x", ["N"])])
    session = session_of(proto)
    for length in (3, 4):
        session.run({"x": np.ones(length, np.float32)})
    monkeypatch.setattr("tallow.formats.onnx.run.blocking.compile_session", None)
    for length in (3, 4, 3):
        session.run({"x": np.ones(length, np.float32)})
    with pytest.raises(TypeError):
        session.run({"x": np.ones(5, np.float32)})


def test_a_shape_may_be_fed() -> None:
    proto = model([node("Reshape", "x s", "y")], [value("x", [4, 3]), value("s", [2], INT)])
    both(proto, *({"x": X, "s": np.int64(s)} for s in ([3, 4], [2, -1], [12, 1])))


def test_a_shape_may_be_computed_from_what_is_fed() -> None:
    nodes = [
        node("ReduceMax", "n", "most", keepdims=0),
        node("Range", "zero most one", "y"),
    ]
    weights = [weight("zero", np.int64(0)), weight("one", np.int64(1))]
    proto = model(nodes, [value("n", [3], INT)], [value("y", [None], INT)], weights)
    both(proto, *({"n": np.array(n)} for n in ([1, 5, 2], [0, 0, 0])))


# ---- control flow -----------------------------------------------------------------------------


def branches(inputs: str = "c") -> Any:
    """y = 2 x if c, else x + 1; x and the factor are captured."""
    then = graph([node("Mul", "x two", "a")], [], [value("a", None)])
    other = graph(
        [node("Add", "x one", "b")], [], [value("b", None)], [weight("one", np.float32(1))]
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
    proto = model([branches()], [value("x", [4, 3])], [value("y", [4, 3])], weights)
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
    compile_session, close = blocking.compile_session, tl.Session.close

    def opened(*arguments: Any) -> Any:
        session = compile_session(*arguments)
        session._program.number = next(numbers)
        open_sessions.add(session._program.number)
        return session

    def closed(session: Any) -> None:
        open_sessions.discard(session._program.number)
        close(session)

    monkeypatch.setattr(blocking, "compile_session", opened)
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


def test_a_run_of_many_stages_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with more than eight stages finds all of them again."""
    nodes, name = [], "x"
    for i in range(12):
        nodes += [
            node("NonZero", name, f"n{i}"),
            node("Cast", f"n{i}", f"x{i}", to=TensorProto.FLOAT),
        ]
        nodes += [node("Add", f"x{i} one", f"y{i}"), node("Squeeze", f"y{i} zero", f"z{i}")]
        name = f"z{i}"
    weights = [weight("one", np.float32(1)), weight("zero", np.int64([0]))]
    proto = model(nodes, [value("x", ["N"])], [value(name, ["M"])], weights)
    session = both(proto, *({"x": np.ones(n, np.float32)} for n in range(1, 9)))
    monkeypatch.setattr(blocking, "compile_session", None)
    for n in range(1, 9):
        assert session.run({"x": np.ones(n, np.float32)})[name].tolist() == list(range(1, n + 1))


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


# ---- sequences, optionals, texts --------------------------------------------------------------


def test_sequences_are_lists() -> None:
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    nodes = [
        node("SequenceAt", "s i", "x"),
        node("Neg", "x", "y"),
        node("SequenceErase", "s i", "t"),
    ]
    rest = helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT, None)
    proto = model(nodes, [sequence, value("i", [], INT)], [value("y", None), rest])
    both(proto, *({"s": [X, X[:2]], "i": np.array(i)} for i in (0, 1, -1)))
    with pytest.raises(
        tl.OnnxFormatError, match=r"node 'x': SequenceAt .*the position 2 is out of range"
    ):
        session_of(proto).run({"s": [X, X], "i": np.array(2)})
    with pytest.raises(tl.FeedError, match="must be a list"):
        session_of(proto).run({"s": X, "i": np.array(2)})


def test_texts() -> None:
    nodes = [node("Concat", "s t", "u", axis=0), node("Equal", "u u", "same")]
    inputs = [value("s", [2], TEXT), value("t", ["N"], TEXT)]
    proto = model(nodes, inputs, [value("u", [None], TEXT), value("same", [None], BOOL)], opset=19)
    session = session_of(proto)
    got = session.run({"s": ["a", "ü"], "t": np.array(["<b>"], object)})
    assert got["u"].tolist() == ["a", "ü", "<b>"]
    assert got["same"].tolist() == [True] * 3


def test_what_numbers_alone_have_is_refused_for_texts() -> None:
    session = session_of(model([node("Relu", "s", "y")], [value("s", [2], TEXT)]))
    with pytest.raises(tl.OnnxUnsupportedError, match="only for tensors of numbers"):
        session.run({"s": ["a", "b"]})


# ---- functions --------------------------------------------------------------------------------


def function(name: str, nodes: list[Any], inputs: str, outputs: str, **more: Any) -> Any:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, inputs.split(), outputs.split(), nodes, opsets, **more)


def with_functions(nodes: list[Any], functions: list[Any]) -> onnx.ModelProto:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return model(
        nodes, [value("x", [4, 3])], [value("y", [4, 3])], opset_imports=opsets, functions=functions
    )


def test_functions_of_the_model() -> None:
    """One calls another twice and passes an attribute on; inner and outer names are the same."""
    scale = node("Elu", "x", "y")
    scale.attribute.append(
        onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    )
    inner = function("inner", [scale], "x", "y", attributes=["slope"])
    calls = [
        node("inner", "x", "t", domain="own", slope=0.5),
        node("inner", "t", "u", domain="own", slope=2.0),
        node("Sub", "u x", "y"),
    ]
    outer = function("outer", calls, "x", "y")
    proto = with_functions([node("outer", "x", "y", domain="own")], [inner, outer])
    session = both(proto, {"x": X})
    assert session.report().host == ()


def test_a_function_that_calls_itself() -> None:
    endless = function("endless", [node("endless", "x", "y", domain="own")], "x", "y")
    proto = with_functions([node("endless", "x", "y", domain="own")], [endless])
    with pytest.raises(tl.OnnxFormatError, match=r"the function 'endless' \(own\) calls itself"):
        tl.onnx.load(proto.SerializeToString())


def test_functions_that_stand_for_too_much() -> None:
    """Each calls the previous one twenty times: a small file, but 20 ** 10 nodes."""
    functions = [function("f0", [node("Relu", "x", "y")], "x", "y")]
    for depth in range(1, 11):
        calls = [node(f"f{depth - 1}", "x", f"t{i}", domain="own") for i in range(19)]
        calls.append(node(f"f{depth - 1}", "x", "y", domain="own"))
        functions.append(function(f"f{depth}", calls, "x", "y"))
    proto = with_functions([node("f10", "x", "y", domain="own")], functions)
    with pytest.raises(tl.OnnxFormatError, match="more than 50,000 nodes"):
        tl.onnx.load(proto.SerializeToString())


# ---- devices ----------------------------------------------------------------------------------


def test_what_32_bits_do_not_hold_runs_on_numpy_and_is_reported(native: str) -> None:
    large = 2**40
    proto = model(
        [node("Add", "x large", "y")],
        [value("x", [2], INT)],
        [value("y", [2], INT)],
        [weight("large", np.int64(large))],
    )
    session = session_of(proto, "webgpu")
    assert session.run({"x": np.int64([1, 2])})["y"].tolist() == [large + 1, large + 2]
    assert "Add, 1 x, 16 -> 16 bytes: its 64-bit integers may be larger" in str(session.report())
    fed = model([node("Neg", "x", "y")], [value("x", [1], INT)], [value("y", [1], INT)])
    session = session_of(fed, "webgpu")
    assert session.run({"x": np.int64([5])})["y"].tolist() == [-5]
    assert session.report().host == ()
    assert session.run({"x": np.int64([large])})["y"].tolist() == [-large]
    assert [step.operator for step in session.report().host] == ["Neg"]


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


# ---- what stays on a device --------------------------------------------------------------------


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
@pytest.mark.usefixtures("native")
def test_outputs_that_are_not_fetched_are_tensors_that_can_be_fed_again(device: str) -> None:
    session = session_of(
        model([node("Relu", "x", "h"), node("Neg", "h", "y")], [value("x", [4, 3])], "h y"), device
    )
    before = tl.live_buffers().count
    first = session.run({"x": X}, fetch=["h"])
    assert isinstance(first["h"], np.ndarray)
    assert isinstance(first["y"], tl.Tensor) and first["y"].device == device
    assert tl.live_buffers().count == before + 1
    again = session.run({"x": first["y"]})
    np.testing.assert_array_equal(first["y"].numpy(), -np.maximum(X, 0))
    np.testing.assert_array_equal(again["y"], np.zeros_like(X))
    del first
    session.close()
    assert tl.live_buffers().count == before


def test_so_are_those_of_a_model_that_the_host_takes_part_in() -> None:
    """The host computes which elements there are."""
    session = session_of(
        model([node("NonZero", "x", "n"), node("Relu", "x", "y")], [value("x", [4, 3])], "n y")
    )
    x = tl.asarray(X).realize("numpy")
    found = session.run({"x": x}, fetch=["n"])
    np.testing.assert_array_equal(found["n"], np.nonzero(X))
    np.testing.assert_array_equal(found["y"].numpy(), np.maximum(X, 0))


def test_what_is_fetched_or_fed_has_to_fit() -> None:
    session = session_of(model([node("Relu", "x", "y")], [value("x", [4, 3])]))
    with pytest.raises(tl.FeedError, match=r"fetch names z \(outputs are y\)"):
        session.run({"x": X}, fetch=["z"])
    with pytest.raises(tl.FeedError, match=r"'x' expects float32 \(4, 3\), got float32 \(3,\)"):
        session.run({"x": tl.asarray([1.0, 2.0, 3.0])})
    with pytest.raises(tl.FeedError, match=r"'x' expects .*, got int32 \(4, 3\)"):
        session.run({"x": tl.asarray(X).astype(tl.int32)})
