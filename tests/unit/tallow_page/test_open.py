"""A model that the visitor opened, as the page uses it: described, run, compared, freed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.unit.tallow_page.long_actions import finished

from tallow import onnx as tallow_onnx
from tallow.errors import FeedError, OnnxFormatError, OnnxMissingDataError
from tallow.runtime.device import set_default_device
from tallow_page import app
from tallow_page import open as view

FLOAT = TensorProto.FLOAT


def value(name: str, shape: list[Any], kind: int = FLOAT) -> onnx.ValueInfoProto:
    """An input or output."""
    return helper.make_tensor_value_info(name, kind, shape)


def made(nodes: Any, inputs: Any, outputs: Any, constants: Any = (), opset: int = 17) -> bytes:
    """An ONNX file."""
    graph = helper.make_graph(nodes, "small", inputs, outputs, list(constants))
    opsets = [helper.make_opsetid("", opset)]
    content: bytes = helper.make_model(graph, opset_imports=opsets).SerializeToString()
    return content


@pytest.fixture
def ask() -> Iterator[Callable[..., Any]]:
    """ask(function of open.py, arguments): its answer."""

    async def call(name: str, *args: Any) -> Any:
        return json.loads(await getattr(view, name)(*args))

    asyncio.run(app.start("numpy"))
    yield lambda name, *args: asyncio.run(call(name, *args))
    view.close_model()
    set_default_device(None)


async def nothing() -> None:
    """A function for finding kept plans that finds none."""


WEIGHT = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3), "w")
FEED = {"name": "x", "shape": [2, 4], "dtype": "float32"}
PRODUCT = [helper.make_node("MatMul", ["x", "w"], ["y"])]


def test_a_survey_for_each_length(ask: Callable[..., Any]) -> None:
    content = made(PRODUCT, [value("x", ["rows", 4])], [value("y", ["rows", 3])], [WEIGHT])
    told = ask("open_model", bytearray(content), "[]")
    expected = {"name": "x", "shape": ["rows", 4], "dtype": "float32", "type": "float32"}
    assert told["inputs"] == [{**expected, "kind": "tensor", "element": None}]
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
        helper.make_node("NonZero", ["y"], ["indices"]),
        helper.make_node("Transpose", ["indices"], ["turned"]),
        helper.make_node("If", ["c"], ["chosen"], then_branch=body, else_branch=body),
    ]
    inputs = [value("x", [2, 4]), value("c", [], TensorProto.BOOL)]
    content = made(nodes, inputs, [value("turned", [None, 2], 7), value("chosen", [], 7)], [WEIGHT])
    ask("open_model", bytearray(content), "[]")
    found = ask("survey_model", "{}")
    uses = {(use["operator"], use["place"]) for use in found["uses"]}
    assert {("MatMul", "device"), ("NonZero", "host"), ("If", "host")} <= uses
    assert sum(use["count"] for use in found["uses"]) == found["nodes"] == 6
    assert (found["multiplyAdds"], found["whole"]) == (24, False)


def test_runs_are_kept_and_freed(ask: Callable[..., Any]) -> None:
    content = made(PRODUCT, [value("x", ["rows", 4])], [value("y", ["rows", 3])], [WEIGHT])
    ask("open_model", bytearray(content), "[]")
    for action in (view.compare_model, view.time_model):
        with pytest.raises(FeedError, match="has not been run yet"):
            asyncio.run(finished(action(0, 1)))
    x = np.ones((2, 4), np.float32)
    told = ask("run_model", json.dumps([FEED]), nothing, x)
    (output,) = told["outputs"]
    assert (output["name"], output["shape"], told["device"]) == ("y", [2, 3], "numpy")
    expected = x @ numpy_helper.to_array(WEIGHT)
    assert np.frombuffer(view.output_bytes("y"), np.float32).tolist() == expected.ravel().tolist()
    heard, told = asyncio.run(finished(view.time_model(4, 100)))
    series = told["series"]
    assert series["count"] == len(heard) == 4
    order = [series[name] for name in ("least", "low", "median", "high", "most")]
    assert order == sorted(order) and order[0] > 0
    assert asyncio.run(finished(view.time_model(4, 0)))[1]["series"] is None
    view.close_model()
    with pytest.raises(FeedError, match="no model is open"):
        view.output_bytes("y")


def test_types_that_javascript_lacks(ask: Callable[..., Any]) -> None:
    half, brain = TensorProto.FLOAT16, TensorProto.BFLOAT16
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=brain)]
    ask("open_model", made(nodes, [value("x", [3], half)], [value("y", [3], brain)]), "[]")
    feed = {"name": "x", "shape": [3], "dtype": "float16", "wide": True}
    told = ask("run_model", json.dumps([feed]), nothing, np.array([1, -2.5, 0.5]))
    assert told["outputs"][0]["dtype"] == "bfloat16"
    assert np.frombuffer(view.output_bytes("y"), np.float32).tolist() == [1, -2.5, 0.5]


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
    assert told["unneeded"] == []
    told = ask("open_model", content, json.dumps(["a.txt", "w.bin"]), b"more", data)
    assert (told["unneeded"], told["bytes"]) == (["a.txt"], len(content) + len(data))
    with pytest.raises(OnnxFormatError, match=r"needs 48 bytes at 8 of 'deep/w\.bin', which has 9"):
        ask("open_model", content, json.dumps(["w.bin"]), data[:9])


def _outside(name: str, location: str) -> onnx.TensorProto:
    weight = onnx.TensorProto(name=name, dims=[4, 3], data_type=FLOAT, data_location=1)
    weight.external_data.add(key="location", value=location)
    return weight


def test_all_files_that_are_missing_are_named(ask: Callable[..., Any], tmp_path: Path) -> None:
    nodes = [helper.make_node("Sum", ["x", "a", "b", "c"], ["y"])]
    weights = [_outside(name, f"deep/{name}.bin") for name in "abc"]
    content = made(nodes, [value("x", [4, 3])], [value("y", [4, 3])], weights)
    assert ask("open_model", content, "[]")["missing"] == ["deep/a.bin", "deep/b.bin", "deep/c.bin"]
    told = ask("open_model", content, json.dumps(["b.bin", "else"]), bytes(48), b"")
    assert told == {"missing": ["deep/a.bin", "deep/c.bin"]}
    with pytest.raises(FeedError, match="no model is open"):
        ask("survey_model", "{}")
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.bin").write_bytes(bytes(48))
    with pytest.raises(
        OnnxMissingDataError, match=r"m\.onnx: .* 2 other files .*'deep/c\.bin'"
    ) as at:
        tallow_onnx.load(path)
    assert at.value.files == ("deep/b.bin", "deep/c.bin")


def test_only_files_that_may_be_needed_are_wanted(ask: Callable[..., Any]) -> None:
    nodes = [helper.make_node("Sum", ["x", "a", "b"], ["y"])]
    weights = [_outside("a", "one/w.bin"), _outside("b", "two/w.bin")]
    content = made(nodes, [value("x", [4, 3])], [value("y", [4, 3])], weights)
    names = ["one/w.bin", "two\\w.bin", "w.bin", "one/v.bin", "w.bin.txt", "W.bin"]
    assert ask("needed_files", content, json.dumps(names)) == names[:3]
    whole = made(PRODUCT, [value("x", [1, 4])], [value("y", [1, 3])], [WEIGHT])
    assert ask("needed_files", whole, json.dumps(names)) == []
    with pytest.raises(OnnxFormatError, match=r"^not an ONNX model"):
        ask("needed_files", b"no model", "[]")


def test_files_whose_names_do_not_say_which_is_which(ask: Callable[..., Any]) -> None:
    nodes = [helper.make_node("Sum", ["x", "a", "b"], ["y"])]
    weights = [_outside("a", "one/w.bin"), _outside("b", "two/w.bin")]
    content = made(nodes, [value("x", [4, 3])], [value("y", [4, 3])], weights)
    told = ask("open_model", content, json.dumps(["w.bin"]), bytes(48))
    assert told == {"unclear": ["one/w.bin", "two/w.bin"], "given": ["w.bin"]}
    with pytest.raises(OnnxFormatError, match=r"have the same name, 'one/w\.bin'"):
        ask("open_model", content, json.dumps(["one/w.bin"] * 2), bytes(48), bytes(48))


def test_sequences_and_optionals(ask: Callable[..., Any]) -> None:
    tensor = helper.make_tensor_type_proto(FLOAT, ["n"])
    several = helper.make_sequence_type_proto(tensor)
    maybe = helper.make_optional_type_proto(tensor)
    nodes = [
        helper.make_node("SequenceInsert", ["several", "x"], ["more"]),
        helper.make_node("OptionalHasElement", ["maybe"], ["there"]),
    ]
    inputs = [
        helper.make_value_info("several", several),
        value("x", [2]),
        helper.make_value_info("maybe", maybe),
    ]
    outputs = [helper.make_value_info("more", several), value("there", [], TensorProto.BOOL)]
    told = ask("open_model", made(nodes, inputs, outputs, opset=18), "[]")
    found, _, optional = told["inputs"]
    assert (found["type"], found["element"]["dtype"]) == ("sequence of float32", "float32")
    assert (optional["type"], optional["element"]["shape"]) == ("optional float32", ["n"])

    def feed(name: str, *lengths: int) -> dict[str, Any]:
        return {"name": name, "shape": lengths, "dtype": "float32"}

    one, two = np.float32([7]), np.float32([1, 2])
    feeds = [{"name": "several", "shape": [], "members": [feed("several", 1)]}, feed("x", 2)]
    told = ask("run_model", json.dumps(feeds), nothing, one, two)
    more, there = told["outputs"]
    assert (more["kind"], more["shape"]) == ("sequence", [2])
    assert [member["name"] for member in more["members"]] == ["more[0]", "more[1]"]
    assert bytes(view.output_bytes("more[1]")) == two.tobytes()
    assert bytes(view.output_bytes(there["name"])) == b"\0"
    ask("run_model", json.dumps([*feeds, feed("maybe", 1)]), nothing, one, two, one)
    assert bytes(view.output_bytes("there")) == b"\1"
    wrong = [{"name": "several", "shape": [], "members": [{**feed("s", 1), "dtype": "int32"}]}]
    with pytest.raises(FeedError, match=r"'several' .*member 0 is int32, not float32"):
        ask("run_model", json.dumps([*wrong, feed("x", 2)]), nothing, one, two)
