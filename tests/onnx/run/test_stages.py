"""Models that one plan can't run: shapes from data, sequences, strings, what the host computes."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

import tallow as tl
from tallow.formats.onnx.run import plan_cache

from ..graphs import model, node, value, weight
from .running import BOOL, INT, TEXT, X, both, session_of

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
    monkeypatch.setattr("tallow.formats.onnx.run.plan_cache.compiling", None)
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


# ---- stages ------------------------------------------------------------------------------------


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
    monkeypatch.setattr(plan_cache, "compiling", None)
    for n in range(1, 9):
        assert session.run({"x": np.ones(n, np.float32)})[name].tolist() == list(range(1, n + 1))


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
    with pytest.raises(tl.OnnxFormatError, match="is string, but may only be float32"):
        session_of(model([node("Relu", "s", "y")], [value("s", [2], TEXT)]))


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
