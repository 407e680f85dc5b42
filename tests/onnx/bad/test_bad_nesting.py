"""Nested graphs, nested function calls, names with odd characters: errors in one line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tallow as tl

from ..graphs import model, node, value

X = [value("x", [2])]
FEEDS = {"c": np.array(True), "x": np.float32([-1, 2])}


def _number(number: int) -> bytes:
    """A protobuf varint."""
    low, high = number & 127, number >> 7
    return bytes([low | 128]) + _number(high) if high else bytes([low])


def _field(tag: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return _number(tag << 3) + _number(content)
    return _number(tag << 3 | 2) + _number(len(content)) + content


def ifs(depth: int) -> bytes:
    """Nested Ifs, as bytes: protobuf itself would not write that many."""
    relu = _field(1, b"x") + _field(2, b"y") + _field(4, b"Relu")
    end = _field(2, b"inner") + _field(12, _field(1, b"y"))
    graph = _field(1, relu) + end
    for _ in range(depth):
        branch = _field(1, b"then_branch") + _field(6, graph) + _field(20, 5)
        made = _field(1, b"c") + _field(2, b"y") + _field(4, b"If") + _field(5, branch)
        graph = _field(1, made) + end
    for name, kind in ((b"c", TensorProto.BOOL), (b"x", TensorProto.FLOAT)):
        tensor = _field(1, _field(1, kind))
        graph += _field(11, _field(1, name) + _field(2, tensor))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 17))


def test_ifs_that_may_be_nested() -> None:
    got = tl.onnx.load(ifs(24)).session("numpy").run(FEEDS)
    assert got["y"].tolist() == [0, 2]


@pytest.mark.parametrize("depth", [25, 32, 33, 90, 1000])
def test_ifs_nested_too_deep(depth: int) -> None:
    with pytest.raises(tl.OnnxFormatError, match=r"is nested in 24 others|truncated") as caught:
        tl.onnx.load(ifs(depth))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def calling(calls: Sequence[str]) -> onnx.ModelProto:
    """Functions F0, F1 ..., each of which calls the next named one; the last one is Relu."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    made = [
        helper.make_function(
            "own", f"F{i}", ["a"], ["b"],
            [node(name, "a", "b", domain="" if name == "Relu" else "own")], opsets,
        )
        for i, name in enumerate(calls)
    ]  # fmt: skip
    top = [node("F0", "x", "y", domain="own")]
    return model(top, X, "y", opset_imports=opsets, functions=made)


def chain(length: int) -> onnx.ModelProto:
    return calling([*(f"F{i + 1}" for i in range(length - 1)), "Relu"])


@pytest.mark.parametrize(
    ("proto", "message"),
    [
        (calling(["F0"]), "the function 'F0' .* calls itself"),
        (calling(["F1", "F0"]), "the function 'F0' .* calls itself"),
        (chain(49), "the function 'F48' is nested in 48 other functions and graphs"),
        (chain(5000), "the function 'F48' is nested in 48 other functions and graphs"),
    ],
)
def test_functions_without_an_end(proto: onnx.ModelProto, message: str) -> None:
    with pytest.raises(tl.OnnxFormatError, match=message):
        tl.onnx.load(proto.SerializeToString())


def test_functions_that_call_functions() -> None:
    loaded = tl.onnx.load(chain(48).SerializeToString())
    assert loaded.session("numpy").run({"x": FEEDS["x"]})["y"].tolist() == [0, 2]


def test_two_functions_of_a_name() -> None:
    proto = calling(["Relu"])
    proto.functions.append(proto.functions[0])
    with pytest.raises(tl.OnnxFormatError, match="two functions are named 'F0'"):
        tl.onnx.load(proto.SerializeToString())


def test_names_of_two_lines() -> None:
    proto = model([node("Ne\ng", "x", "y")], X)
    (line,) = tl.onnx.load(proto.SerializeToString()).unsupported
    assert line == r"node 'y': 'Ne\ng' (ai.onnx, opset 17): Tallow has no such operator"
    proto = model([node("Neg", "x", "y")], [value("x", ["N\nM"])])
    proto.graph.name = "two\nlines"
    session = tl.onnx.load(proto.SerializeToString()).session("numpy")
    for feeds in ({}, {"x": [[1.0]]}):
        with pytest.raises(tl.FeedError) as caught:
            session.run(feeds)
        assert "\n" not in str(caught.value)
