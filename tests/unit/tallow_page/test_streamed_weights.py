"""Models whose weights are still loading: what can be built, and what has to wait."""

from __future__ import annotations

import asyncio
import json
import warnings
import zlib
from pathlib import Path
from random import Random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.files import Files, Sender

import tallow as tl
from tallow.compile import compile_graph, plan_serialization
from tallow.core.hostarray import HostArray
from tallow.core.streamed_weights import DataNotLoadedError, StreamedArray, StreamedFile
from tallow.formats.onnx.read import wire
from tallow.graph import Graph
from tallow.runtime.device import set_default_device
from tallow_build.content import split_model
from tallow_build.errors import BuildError
from tallow_build.paths import ROOT
from tallow_page import app, javascript

MODEL = ROOT / "models" / "mnist" / "mnist.onnx"
CARD = MODEL.with_name("card.json").read_text("utf-8")
PIXELS = np.random.default_rng(4).random((28, 28), np.float32)


def answers(*files: Files) -> list[list[float]]:
    """The probabilities for the same pixels, of models loaded from these files, on NumPy."""

    async def visit(given: Files) -> list[float]:
        async def fetch() -> Files:
            return given

        await app.start("numpy")
        await app.load_model("mnist", fetch, CARD)
        return list((await app.predict("mnist", PIXELS)).cast("B").cast("f"))

    with warnings.catch_warnings():  # the page's own way of showing warnings ends here
        try:
            return [asyncio.run(visit(each)) for each in files]
        finally:
            set_default_device(None)


def test_a_model_in_parts_answers_as_the_whole_one() -> None:
    (found,) = answers(Files(MODEL))
    session = tl.onnx.load(MODEL).session("numpy", {"N": 1})
    (logits,) = session.run({"image": _normal(PIXELS)}).values()
    shares = np.exp(logits - logits.max())
    np.testing.assert_allclose(found, (shares / shares.sum()).ravel(), rtol=1e-5)


def _normal(pixels: np.ndarray) -> np.ndarray:
    rules = json.loads(CARD)["preprocess"]
    mean, std = (np.float32(rules[key][0]) for key in ("mean", "std"))
    return ((pixels * np.float32(255) - mean) / std)[None, None]


def test_where_a_value_is_wanted_early_all_are_read_and_the_answer_is_the_same() -> None:
    """Here, even the shape of a reshape is a weight that has not arrived."""
    usual, early = Files(MODEL), Files(MODEL, least=1)
    assert len(early.weights.asked) == len(usual.weights.asked) == 0
    assert answers(early) == answers(usual)
    assert len(early.weights.asked) > len(usual.weights.asked) > 0


def graph_of(files: Files) -> Graph:
    """The graph, with weights that have not arrived."""
    arriving = StreamedFile(javascript.Source(files.weights))
    return tl.onnx.load(files.graph, {MODEL.name: arriving}).graph({"N": 1})


def test_it_is_compiled_for_a_gpu_without_a_look_at_its_weights() -> None:
    compiled = compile_graph(graph_of(Files(MODEL)), "webgpu")
    away = [data for _, data in compiled.weights if isinstance(data, StreamedArray)]
    assert len(away) >= 5 and all(data.part for data in away)
    with pytest.raises(DataNotLoadedError, match="still on its way"):
        _ = away[0].data
    whole = compile_graph(tl.onnx.load(MODEL).graph({"N": 1}), "webgpu")
    assert compiled.plan == whole.plan
    assert plan_serialization.keep(compiled, {}) == plan_serialization.keep(whole, {})
    asyncio.run(compiled.arrive())
    for number, (_, data) in enumerate(compiled.weights):
        assert whole.upload(data) == plan_serialization.buffer(whole, number)


def test_a_file_that_is_too_short_is_refused() -> None:
    files = Files(MODEL)
    content = MODEL.read_bytes()[:-5000]
    files.weights = Sender(content)
    with pytest.raises(tl.OnnxFormatError, match=rf"'mnist\.onnx', which has {len(content):,}"):
        graph_of(files)


def test_the_parts_of_a_model_are_the_model() -> None:
    content = MODEL.read_bytes()
    graph = onnx.load_from_string(split_model.graph_of(content, MODEL.name))
    parts = []
    for tensor in graph.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            entries = {entry.key: entry.value for entry in tensor.external_data}
            assert entries.pop("location") == MODEL.name
            offset, length = int(entries["offset"]), int(entries["length"])
            parts.append((offset, offset + length))
            tensor.raw_data = content[offset : offset + length]
            del tensor.external_data[:]
            tensor.ClearField("data_location")
    assert graph == onnx.load_from_string(content)
    assert parts and all(end - begin >= split_model.MIN_BYTES for begin, end in parts)


def test_pieces_follow_each_other_and_part_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_model, "PIECE", 50_000)
    content = MODEL.read_bytes()
    pieces = split_model.pieces_of(content, MODEL.name)
    ends = [end for end, _ in pieces]
    assert ends == sorted(set(ends)) and ends[-1] == len(content) and len(ends) > 2
    weights = ranges(content, split_model.MIN_BYTES)
    assert weights
    assert all(not offset < end < offset + n for end in ends for _, offset, n in weights)


def test_what_is_no_model_cannot_be_split() -> None:
    with pytest.raises(BuildError, match=r"Splitting a\.onnx"):
        split_model.graph_of(b"\xff" * 9, "a.onnx")


# ---- the wire format --------------------------------------------------------------------------


def model_of(*weights: onnx.TensorProto) -> onnx.ModelProto:
    """A model with these weights."""
    nodes = [helper.make_node("Identity", [weights[0].name], ["y"])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", [], outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def ranges(content: bytes, least: int = 16) -> list[tuple[int, int, int]] | None:
    """The ranges that can be taken out; None where only protobuf can tell."""
    found: list[tuple[int, int, int]] = []

    def note(*found_range: int) -> bytes:
        found.append(found_range)
        return b""

    return None if wire.replace_raw_data(memoryview(content), least, note) is None else found


def test_only_large_raw_data_is_taken_out() -> None:
    large = numpy_helper.from_array(np.arange(100, dtype=np.float32), "large")
    small = numpy_helper.from_array(np.arange(2, dtype=np.float32), "small")
    numbers = helper.make_tensor("numbers", TensorProto.FLOAT, [100], [1.0] * 100)
    away = onnx.TensorProto()
    away.CopyFrom(large)
    away.data_location = TensorProto.EXTERNAL
    content = model_of(small, numbers, away, large).SerializeToString()
    found = ranges(content)
    assert found is not None
    ((number, offset, length),) = found
    assert (number, content[offset : offset + length]) == (3, large.raw_data)


def test_what_is_unusual_is_left_to_protobuf() -> None:
    weight = numpy_helper.from_array(np.arange(100, dtype=np.float32), "w")
    content = model_of(weight).SerializeToString()
    assert ranges(content)
    assert ranges(content + content) is None  # which protobuf merges
    assert ranges(content[:-1]) is None
    assert ranges(content + b"\x0b") is None  # a group
    assert (
        ranges(content + b"\xba\x00\x00") is None
    )  # a graph whose tag has more bytes than it needs
    twice = content.replace(weight.raw_data, weight.raw_data)
    assert ranges(twice) == ranges(content)


def test_of_bytes_that_are_given_large_weights_are_views() -> None:
    content = bytearray(MODEL.read_bytes())
    graph = tl.onnx.load(content).graph({"N": 1})
    weights = [node.attrs["data"] for node in graph.nodes() if node.is_constant]
    views = [data for data in weights if data.data.obj is content]
    assert sum(data.nbytes for data in views) > 0.7 * len(content)
    assert all(data.nbytes >= 64 << 10 for data in views)
    with pytest.raises(BufferError):
        content.clear()


def test_damaged_files_are_judged_alike_with_views_and_without(tmp_path: Path) -> None:
    """A file given by its path is parsed by protobuf only."""
    content, random = MODEL.read_bytes(), Random(11)
    weights = ranges(content, 1024)
    assert weights
    ends = [0, *(end for _, at, n in weights for end in (at, at + n)), len(content)]
    outline = [
        at for begin, end in zip(ends[::2], ends[1::2], strict=True) for at in range(begin, end)
    ]
    found = set()
    for number in range(300):
        damaged = bytearray(content)
        for _ in range(random.randint(1, 3)):
            damaged[random.choice(outline)] = random.randrange(256)
        cut = damaged[: random.choice(outline)] if number % 5 == 0 else damaged
        path = tmp_path / "m.onnx"
        path.write_bytes(cut)
        outcome = _outcome(bytes(cut))
        assert outcome == _outcome(path), number
        found.add(outcome[:20])
    assert len(found) > 10


def _outcome(source: bytes | Path) -> str:
    """The result of loading."""
    try:
        model = tl.onnx.load(source)
    except tl.TallowError as error:
        return str(error).replace("m.onnx: ", "ONNX model: ", 1)
    constants = model._record.graph.constants
    sums = [
        (name, zlib.crc32(data.data) if isinstance(data, HostArray) else repr(data))
        for name, data in constants.items()
    ]
    return f"{hash(tuple(sums))} {model!r}"


def test_a_name_that_is_long_keeps_its_length(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.arange(5000, dtype=np.float32), "w" * 300)
    content = model_of(weight).SerializeToString()
    graph = onnx.load_from_string(split_model.graph_of(content, "m.onnx"))
    assert graph.graph.initializer[0].name == "w" * 300
    (tmp_path / "m.onnx").write_bytes(content)
    (tmp_path / "m.graph").write_bytes(graph.SerializeToString())
    loaded = onnx.load(tmp_path / "m.graph")  # as other tools read it
    assert numpy_helper.to_array(loaded.graph.initializer[0])[-1] == 4999
