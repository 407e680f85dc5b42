"""Values that are too large for an array or for memory are errors before they are allocated."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tallow as tl
from tallow.formats.onnx.operators.text.texts import _parts

from ..graphs import model, node, value, weight

INT, TEXT, DOUBLE = TensorProto.INT64, TensorProto.STRING, TensorProto.DOUBLE
GRAM = {"min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "mode": "TF",
        "ngram_counts": [0], "pool_int64s": [1]}  # fmt: skip
SIDE = weight("side", np.int64([30_000, 30_000]))
LEARNING = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]


def _texts(count: int, text: str = "a", shape: tuple[int, ...] | None = None) -> np.ndarray:
    return np.array([text] * count, object).reshape(shape or (count,))


def _one(
    op: str, *arrays: np.ndarray, weights: dict[str, Any] | None = None, outputs: str = "y",
    more: dict[str, Any] | None = None, **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:  # fmt: skip
    """A model of one node that reads the arrays as inputs, and then the weights."""
    feeds = {f"x{i}": array for i, array in enumerate(arrays)}
    known = [weight(name, np.asarray(array)) for name, array in (weights or {}).items()]
    types = {"O": TEXT, "i": INT, "d": DOUBLE}
    infos = [
        value(name, array.shape, types.get(array.dtype.char.replace("l", "i"), TensorProto.FLOAT))
        for name, array in feeds.items()
    ]
    names = " ".join([*feeds, *(weights or {})])
    return model(
        [node(op, names, outputs, **attributes)],
        infos,
        outputs,
        known,
        **{"opset": 21, **(more or {})},
    ), feeds


LONG = np.array(["," * 20_000, *[""] * 19_999], object)
SQUARE = np.zeros((1, 1, 2, 2), np.float32)
LARGE: dict[str, Any] = {
    "a matrix that is only summed": (
        model([node("ConstantOfShape", "side", "z"), node("EyeLike", "z", "e"),
               node("ReduceSum", "e", "y")], weights=[SIDE], opset=21), {}),
    "EyeLike": (
        model([node("ConstantOfShape", "side", "z"), node("EyeLike", "z", "y")], weights=[SIDE],
              opset=21), {}),
    "StringSplit": _one("StringSplit", LONG, outputs="y counts", delimiter=","),
    "StringSplit by blanks": _one(
        "StringSplit", np.array([" a" * 20_000, *[""] * 19_999], object), outputs="y counts"),
    "TfIdfVectorizer": _one("TfIdfVectorizer", np.int64([1]), ngram_indexes=[1 << 30], **GRAM),
    "rows of TfIdfVectorizer": _one(
        "TfIdfVectorizer", np.ones((5000, 1), np.int64), ngram_indexes=[1 << 18], **GRAM),
    "MaxUnpool": _one("MaxUnpool", SQUARE, weights={"i": np.zeros((1, 1, 2, 2), np.int64)},
                      kernel_shape=[30_000, 30_000], strides=[30_000, 30_000]),
    "DFT": _one("DFT", np.zeros((1, 4, 1)), np.int64(1 << 27)),
    "STFT": _one("STFT", np.zeros((1, 100_000, 1)), np.int64(1), weights={"w": np.ones(50_000)}),
    "ConcatFromSequence": (
        model([node("SequenceConstruct", " ".join(["x"] * 2000), "s"),
               node("ConcatFromSequence", "s", "y", axis=0)], [value("x", [1000, 500])], opset=21),
        {"x": np.zeros((1000, 500), np.float32)}),
    "Concat of texts": (
        model([node("Concat", " ".join(["x"] * 5000), "y", axis=0)], [value("x", [5000], TEXT)],
              [value("y", None, TEXT)], opset=21), {"x": _texts(5000)}),
    "Gather of texts": _one("Gather", _texts(9000, shape=(1, 9000)), np.zeros(9000, np.int64)),
    "Where of texts": _one(
        "Where", _texts(9000, shape=(9000, 1)), _texts(9000, shape=(1, 9000)),
        weights={"condition": np.array(True)}),
    "Equal of texts": _one("Equal", _texts(20_000, shape=(20_000, 1)), _texts(20_000)),
    "OneHotEncoder of texts": (
        model([node("OneHotEncoder", "x", "y", domain="ai.onnx.ml",
                    cats_strings=[str(i) for i in range(12_000)])], [value("x", [12_000], TEXT)],
              opset_imports=LEARNING), {"x": _texts(12_000)}),
}  # fmt: skip
# Where takes the condition first.
_proto, _feeds = LARGE["Where of texts"]
_proto.graph.node[0].input[:] = ["condition", "x0", "x1"]


@pytest.fixture
def gigabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tallow.formats.onnx.values.host_memory", "tallow.compile.limits.host_memory"):
        monkeypatch.setattr(name, lambda: 1 << 30)


@pytest.mark.usefixtures("gigabyte")
@pytest.mark.parametrize("kind", LARGE)
def test_what_does_not_fit_is_refused_before_it_is_made(kind: str) -> None:
    proto, feeds = LARGE[kind]
    loaded = tl.onnx.load(proto.SerializeToString())
    tracemalloc.start()
    try:
        with pytest.raises(tl.DeviceMemoryError, match="bytes") as caught:
            loaded.session("numpy").run(feeds)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 64 << 20
    assert "\n" not in str(caught.value) and "Unable to allocate" not in str(caught.value)


@pytest.mark.parametrize("delimiter", [None, ",", ", "])
@pytest.mark.parametrize("most", [-1, 0, 1, 2])
@pytest.mark.parametrize("text", ["", "a", "a,b", ",", ", a, b c ,,", "  a b  c ", "   "])
def test_parts_of_a_text_are_counted(text: str, delimiter: str | None, most: int) -> None:
    assert _parts(text, delimiter, most) == len(text.split(delimiter, most))


# ---- axes --------------------------------------------------------------------------------------

ONE, ONES = np.zeros(1, np.float32), np.ones(65, np.int64)
AXES: dict[str, Any] = {
    "Reshape": _one("Reshape", ONE, weights={"s": ONES}),
    "Reshape, when it is run": _one("Reshape", ONE, ONES),
    "Unsqueeze": _one("Unsqueeze", ONE, weights={"axes": np.arange(65)}),
    "Expand": _one("Expand", ONE, weights={"s": ONES}),
    "ConstantOfShape": _one("ConstantOfShape", weights={"s": ONES}),
    "RandomNormal": _one("RandomNormal", shape=[1] * 65),
    "Gather": _one("Gather", np.zeros([1] * 33, np.float32), np.zeros([1] * 33, np.int64)),
    "Unsqueeze of texts": _one("Unsqueeze", _texts(1), weights={"axes": np.arange(65)}),
    "an input": (model([node("Relu", "x", "y")], [value("x", [1] * 65)]), {}),
}


@pytest.mark.parametrize("device", ["numpy", "webgpu"])
@pytest.mark.parametrize("kind", AXES)
def test_more_axes_than_an_array_has(
    kind: str, device: str, request: pytest.FixtureRequest
) -> None:
    if device == "webgpu":
        request.getfixturevalue("native")
    proto, feeds = AXES[kind]
    with pytest.raises(tl.OnnxError, match=r"6[56]") as caught:
        tl.onnx.load(proto.SerializeToString()).session(device).run(feeds)
    assert "64" in str(caught.value) and "\n" not in str(caught.value)


def test_an_initializer_of_too_many_axes() -> None:
    tensor = helper.make_tensor("w", TensorProto.FLOAT, [1] * 65, [1.0])
    proto = model([node("Relu", "w", "y")], weights=[tensor])
    with pytest.raises(tl.OnnxError, match="65 axes; at most 64"):
        tl.onnx.load(proto.SerializeToString())


def test_tensors_of_too_many_axes() -> None:
    x = tl.zeros([1] * 64)
    for make in (
        lambda: tl.reshape(x, [1] * 65),
        lambda: tl.expand_dims(x, 0),
        lambda: tl.zeros([1] * 65),
        lambda: tl.broadcast_to(x, [1] * 65),
        lambda: tl.asarray(eval("[" * 65 + "1" + "]" * 65)),
    ):
        with pytest.raises(tl.ShapeError, match="65 axes; 64 at most"):
            make()
