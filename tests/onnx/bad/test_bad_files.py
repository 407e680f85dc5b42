"""The errors for files that are invalid ONNX, or that need unsupported features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tallow as tl

from ..graphs import Node, model, network, node, value, weight

NETWORK = network().SerializeToString()
X = [value("x", [2, 3])]


def _bytes(proto: onnx.ModelProto) -> bytes:
    return proto.SerializeToString()


def _changed(change: Callable[[onnx.ModelProto], object]) -> bytes:
    proto = network()
    change(proto)
    return proto.SerializeToString()


NOT_ONNX = {
    "empty": (b"", r"the file is empty \(0 bytes\)"),
    "PNG": (b"\x89PNG\r\n\x1a\n" + b"\0" * 64, "they look like a PNG image"),
    "JPEG": (b"\xff\xd8\xff\xe0" + b"\0" * 64, "they look like a JPEG image"),
    "HTML": (b"<!DOCTYPE html><title>404</title>", "they look like HTML or XML text"),
    "JSON": (b'{"error": "not found"}', "they look like JSON text"),
    "text": (b"This is not a model.", "not an ONNX model"),
    "zip": (b"PK\x03\x04" + b"\0" * 64, "they look like a zip archive"),
    "pickle": (b"\x80\x02}q\0.", "they look like a Python pickle"),
    "LFS": (
        b"version https://git-lfs.github.com/spec/v1\n",
        "a Git LFS pointer; fetch the actual file",
    ),
    "zeros": (b"\0" * 100, "not an ONNX model"),
    "half": (NETWORK[: len(NETWORK) // 2], "truncated or corrupted: protobuf cannot read its"),
    "a byte less": (NETWORK[:-1], "truncated or corrupted"),
    "no graph": (_changed(lambda m: m.ClearField("graph")), "contain no graph"),
    "no IR version": (_changed(lambda m: m.ClearField("ir_version")), "contain no ir_version"),
    "no opset": (_changed(lambda m: m.ClearField("opset_import")), "it imports no operator set"),
    "no outputs": (_changed(lambda m: m.graph.ClearField("output")), "the graph has no outputs"),
    "not UTF-8": (NETWORK.replace(b"logits", b"lo\xff\xfets"), "corrupted|UTF-8"),
}

INCONSISTENT = {
    "reads nothing": (
        model([node("Add", "x z", "y", "sum")], X),
        "node 'sum' .Add. reads 'z', which does not exist",
    ),
    "output of nobody": (model([node("Neg", "x", "z")], X), "no node makes the output 'y'"),
    "cycle": (
        model([node("Add", "x b", "a"), node("Neg", "a", "b"), node("Neg", "b", "y")], X),
        "the graph has a cycle: node '[ab]' .* needs '[ab]'",
    ),
    "reads itself": (model([node("Add", "x y", "y")], X), "a cycle: node 'y' .Add. needs 'y'"),
    "made twice": (
        model([node("Neg", "x", "y", "one"), node("Abs", "x", "y", "two")], X),
        "two nodes make the value 'y': 'one' .Neg. and 'two' .Abs.",
    ),
    "made over an input": (model([node("Neg", "x", "x", "n")], X, "x"), "makes 'x', which is alr"),
    "made over a weight": (
        model([node("Neg", "x", "w")], X, "w", [weight("w", np.float32(0))]),
        "makes 'w', which is already an input or initializer",
    ),
    "two weights of a name": (
        model([node("Neg", "x", "y")], X, weights=[weight("w", np.float32(0))] * 2),
        "two initializers are named 'w'",
    ),
    "two inputs of a name": (model([node("Neg", "x", "y")], X * 2), "two inputs .* named 'x'"),
    "two outputs of a name": (
        model([node("Neg", "x", "y")], X, "y y"), "two outputs of the graph are named 'y'"
    ),
    "input without a name": (model([], [value("", [1])], "x"), "an input of the graph has no name"),
    "negative input": (
        model([node("Neg", "x", "y")], [value("x", [2, -5])]),
        "'x' has a negative dimension, -5, at axis 1",
    ),
    "two attributes": (
        model([helper.make_node("Elu", ["x"], ["y"])], X),
        "node '' .Elu. has two attributes 'alpha'",
    ),
}  # fmt: skip
INCONSISTENT["two attributes"][0].graph.node[0].attribute.extend(
    [helper.make_attribute("alpha", 1.0)] * 2
)


@pytest.mark.parametrize("name", NOT_ONNX)
def test_not_onnx(name: str) -> None:
    data, message = NOT_ONNX[name]
    with pytest.raises(tl.OnnxFormatError, match=message) as caught:
        tl.onnx.load(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", INCONSISTENT)
def test_inconsistent(name: str) -> None:
    proto, message = INCONSISTENT[name]
    with pytest.raises(tl.OnnxFormatError, match=message) as caught:
        tl.onnx.load(_bytes(proto))
    assert "\n" not in str(caught.value)


def _wrong_kind() -> Node:
    broken = node("Concat", "x x", "y")
    broken.attribute.append(helper.make_attribute("axis", 1.5))
    return broken


# Inconsistent nodes: the node, weights it reads, the message after its description.
CONTRADICTIONS = {
    "weight of other channels": (
        node("Conv", "x w", "y"),
        {"x": [1, 3, 8, 8], "w": np.zeros((4, 5, 3, 3), np.float32)},
        r"Conv \(ai\.onnx, opset 17\): the input \(1, 3, 8, 8\) and the weight \(4, 5, 3, 3\) do "
        "not fit in 1 groups",
    ),
    "kernel_shape": (
        node("Conv", "x w", "y", kernel_shape=[5, 5]),
        {"x": [1, 3, 8, 8], "w": np.zeros((4, 3, 3, 3), np.float32)},
        r"the weight \(4, 3, 3, 3\) fits neither .* nor the kernel \(5, 5\)",
    ),
    "bias": (
        node("Conv", "x w b", "y"),
        {"x": [1, 3, 8, 8], "w": np.zeros((4, 3, 3, 3), np.float32), "b": np.zeros(3, np.float32)},
        r"the bias \(3,\) does not fit 4 channels",
    ),
    "window too large": (
        node("MaxPool", "x", "y", kernel_shape=[9, 9]),
        {"x": [1, 3, 8, 8]},
        r"a window of \(9, 9\) .* does not fit into \(1, 3, 8, 8\)",
    ),
    "padding too wide": (
        node("AveragePool", "x", "y", kernel_shape=[2, 2], pads=[0, 2, 0, 0]),
        {"x": [1, 3, 8, 8]},
        r"padding \(2, 0\) is at least as wide as the window of 2",
    ),
    "pads": (
        node("Conv", "x w", "y", pads=[1, 1]),
        {"x": [1, 3, 8, 8], "w": np.zeros((4, 3, 3, 3), np.float32)},
        r"pads \(1, 1\) do not fit 2 spatial axes",
    ),
    "strides": (
        node("MaxPool", "x", "y", kernel_shape=[2, 2], strides=[0, 1]),
        {"x": [1, 3, 8, 8]},
        r"strides \(0, 1\)",
    ),
    "no kernel": (node("MaxPool", "x", "y"), {"x": [1, 3, 8, 8]}, "'kernel_shape' is missing"),
    "inner lengths": (
        node("MatMul", "x w", "y"),
        {"x": [2, 3], "w": np.zeros((4, 5), np.float32)},
        r"matmul: \(2, 3\) @ \(4, 5\): the inner lengths 3, 4 differ",
    ),
    "broadcast": (
        node("Add", "x w", "y"),
        {"x": [2, 3], "w": np.zeros(4, np.float32)},
        r"shapes \(2, 3\) and \(4,\) do not broadcast",
    ),
    "reshape": (
        node("Reshape", "x s", "y"),
        {"x": [2, 3], "s": np.int64([4, -1])},
        r"\(2, 3\) does not divide into \(4, -1\)",
    ),
    "reshape to petabytes": (
        node("Expand", "x s", "y"),
        {"x": [1], "s": np.int64([2**20, 2**20, 2**20])},
        r"a value with 1,152,921,504,606,846,976 elements",
    ),
    "axis": (node("Softmax", "x", "y", axis=2), {"x": [2, 3]}, "axis 2 is out of range"),
    "permutation": (node("Transpose", "x", "y", perm=[0, 0]), {"x": [2, 3]}, "not a permutation"),
    "no attribute": (node("Concat", "x x", "y"), {"x": [2, 3]}, "attribute 'axis' is missing"),
    "attribute of another kind": (_wrong_kind(), {"x": [2, 3]}, "'axis' is not an integer: 1.5"),
    "too few inputs": (node("Add", "x", "y"), {"x": [2]}, "it has 1 inputs; expected 2"),
    "too many inputs": (node("Neg", "x x", "y"), {"x": [2]}, "it has 2 inputs; expected 1"),
    "absent input": (node("Add", "x _", "y"), {"x": [2]}, "its input 2 is missing"),
    "index": (
        node("Gather", "x i", "y"),
        {"x": [2, 3], "i": np.int64([0, 2])},
        "an index is out of range: 0 to 2 along 2 elements",
    ),
    "negative length": (
        node("ConstantOfShape", "s", "y"),
        {"x": [1], "s": np.int64([-2])},
        r"\(-2,\) has a negative",
    ),
    "split": (
        node("Split", "x s", "y z", axis=1),
        {"x": [2, 3], "s": np.int64([1, 1])},
        r"\(1, 1\) does not add up to axis 1 of \(2, 3\)",
    ),
    "step": (
        node("Slice", "x s e a t", "y"),
        {"x": [4], "s": np.int64([0]), "e": np.int64([1]), "a": np.int64([0]), "t": np.int64([0])},
        "a step is 0",
    ),
    "shape of another type": (
        node("Reshape", "x s", "y"),
        {"x": [2, 3], "s": np.float32([6])},
        r"its input 2 .* is float32, but may only be int64",
    ),
    "batch norm": (
        node("BatchNormalization", "x a a a a", "y"),
        {"x": [2, 3], "a": np.zeros(4, np.float32)},
        r"scale \(4,\), .* must have one element per channel of the input \(2, 3\)",
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions(name: str) -> None:
    broken, values, message = CONTRADICTIONS[name]
    inputs = [value(key, shape) for key, shape in values.items() if isinstance(shape, list)]
    weights = [weight(key, w) for key, w in values.items() if not isinstance(w, list)]
    outputs = " ".join(broken.output)
    loaded = tl.onnx.load(_bytes(model([broken], inputs, outputs, weights)))
    with pytest.raises(tl.OnnxFormatError, match=message) as caught:
        loaded.session("numpy")
    text = str(caught.value)
    assert text.startswith(f"ONNX model: node 'y': {broken.op_type} (ai.onnx, opset 17): ")
    assert "\n" not in text


# ---- what Tallow lacks ------------------------------------------------------------------------


def test_everything_that_is_missing_is_said_at_once() -> None:
    nodes = [
        node("Unheard", "x w r", "h", "rnn"),
        node("NotAnOperator", "h", "a"),
        node("Relu", "a", "b"),
        node("Fused", "b", "c", domain="com.example"),
        node("Gelu", "c", "d", "early"),
        node("AnotherOne", "d", "e"),
        node("Identity", "e", "y"),
    ]
    weights = [weight("w", np.float32([1])), weight("r", np.float32([1]))]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 3)]
    loaded = tl.onnx.load(_bytes(model(nodes, X, "y", weights, opset_imports=opsets)))
    lines = [
        "node 'rnn': Unheard (ai.onnx, opset 17): Tallow has no such operator",
        "node 'a': NotAnOperator (ai.onnx, opset 17): Tallow has no such operator",
        "node 'c': Fused (com.example, opset 3): Tallow has no such operator",
        "node 'early': Gelu (ai.onnx, opset 17): it was first defined in operator set 20",
        "node 'e': AnotherOne (ai.onnx, opset 17): Tallow has no such operator",
    ]
    assert loaded.unsupported == lines
    for make in (loaded.graph, lambda: loaded.session("numpy")):
        with pytest.raises(tl.OnnxUnsupportedError, match="the model needs 5 things") as caught:
            make()
        assert str(caught.value).splitlines()[1:] == [f"  {line}" for line in lines]


UNSUPPORTED = {
    "planes of a kernel": (
        node("Conv", "x w", "y"),
        {"x": [1, 1, 2000, 1, 1], "w": np.zeros((1, 1, 2000, 1, 1), np.float32)},
        r"a kernel of \(2000, 1, 1\)",
    ),
    "second output": (
        node("AveragePool", "x", "y i", kernel_shape=[2, 2]),
        {"x": [1, 1, 4, 4]},
        "its output 2, 'i', is not computed",
    ),
    "training": (
        node("BatchNormalization", "x a a a a", "y mean"),
        {"x": [2, 3], "a": np.zeros(3, np.float32)},
        "its output 2, 'mean', is not computed",
    ),
    "unknown attribute": (node("Elu", "x", "y", speed=2), {"x": [2]}, "'speed' is unknown"),
    "mode": (
        node("Pad", "x p", "y", mode="mirror"),
        {"x": [2], "p": np.int64([1, 1])},
        "mode 'mirror' is not one of constant, reflect, edge, wrap",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported(name: str) -> None:
    broken, values, message = UNSUPPORTED[name]
    inputs = [value(key, shape) for key, shape in values.items() if isinstance(shape, list)]
    weights = [weight(key, w) for key, w in values.items() if not isinstance(w, list)]
    loaded = tl.onnx.load(_bytes(model([broken], inputs, "y", weights)))
    with pytest.raises(tl.OnnxUnsupportedError, match=message) as caught:
        loaded.session("numpy")
    assert f"node 'y': {broken.op_type} (ai.onnx, opset 17): " in str(caught.value)


def test_the_type_of_a_cast() -> None:
    """It may be one that only the host has, such as strings; so the error comes from the run."""
    broken = node("Cast", "x", "y", to=TensorProto.COMPLEX64)
    session = tl.onnx.load(_bytes(model([broken], X))).session("numpy")
    with pytest.raises(tl.OnnxUnsupportedError, match=r"node 'y': Cast .*complex64"):
        session.run({"x": np.zeros((2, 3), np.float32)})


@pytest.mark.parametrize("opset", [1, 5, 29, 99])
def test_operator_sets_that_tallow_does_not_know(opset: int) -> None:
    loaded = tl.onnx.load(_bytes(model([node("Relu", "x", "y")], X, opset=opset)))
    with pytest.raises(tl.OnnxUnsupportedError, match=f"opset {opset}.*operator sets 6 to 28"):
        loaded.graph()


def test_a_domain_that_is_not_imported() -> None:
    opsets = [helper.make_opsetid("other", 1)]
    loaded = tl.onnx.load(_bytes(model([node("Relu", "x", "y")], X, opset_imports=opsets)))
    assert loaded.opset is None
    with pytest.raises(tl.OnnxUnsupportedError, match="does not import its operator set"):
        loaded.graph()


@pytest.mark.parametrize("kind", ["COMPLEX64"])
def test_types_of_inputs(kind: str) -> None:
    dtype = getattr(TensorProto, kind)
    proto = model([node("Identity", "s", "y")], [value("s", None, dtype)])
    loaded = tl.onnx.load(_bytes(proto))
    line = f"input 's': its type is {kind.lower()}"
    assert loaded.unsupported == [line]
    with pytest.raises(tl.OnnxUnsupportedError, match=line):
        loaded.session("numpy")


def test_the_next_good_model_works_after_a_bad_one() -> None:
    for data in (b"", NETWORK[:-3], _bytes(INCONSISTENT["cycle"][0])):
        with pytest.raises(tl.OnnxError):
            tl.onnx.load(data)
    image = np.ones((1, 3, 8, 8), np.float32)
    (y,) = tl.onnx.load(NETWORK).session("numpy").run({"image": image}).values()
    np.testing.assert_allclose(y.sum(), 1, rtol=1e-5)
