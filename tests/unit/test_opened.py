"""A model that the visitor opened, as the page asks for it: what is told, run, compared, freed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tallow import app
from tallow.device import set_default_device
from tallow.errors import FeedError, OnnxFormatError

FLOAT = TensorProto.FLOAT


def value(name: str, shape: list[Any], kind: int = FLOAT) -> onnx.ValueInfoProto:
    """An input or output."""
    return helper.make_tensor_value_info(name, kind, shape)


def made(nodes: Any, inputs: Any, outputs: Any, constants: Any = ()) -> bytes:
    """An ONNX file."""
    graph = helper.make_graph(nodes, "small", inputs, outputs, list(constants))
    opsets = [helper.make_opsetid("", 17)]
    content: bytes = helper.make_model(graph, opset_imports=opsets).SerializeToString()
    return content


@pytest.fixture
def ask() -> Iterator[Callable[..., Any]]:
    """ask(function of app.py, arguments): what it tells."""

    async def call(name: str, *args: Any) -> Any:
        return json.loads(await getattr(app, name)(*args))

    asyncio.run(app.start("numpy"))
    yield lambda name, *args: asyncio.run(call(name, *args))
    app.close_model()
    set_default_device(None)


WEIGHT = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3), "w")
PRODUCT = [helper.make_node("MatMul", ["x", "w"], ["y"])]


def test_a_survey_for_each_length(ask: Callable[..., Any]) -> None:
    content = made(PRODUCT, [value("x", ["rows", 4])], [value("y", ["rows", 3])], [WEIGHT])
    told = ask("open_model", bytearray(content), "[]")
    assert told["inputs"] == [
        {"name": "x", "shape": ["rows", 4], "dtype": "float32", "type": "float32", "kind": "tensor"}
    ]
    found = ask("survey_model", json.dumps({"x": [5, 4]}))
    assert (found["parameters"], found["weightBytes"]) == (12, 48)
    assert (found["multiplyAdds"], found["whole"]) == (5 * 4 * 3, True)
    assert ask("survey_model", json.dumps({"x": [2, 4]}))["multiplyAdds"] == 2 * 4 * 3
    with pytest.raises(ValueError, match=r"\(2, 5\)"):
        ask("survey_model", json.dumps({"x": [2, 5]}))


def test_what_only_the_host_can_compute(ask: Callable[..., Any]) -> None:
    body = helper.make_graph(
        [helper.make_node("NonZero", ["x"], ["inner"])], "then", [], [value("inner", [1, None], 7)]
    )
    nodes = [
        *PRODUCT,
        helper.make_node("NonZero", ["y"], ["places"]),
        helper.make_node("Transpose", ["places"], ["turned"]),
        helper.make_node("If", ["c"], ["chosen"], then_branch=body, else_branch=body),
    ]
    inputs = [value("x", [2, 4]), value("c", [], TensorProto.BOOL)]
    content = made(nodes, inputs, [value("turned", [None, 2], 7), value("chosen", [], 7)], [WEIGHT])
    ask("open_model", bytearray(content), "[]")
    found = ask("survey_model", "{}")
    places = {(use["operator"], use["place"]) for use in found["uses"]}
    assert {("MatMul", "device"), ("NonZero", "host"), ("If", "host")} <= places
    assert sum(use["count"] for use in found["uses"]) == found["nodes"] == 6
    assert (found["multiplyAdds"], found["whole"]) == (24, False)


def test_runs_are_kept_and_freed(ask: Callable[..., Any]) -> None:
    content = made(PRODUCT, [value("x", ["rows", 4])], [value("y", ["rows", 3])], [WEIGHT])
    ask("open_model", bytearray(content), "[]")
    with pytest.raises(FeedError, match="no answer yet"):
        ask("compare_model", 0)
    x = np.ones((2, 4), np.float32)
    told = ask("run_model", json.dumps([{"name": "x", "shape": [2, 4], "dtype": "float32"}]), x)
    (output,) = told["outputs"]
    assert (output["name"], output["shape"], told["device"]) == ("y", [2, 3], "numpy")
    expected = x @ numpy_helper.to_array(WEIGHT)
    assert np.frombuffer(app.output_bytes("y"), np.float32).tolist() == expected.ravel().tolist()
    app.close_model()
    with pytest.raises(FeedError, match="no model is open"):
        app.output_bytes("y")


def test_types_that_javascript_lacks(ask: Callable[..., Any]) -> None:
    half, brain = TensorProto.FLOAT16, TensorProto.BFLOAT16
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=brain)]
    ask("open_model", made(nodes, [value("x", [3], half)], [value("y", [3], brain)]), "[]")
    feed = {"name": "x", "shape": [3], "dtype": "float16", "wide": True}
    told = ask("run_model", json.dumps([feed]), np.array([1, -2.5, 0.5]))
    assert told["outputs"][0]["dtype"] == "bfloat16"
    assert np.frombuffer(app.output_bytes("y"), np.float32).tolist() == [1, -2.5, 0.5]


def test_external_data_by_name(ask: Callable[..., Any]) -> None:
    weight = onnx.TensorProto()
    weight.CopyFrom(WEIGHT)
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="deep/w.bin")
    weight.external_data.add(key="offset", value="8")
    content = made(PRODUCT, [value("x", [1, 4])], [value("y", [1, 3])], [weight])
    data = bytearray(b"12345678" + WEIGHT.raw_data)
    told = ask("open_model", content, json.dumps(["w.bin"]), data)
    assert told["bytes"] == len(content) + len(data)
    for names, given, said in (
        ([], [], "'deep/w.bin', which was not given"),
        (["w.bin"], [data[:9]], "needs 48 bytes at 8 of 'deep/w.bin', which has 9"),
    ):
        with pytest.raises(OnnxFormatError, match=said):
            ask("open_model", content, json.dumps(names), *given)
