"""Operators over spatial axes, beyond their cases: on the host, exact integers, errors."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

import tallow as tl
from tallow.errors import OnnxError, OnnxFormatError, OnnxUnsupportedError

from ..case import Case, Known, expected, floats, integers, known, model_of
from ..graphs import model, node, value, weight


def fed(case: Case, opset: int) -> np.ndarray:
    """The case's outputs if all its values are inputs, and none is known in advance."""
    values = [x.value if isinstance(x, Known) else x for x in case.inputs]
    case = replace(case, inputs=values)
    with tl.onnx.load(model_of(case, opset).SerializeToString()).session("numpy") as session:
        (got,) = session.run(case.feeds).values()
    return got


IMAGE = floats(1, 2, 5, 6)
REGIONS = np.array([[0, 0, 4, 3], [1.3, 0.7, 5.2, 4.4]], np.float32)
NONE = Known(np.zeros(0, np.float32))
LATE = [
    Case("Resize", [IMAGE, NONE, known(1, 1, 2, 0.5, dtype=np.float32)], {"mode": "linear"}),
    Case("Resize", [IMAGE, NONE, NONE, known(1, 2, 7, 4)]),
    Case("CenterCropPad", [IMAGE, known(1, 2, 3, 9)]),
    Case("AffineGrid", [floats(2, 2, 3), known(2, 3, 4, 5)]),
    Case("Col2Im", [floats(1, 8, 12), known(4, 5), known(2, 2)], oracle="reference"),
    Case("RoiAlign", [IMAGE, Known(REGIONS), known(0, 0)], {"output_height": 2}),
    Case("MaxUnpool", [floats(1, 1, 2, 2), Known(np.array([[[[5, 7], [13, 15]]]]))],
         {"kernel_shape": [2, 2], "strides": [2, 2]}),
]  # fmt: skip


@pytest.mark.parametrize("case", LATE, ids=lambda case: case.id)
def test_inputs_that_are_known_at_run_time_only(case: Case) -> None:
    opset = case.versions[-1] if case.op != "Resize" else 19
    (wanted,) = expected(case, model_of(case, opset))
    got = fed(case, opset)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, 1e-4, 1e-5)


def test_regions_that_are_nowhere() -> None:
    """Samples at NaN or infinity are 0, and read no element."""
    far = [[np.nan, 0, 3, 3], [0, np.nan, 3, 3], [0, 0, np.inf, 3], [1e10, 0, 2e10, 3]]
    regions = np.array(far, np.float32)
    for mode in ("avg", "max"):
        attributes = {"sampling_ratio": 2, "mode": mode}
        case = Case("RoiAlign", [IMAGE, regions, np.zeros(4, np.int64)], attributes)
        np.testing.assert_array_equal(fed(case, 16), np.zeros((4, 2, 1, 1), np.float32))


def test_what_depends_on_a_fed_size_says_so() -> None:
    fed = [value("x", [1, 2, 5, 6]), value("s", [4], TensorProto.INT64)]
    proto = model([node("Resize", "x _ _ s", "y")], fed, opset=19)
    with pytest.raises(OnnxUnsupportedError, match="sizes must be known when the model is loaded"):
        tl.onnx.load(proto.SerializeToString()).graph()


def test_regions_of_any_number_are_known_at_run_time() -> None:
    """More numbers than are computed while a model is loaded."""
    rois = np.tile(REGIONS, (700, 1))
    got = fed(Case("RoiAlign", [IMAGE, rois, np.zeros(1400, np.int64)]), 22)
    few = fed(Case("RoiAlign", [IMAGE, REGIONS, np.zeros(2, np.int64)]), 22)
    np.testing.assert_array_equal(got, np.tile(few, (700, 1, 1, 1)))


def test_unpooling_of_many_elements_is_left_to_the_host() -> None:
    x = np.ones((1, 1, 64, 64), np.float32)
    indices = np.arange(64 * 64).reshape(x.shape) * 4
    inputs = [value("x", x.shape), value("i", x.shape, TensorProto.INT64)]
    proto = model([node("MaxUnpool", "x i", "y", kernel_shape=[2, 2], strides=[2, 2])], inputs)
    with pytest.raises(OnnxUnsupportedError, match="4,096 elements to 16,384"):
        tl.onnx.load(proto.SerializeToString()).graph()
    with tl.onnx.load(proto.SerializeToString()).session("numpy") as session:
        (got,) = session.run({"x": x, "i": indices}).values()
        assert len(session.report().host) == 1
    wanted = np.zeros(128 * 128, np.float32)
    wanted[indices.reshape(-1)] = 1
    np.testing.assert_array_equal(np.asarray(got).reshape(-1), wanted)


def _png(pixels: np.ndarray) -> np.ndarray:
    from PIL import Image

    packed = io.BytesIO()
    Image.fromarray(pixels).save(packed, "PNG")
    return np.frombuffer(packed.getvalue(), np.uint8)


@pytest.mark.parametrize("pixel_format", ["RGB", "BGR", "Grayscale"])
def test_pictures_are_decoded(pixel_format: str) -> None:
    pixels = integers(4, 5, 3, low=0, high=256, dtype=np.uint8)
    case = Case("ImageDecoder", [], {"pixel_format": pixel_format})
    got = fed(replace(case, inputs=[_png(pixels)]), 20)
    if pixel_format == "Grayscale":
        assert got.shape == (4, 5, 1)
        luma = pixels @ np.array([0.299, 0.587, 0.114])
        np.testing.assert_allclose(got[:, :, 0], luma, atol=1)
    else:
        np.testing.assert_array_equal(got, pixels if pixel_format == "RGB" else pixels[:, :, ::-1])


def test_pictures_that_cannot_be_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("ImageDecoder", [np.zeros(3, np.uint8)])
    with pytest.raises(OnnxFormatError, match="3 bytes are not a picture"):
        fed(case, 20)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(OnnxUnsupportedError, match="Pillow, which is not installed"):
        fed(case, 20)


def test_long_sums_of_integers_are_exact() -> None:
    """A single float32 sum would lose the last bits."""
    x = integers(1, 500, 6, 6, low=0, high=256, dtype=np.uint8)
    w = integers(3, 500, 3, 3, low=-128, high=128, dtype=np.int8)
    weights = [weight("w", w), weight("z", np.array(7, np.uint8))]
    fed = [value("x", x.shape, TensorProto.UINT8)]
    proto = model([node("ConvInteger", "x w z", "y")], fed, weights=weights)
    loaded = tl.onnx.load(proto.SerializeToString())
    (got,) = loaded.session("numpy").run({"x": x}).values()
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int64) - 7, (3, 3), (2, 3))
    wanted = np.einsum("ncijkl,ockl->noij", windows, w.astype(np.int64))
    np.testing.assert_array_equal(got, wanted)


def test_float16_is_summed_in_float32() -> None:
    """Sums in float16 would overflow here, or stop growing."""
    x = np.full((1, 2, 64, 64), 30, np.float16)
    w = np.full((1, 2, 64, 64), 0.25, np.float16)
    nodes = [
        node("GlobalAveragePool", "x", "mean"),
        node("AveragePool", "x", "pooled", kernel_shape=[64, 64]),
        node("Conv", "x w", "sum"),
    ]
    fed = [value("x", x.shape, TensorProto.FLOAT16)]
    proto = model(nodes, fed, "mean pooled sum", weights=[weight("w", w)], opset=22)
    with tl.onnx.load(proto.SerializeToString()).session("numpy") as session:
        got = session.run({"x": x})
    np.testing.assert_array_equal(got["mean"], np.full((1, 2, 1, 1), 30, np.float16))
    np.testing.assert_array_equal(got["pooled"], np.full((1, 2, 1, 1), 30, np.float16))
    np.testing.assert_array_equal(got["sum"], np.full((1, 1, 1, 1), 61440, np.float16))


BAD: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("Conv", [(1, 4), (2, 4)], {}, "no spatial axes"),
    ("Conv", [(1, 4, 5), (2, 4, 9)], {}, "does not fit"),
    ("Conv", [(1, 4, 5, 5, 5), (2, 3, 1, 1, 1)], {}, "in 1 groups"),
    ("Conv", [(1, 1, 2048, 1, 1), (1, 1, 2000, 1, 1)], {}, r"a kernel of \(2000, 1, 1\)"),
    ("ConvTranspose", [(1, 4, 5), (3, 4, 2)], {}, "in 1 groups"),
    ("ConvTranspose", [(1, 4, 5), (4, 4, 2)], {"strides": [10**6]}, "strides of"),
    ("ConvTranspose", [(1, 4, 5), (4, 4, 2)], {"pads": [9, 9]}, "an output of"),
    ("ConvTranspose", [(1, 4, 5), (4, 4, 2)], {"output_shape": [2**40]}, "an output of"),
    ("MaxPool", [(1, 4, 5)], {"kernel_shape": [2], "pads": [2, 0]}, "as wide as the window"),
    ("MaxPool", [(1, 4, 5, 5, 5)], {"kernel_shape": [2, 9, 2]}, "does not fit"),
    ("LpPool", [(1, 4, 5)], {"kernel_shape": [2], "p": 0}, "p must be positive, not 0"),
    ("GlobalLpPool", [(1, 4)], {}, "no spatial axes"),
    ("GridSample", [(1, 2, 5, 5), (1, 3, 3, 3)], {}, "the grid"),
    ("RoiAlign", [(1, 2, 5, 5), (3, 5), (3,)], {"sampling_ratio": 1}, "regions"),
    ("RoiAlign", [(1, 2, 5, 5), (3, 4), (3,)], {"sampling_ratio": 10**6}, "sampling_ratio"),
    ("DeformConv", [(1, 2, 5, 5), (2, 2, 3, 3), (1, 4, 3, 3)], {}, "the offset"),
    ("ReverseSequence", [(3, 4), (3,)], {}, "lengths"),
]


@pytest.mark.parametrize(("op", "shapes", "attributes", "words"), BAD)
def test_what_contradicts_itself_is_said_in_a_line(
    op: str, shapes: list[Any], attributes: dict[str, Any], words: str
) -> None:
    kinds = [TensorProto.FLOAT] * len(shapes)
    if op in ("RoiAlign", "ReverseSequence"):
        kinds[-1] = TensorProto.INT64
    names = [f"x{i}" for i in range(len(shapes))]
    values = [value(n, s, k) for n, s, k in zip(names, shapes, kinds, strict=True)]
    proto = model([node(op, " ".join(names), "y", **attributes)], values, opset=22)
    with pytest.raises(OnnxError, match=words) as caught:
        tl.onnx.load(proto.SerializeToString()).graph()
    assert len(str(caught.value).splitlines()) <= 2


SIZES = [
    ([1.0, 1.0, 1e30, 1.0], "resized by"),
    ([1.0, 1.0, -1.0, 1.0], "resized by"),
    ([1.0, 1.0, float("nan"), 1.0], "scales"),
    ([1.0, 1.0, 2e6, 1.0], "resized by"),
    ([1.0, 1.0, 2e5, 1.0], "resized to"),
    ([1.0, 1.0], "for 4 axes"),
]


@pytest.mark.parametrize(("scales", "words"), SIZES)
def test_absurd_sizes_are_refused_before_tables_are_made(scales: list[float], words: str) -> None:
    weights = [weight("s", np.array(scales, np.float32))]
    nodes = [node("Resize", "x _ s", "y", mode="linear")]
    proto = model(nodes, [value("x", [1, 2, 5, 6])], weights=weights, opset=19)
    with pytest.raises(OnnxError, match=words):
        tl.onnx.load(proto.SerializeToString()).graph()
