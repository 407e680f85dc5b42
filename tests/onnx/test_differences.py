"""docs/differences.md: each example gives the documented result, in Tallow and the others."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.reference import ReferenceEvaluator

import tallow as tl
from tallow_build.paths import ROOT

from .graphs import model, node, value, weight

PAGE = (ROOT / "docs" / "differences.md").read_text("utf-8")

# The documented results of an example: lists, or an error.
ROW = re.compile(r"^\| (Tallow|onnx\.reference|onnxruntime) \| (.*) \|$", re.MULTILINE)
SECTION = re.compile(r"^### ([^\n]*)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)

NAN = float("nan")
REGION = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
DILATED = {"kernel_shape": [3], "dilations": [2], "auto_pad": "SAME_UPPER"}


def floats(*values: float, shape: tuple[int, ...] = (-1,)) -> np.ndarray:
    """The values as float32, in this shape."""
    return np.array(values, np.float32).reshape(shape)


def whole(*values: int) -> np.ndarray:
    """The values as int64."""
    return np.array(values, np.int64)


ROI = floats(0, 0, 0, 0, 1, 1, 1, 0.5)
ROWED = floats(0, 1, 2, shape=(1, 1, 1, 3))
PIXELS = floats(*range(1, 7), shape=(1, 1, 6))
ONE = floats(1, shape=(1, 1, 1))
MIXED = floats(1, NAN, 3, 2, NAN)

# By heading: the inputs (None: absent; all but the first are constants), and the attributes.
EXAMPLES: dict[str, tuple[list[np.ndarray | None], dict[str, Any]]] = {
    "Resize-13: the size of a region": ([ROWED, ROI, floats(1, 1, 1, 2)], REGION),
    "Resize-13: a region of a size that stays": ([ROWED, ROI, None, whole(1, 1, 1, 3)], REGION),
    "Pad-19: negative pads in the mode wrap": (
        [floats(1, 2, 3, 4, 5), whole(-1, 2)],
        {"mode": "wrap"},
    ),
    "MaxPool-12: SAME with dilations": ([PIXELS], DILATED),
    "AveragePool-19: SAME with dilations": ([PIXELS], DILATED),
    "Slice-13: backward to INT_MAX": (
        [floats(*range(5)), whole(-1), whole(2**31 - 1), whole(0), whole(-1)],
        {},
    ),
    "ReduceLogSumExp-18 of integers": ([np.array([2, 3, 1, 2, 1, 2, 2, 3, 1], np.int32)], {}),
    "RNN-14: ScaledTanh without alpha and beta": (
        [1.5 * ONE, ONE, 0 * ONE],
        {"hidden_size": 1, "activations": ["ScaledTanh"]},
    ),
    "Max-13 of NaN": ([floats(1, NAN, 3, NAN), floats(NAN, 2, 1, NAN)], {}),
    "ReduceMax-18 of NaN": ([floats(2, NAN, 1), whole(0)], {}),
    "MaxPool-12 of NaN": ([floats(2, NAN, 1, 3, shape=(1, 1, 4))], {"kernel_shape": [2]}),
    "TopK-11 of NaN, the smallest": ([MIXED, whole(3)], {"largest": 0}),
    "TopK-11 of NaN, the largest": ([MIXED, whole(3)], {"largest": 1}),
    "Unique-11 of NaN": ([floats(2, NAN, 1, NAN, 2)], {"sorted": 1}),
}

INTEGERS = {"TopK": {1}, "Unique": {1, 2, 3}}


def made(heading: str) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """The model of an example, and its inputs."""
    inputs, attributes = EXAMPLES[heading]
    op, opset = re.findall(r"^(\w+)-(\d+)", heading)[0]
    names = ["_" if each is None else f"x{i}" for i, each in enumerate(inputs)]
    weights = [
        weight(name, each)
        for name, each in zip(names[1:], inputs[1:], strict=True)
        if each is not None
    ]
    first = inputs[0]
    assert first is not None
    integers = INTEGERS.get(op, set())
    outputs = [f"y{i}" for i in range(max(integers, default=0) + 1)]
    kind = onnx.helper.np_dtype_to_tensor_dtype(first.dtype)
    infos = [
        value(name, None, onnx.TensorProto.INT64 if i in integers else kind)
        for i, name in enumerate(outputs)
    ]
    nodes = [node(op, " ".join(names), " ".join(outputs), **attributes)]
    proto = model(nodes, [value("x0", first.shape, kind)], infos, weights, opset=int(opset))
    return proto, {"x0": first}


def run(who: str, proto: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs of one of the three."""
    content = proto.SerializeToString()
    if who == "Tallow":
        return list(tl.onnx.load(content).session("numpy").run(feeds).values())
    if who == "onnx.reference":
        return list(ReferenceEvaluator(proto).run(None, feeds))
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def test_the_page_has_these_examples() -> None:
    assert [heading for heading, _ in SECTION.findall(PAGE)] == list(EXAMPLES)
    assert f"onnxruntime {onnxruntime.__version__} (CPU), onnx {onnx.__version__} and" in PAGE


@pytest.mark.parametrize("heading", EXAMPLES)
def test_each_gives_what_the_page_says(heading: str) -> None:
    (section,) = [text for each, text in SECTION.findall(PAGE) if each == heading]
    rows = dict(ROW.findall(section))
    assert list(rows) == ["Tallow", "onnx.reference", "onnxruntime"]
    proto, feeds = made(heading)
    for who, told in rows.items():
        if told == "refused":
            with pytest.raises((ValueError, RuntimeError, TypeError)):
                run(who, proto, feeds)
            continue
        expected = [json.loads(each) for each in re.findall(r"`(.*?)`", told)]
        got = run(who, proto, feeds)
        assert len(got) == len(expected), who
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one.reshape(-1), other, rtol=1e-6, err_msg=who)
