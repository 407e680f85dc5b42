"""Inputs that do not fit: one line with the input's name and what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import tallow as tl

from ..graphs import model, node, value

X = np.ones((2, 3), np.float32)
TENSOR = model([node("Relu", "x", "y")], [value("x", ["N", 3])])
SEQUENCE = model(
    [node("SequenceLength", "q", "y")],
    [helper.make_tensor_sequence_value_info("q", TensorProto.FLOAT, None)],
)
OPTIONAL = model(
    [node("OptionalHasElement", "o", "y")],
    [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)],
    opset=18,
)
OPTIONAL.graph.input[0].type.CopyFrom(
    helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
)
TEXTS = model([node("StringConcat", "s s", "y")], [value("s", [2], TensorProto.STRING)], opset=20)

WRONG: list[tuple[Any, Any, str]] = [
    (TENSOR, {}, r"missing x \(inputs are x\)"),
    (TENSOR, {"x": X, "z": X}, r"unknown z \(inputs are x\)"),
    (TENSOR, {"x": X, 3: X}, "unknown 3"),
    (TENSOR, [X], "{input name: array}, not list"),
    (TENSOR, {"x": X[:, :2]}, r"'x' expects float32 \('N', 3\), got float32 \(2, 2\)"),
    (TENSOR, {"x": X[0]}, r"'x' expects float32 \('N', 3\), got float32 \(3,\)"),
    (TENSOR, {"x": X.astype(float)}, r"'x' expects float32 \('N', 3\), got float64 \(2, 3\)"),
    (TENSOR, {"x": float("nan")}, r"'x' expects float32 \('N', 3\), got float32 \(\)"),
    (TENSOR, {"x": None}, r"'x' expects float32 \('N', 3\), got NoneType: NoneType is not"),
    (TENSOR, {"x": "text"}, r"'x' expects float32 \('N', 3\), got str: str is not an array"),
    (TENSOR, {"x": object()}, r"'x' expects .* object is not an array of numbers"),
    (TENSOR, {"x": X.astype(object)}, "'x' expects .* format 'O' has no element type"),
    (TENSOR, {"x": X.astype(np.complex64)}, "'x' expects .* has no element type"),
    (TENSOR, {"x": X.astype(">f4")}, "'x' expects .* big-endian"),
    (TENSOR, {"x": [[1, 2, 3], [1]]}, "'x' expects .* ragged"),
    (TENSOR, {"x": [X, X]}, r"'x' expects .* got float32 \(2, 2, 3\)"),
    (TENSOR, {"x": [[10**400, 1, 2]]}, "'x' expects .* does not fit float32"),
    (SEQUENCE, {"q": X}, "'q' expects sequence of float32, got ndarray: .* must be a list"),
    (SEQUENCE, {"q": None}, "'q' expects sequence of float32, got NoneType"),
    (SEQUENCE, {"q": ["a"]}, "'q' expects .*: the type of its member 0 is string, not float32"),
    (SEQUENCE, {"q": [X, X.astype(int)]}, "'q' expects .* member 1 is int64, not"),
    (SEQUENCE, {"q": [None]}, "'q' expects sequence of float32, .* member 0 is None"),
    (SEQUENCE, {"q": [object()]}, "'q' expects sequence of float32, .* object is not an array"),
    (OPTIONAL, {"o": X.astype(float)}, r"'o' expects float32 .*, got float64 \(2, 3\)"),
    (TEXTS, {"s": X[0, :2]}, r"'s' expects string \(2,\), got ndarray: the type of it is float32"),
    (TEXTS, {"s": ["a", "b", "c"]}, r"'s' expects string \(2,\), got list: its shape is \(3,\)"),
    (TEXTS, {"s": ["a", None]}, r"'s' expects string \(2,\), .* not all .* are strings"),
    (TEXTS, {"s": None}, r"'s' expects string \(2,\), got NoneType"),
]


@pytest.mark.parametrize(("proto", "feeds", "message"), WRONG, ids=[wrong[2] for wrong in WRONG])
def test_a_wrong_feed(proto: Any, feeds: Any, message: str) -> None:
    session = tl.onnx.load(proto.SerializeToString()).session("numpy")
    with pytest.raises(tl.FeedError, match=message) as caught:
        session.run(feeds)
    assert "\n" not in str(caught.value)


def test_what_may_be_fed() -> None:
    def run(proto: Any, feeds: Any) -> Any:
        return tl.onnx.load(proto.SerializeToString()).session("numpy").run(feeds)["y"]

    assert run(TENSOR, {"x": [[1, -2, 3]]}).tolist() == [[1, 0, 3]]
    assert run(SEQUENCE, {"q": [X, X[0]]}) == 2
    assert [bool(run(OPTIONAL, feeds)) for feeds in ({}, {"o": None}, {"o": X})] == [0, 0, 1]
    assert run(TEXTS, {"s": ["a", "b"]}).tolist() == ["aa", "bb"]
