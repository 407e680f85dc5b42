"""float64 on a GPU: NumPy computes it exactly, as reported; everything else stays on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

import tallow as tl
from tallow.formats.onnx.reasons import Reason

from ..graphs import model, node, value, weight

DOUBLE, FLOAT, INT = TensorProto.DOUBLE, TensorProto.FLOAT, TensorProto.INT64
REASON = Reason("IN_FLOAT64")
X = np.random.default_rng(3).standard_normal((4, 3))

pytestmark = pytest.mark.usefixtures("native")


def session_of(proto: onnx.ModelProto) -> Any:
    return tl.onnx.load(proto.SerializeToString()).session("webgpu")


def on_host(session: Any) -> list[tuple[str, int, int]]:
    """The nodes that NumPy computed because of float64, and the bytes that each read and wrote."""
    assert all(one.reason == REASON for one in session.report().host)
    return [(one.operator, one.bytes_in, one.bytes_out) for one in session.report().host]


def test_a_model_of_float64_is_exact() -> None:
    """All its digits, and a value beyond float32; only its inputs and outputs cross."""
    nodes = [node("Exp", "x", "e"), node("Mul", "e large", "y")]
    inputs, outputs = [value("x", [4, 3], DOUBLE)], [value("y", [4, 3], DOUBLE)]
    session = session_of(model(nodes, inputs, outputs, [weight("large", np.float64(1e300))]))
    got = session.run({"x": X})["y"]
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, np.exp(X) * 1e300, rtol=1e-15)
    assert on_host(session) == [("Exp", X.nbytes, 0), ("Mul", 0, X.nbytes)]
    assert "host: 2 nodes, 192 bytes crossed" in str(session.report())
    assert session.report().nodes == 0


def test_a_cast_to_float64_and_back_crosses_once_each_way() -> None:
    """Earlier and later nodes stay on the device, also in parallel with the NumPy nodes."""
    nodes = [
        node("Relu", "x", "r"),
        node("Cast", "r", "d", to=DOUBLE),
        node("Add", "d tiny", "e"),
        node("Sub", "e one", "f"),
        node("Cast", "f", "s", to=FLOAT),
        node("Mul", "s r", "y"),
    ]
    weights = [weight("tiny", np.float64(1e-12)), weight("one", np.float64(1))]
    x = np.ones((4, 3), np.float32)
    proto = model(nodes, [value("x", [4, 3])], [value("y", [4, 3])], weights)
    session = session_of(proto)
    got = session.run({"x": x})["y"]
    np.testing.assert_array_equal(got, (np.float64(1) + 1e-12 - 1).astype(np.float32) * x)
    crossed = [("Cast", 48, 0), ("Add", 0, 0), ("Sub", 0, 0), ("Cast", 0, 48)]
    assert on_host(session) == crossed
    assert (session.report().nodes, session.report().parts) == (2, 2)
    named = [op for op, _, _ in crossed]
    summary = tl.onnx.load(proto.SerializeToString()).summary({})
    assert summary.nodes == len(nodes)
    assert not summary.unsupported
    assert session.run({"x": 2 * x})["y"].max() > 0
    assert [one.operator for one in session.report().host] == named


def test_the_summary_says_what_numpy_has() -> None:
    nodes = [node("Cast", "x", "s", to=FLOAT), node("Relu", "s", "y")]
    proto = model(nodes, [value("x", [4, 3], DOUBLE)], [value("y", [4, 3])])
    uses = tl.onnx.load(proto.SerializeToString()).summary().uses
    assert [(use.operator, use.place, use.reason) for use in uses] == [
        ("Cast", "host", REASON),
        ("Relu", "device", None),
    ]


def test_constants_cross_never_and_are_computed_exactly() -> None:
    """Cast weights, computed scales, and a length."""
    wide = np.random.default_rng(4).standard_normal((3, 5000))
    nodes = [
        node("Cast", "wide", "w", to=FLOAT),
        node("MatMul", "x w", "product"),
        node("Log", "third", "log"),  # a function that only NumPy folds
        node("Mul", "log third", "scale"),
        node("Cast", "scale", "factor", to=FLOAT),
        node("Mul", "product factor", "z"),
        node("Transpose", "wide", "turned"),
        node("Mul", "turned third", "less"),
        node("Cast", "less", "v", to=FLOAT),
        node("MatMul", "z v", "y"),
    ]
    third = np.float64(1) / 3
    proto = model(
        nodes,
        [value("x", [4, 3])],
        [value("y", [4, 3]), value("z", [4, 5000])],
        [weight("wide", wide), weight("third", third)],
    )
    session = session_of(proto)
    x = np.eye(4, 3, dtype=np.float32)
    got = session.run({"x": x})
    factor = np.float32(np.log(third) * third)
    np.testing.assert_array_equal(got["z"][:3], wide.astype(np.float32) * factor)
    np.testing.assert_allclose(
        got["y"], got["z"] @ (wide.T * third).astype(np.float32), rtol=1e-4, atol=1e-3
    )
    assert on_host(session) == []
    assert session.report().nodes == len(nodes)


def test_a_shape_of_float64_is_no_reason() -> None:
    nodes = [node("Shape", "x", "s"), node("Reshape", "z s", "y")]
    inputs = [value("x", [4, 3], DOUBLE), value("z", [12])]
    session = session_of(model(nodes, inputs, [value("y", [4, 3])]))
    z = np.arange(12, dtype=np.float32)
    np.testing.assert_array_equal(session.run({"x": X, "z": z})["y"], z.reshape(4, 3))
    assert on_host(session) == []


def test_float64_inside_an_operator() -> None:
    """Integers to a floating power: 5 to the 3.0 must not be 124.9999 and then 124."""
    base, exponent = np.int32([[5, 7, 11]] * 4), np.float32([[3.0, 2.5, 4.0]] * 4)
    inputs = [value("x", [4, 3], TensorProto.INT32), value("p", [4, 3])]
    outputs = [value("y", [4, 3], TensorProto.INT32)]
    session = session_of(model([node("Pow", "x p", "y")], inputs, outputs))
    got = session.run({"x": base, "p": exponent})["y"]
    np.testing.assert_array_equal(got, (base ** exponent.astype(np.float64)).astype(np.int32))
    assert on_host(session) == [("Pow", 96, 48)]


def test_values_of_float64_decide_shapes() -> None:
    """A float64 upscaling factor determines the sizes of a Resize, known only in a run."""
    nodes = [
        node("Mul", "size factor", "grown"),
        node("Floor", "grown", "whole"),
        node("Cast", "whole", "sizes", to=INT),
        node("Resize", "x _ _ sizes", "y", mode="nearest"),
    ]
    inputs = [value("x", [1, 1, 2, 2]), value("size", [4], DOUBLE)]
    proto = model(
        nodes,
        inputs,
        [value("y", [None] * 4)],
        [weight("factor", np.float64([1, 1, 1.5, 2]))],
    )
    session = session_of(proto)
    x = np.float32([[[[1, 2], [3, 4]]]])
    for length in (2.0, 4.0):
        got = session.run({"x": x, "size": np.float64([1, 1, length, length])})["y"]
        assert got.shape == (1, 1, 1.5 * length, 2 * length)
    assert [op for op, _, _ in on_host(session)] == ["Mul", "Floor", "Cast"]


def test_many_detours_are_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, name = [], "x"
    for i in range(12):
        nodes += [
            node("Relu", name, f"r{i}"),
            node("Cast", f"r{i}", f"d{i}", to=DOUBLE),
            node("Cast", f"d{i}", f"s{i}", to=FLOAT),
        ]
        name = f"s{i}"
    session = session_of(model(nodes, [value("x", ["N"])], [value(name, ["N"])]))
    for length in (3, 4):
        session.run({"x": np.ones(length, np.float32)})
    monkeypatch.setattr("tallow.formats.onnx.run.plan_cache.compiling", None)
    for length in (3, 4):
        assert session.run({"x": np.ones(length, np.float32)})[name].tolist() == [1] * length
    assert len(session.report().host) == 24
