"""Functions that a model brings with it."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import helper

import tallow as tl

from ..graphs import model, node, value
from .running import X, both


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
