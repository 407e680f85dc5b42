"""Whole models, saved and loaded again: networks, folded, with smaller weights, in two files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import tallow as tl
from tallow.errors import OnnxFormatError
from tallow.formats.onnx.write import writer as writing
from tallow_build.content import models

from ..graphs import model, node, value, weight
from .saving import answers, numbers, operators_of, saved

EXPECTED = {
    "mnist": {"Conv": 5, "Relu": 5, "MaxPool": 2, "Reshape": 1, "Gemm": 1},
    "squeezenet1_1": {
        "Cast": 26, "Conv": 26, "Relu": 26, "MaxPool": 3, "Concat": 8, "GlobalAveragePool": 1,
        "Reshape": 1,
    },
    "efficientnet_lite0": {
        "Cast": 50, "Conv": 49, "Clip": 33, "Add": 9, "GlobalAveragePool": 1, "Reshape": 1,
        "Gemm": 1,
    },
}  # fmt: skip
"""No Transpose remains, and the weights are unchanged."""


@pytest.mark.parametrize("name", EXPECTED)
def test_shipped_model_comes_back(name: str, dist: Path, tmp_path: Path) -> None:
    source, target = models.in_dist(name), tmp_path / "again.onnx"
    loaded = tl.onnx.load(source)
    proto = saved(target, loaded)
    assert operators_of(proto) == EXPECTED[name]
    assert proto.producer_name == "tallow"
    assert abs(target.stat().st_size / source.stat().st_size - 1) < 0.02
    (info,) = loaded.inputs
    assert info.shape is not None
    again = tl.onnx.load(target)
    assert again.inputs == loaded.inputs
    assert again.outputs == loaded.outputs
    for free in (1, 3):
        feeds = {info.name: numbers(*(d if isinstance(d, int) else free for d in info.shape))}
        (wanted,) = onnxruntime.InferenceSession(str(source)).run(None, feeds)
        (other,) = answers(target, feeds).values()
        close = 1e-5 * float(np.abs(wanted).max())
        np.testing.assert_allclose(other, wanted, rtol=0, atol=close)
        with again.session("numpy") as session:
            (mine,) = session.run(feeds).values()
        np.testing.assert_allclose(mine, wanted, rtol=0, atol=close)


def with_batch_norm() -> onnx.ModelProto:
    """Conv, BatchNormalization, Relu, a depthwise Conv and another."""
    norm = [numbers(8), numbers(8), numbers(8), np.abs(numbers(8)) + 0.5]
    names = ["scale", "bias", "mean", "var"]
    weights = [weight("w", numbers(8, 16, 3, 3)), weight("d", numbers(8, 1, 3, 3))]
    weights += [weight(n, a) for n, a in zip(names, norm, strict=True)]
    return model(
        [
            node("Conv", "x w", "a", pads=[1, 1, 1, 1]),
            node("BatchNormalization", "a scale bias mean var", "b"),
            node("Relu", "b", "c"),
            node("Conv", "c d", "e", group=8),
            node("BatchNormalization", "e scale bias mean var", "y"),
        ],
        [value("x", ["N", 16, 9, 9])],
        [value("y", ["N", 8, 7, 7])],
        weights,
    )


def test_batch_norm_is_folded(tmp_path: Path) -> None:
    proto = with_batch_norm()
    loaded = tl.onnx.load(proto.SerializeToString())
    path = tmp_path / "folded.onnx"
    folded = saved(path, loaded, fold=True, shapes={"N": 2})
    assert operators_of(folded) == {"Conv": 2, "Relu": 1}
    x = numbers(2, 16, 9, 9)
    (wanted,) = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    np.testing.assert_allclose(answers(path, {"x": x})["y"], wanted, rtol=1e-4, atol=1e-4)
    kept = saved(path, loaded, shapes={"N": 2})
    assert operators_of(kept)["Conv"] == 2
    assert operators_of(kept)["Transpose"] == 0
    np.testing.assert_allclose(answers(path, {"x": x})["y"], wanted, rtol=1e-4, atol=1e-4)


def test_smaller_weights(tmp_path: Path) -> None:
    proto = with_batch_norm()
    loaded = tl.onnx.load(proto.SerializeToString())
    x = numbers(1, 16, 9, 9)
    (wanted,) = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    sizes = {}
    for weights, close in ((None, 1e-5), ("float16", 2e-3), ("int8", 2e-2)):
        path = tmp_path / f"{weights}.onnx"
        made = saved(path, loaded, weights=weights, fold=True)
        sizes[weights] = path.stat().st_size
        got = answers(path, {"x": x})["y"]
        assert np.abs(got - wanted).max() < close * np.abs(wanted).max(), weights
    assert sizes["int8"] < 0.7 * sizes["float16"] < 0.7 * 0.8 * sizes[None]
    (dequantise,) = (n for n in made.graph.node if n.op_type == "DequantizeLinear")
    tensors = {t.name: t for t in made.graph.initializer}
    whole, scale = (tensors[name] for name in dequantise.input)
    assert whole.data_type == onnx.TensorProto.INT8
    assert list(scale.dims) == [8]


def test_weights_beyond_float16_stay_as_they_are(tmp_path: Path) -> None:
    large = tl.asarray(np.full((64, 64), 1e6, np.float32))
    proto = saved(tmp_path / "m.onnx", lambda x: x @ large, inputs=[numbers(2, 64)],
                  weights="float16")  # fmt: skip
    assert operators_of(proto) == {"MatMul": 1}


def test_weights_in_a_file_beside(tmp_path: Path) -> None:
    matrix, other = numbers(64, 64), numbers(64, 70)

    def network(x: tl.Tensor) -> tl.Tensor:
        return x @ tl.asarray(matrix) @ tl.asarray(other) + 1.0

    x = numbers(3, 64)
    path = tmp_path / "large.onnx"
    saved(path, network, inputs=[x], external=True)
    assert path.stat().st_size < 2000
    assert (tmp_path / "large.onnx.data").stat().st_size == matrix.nbytes + other.nbytes
    (got,) = answers(path, {"x": x}).values()
    np.testing.assert_allclose(got, x @ matrix @ other + 1, rtol=1e-3, atol=1e-3)
    with tl.onnx.load(path).session("numpy") as session:
        np.testing.assert_allclose(session.run({"x": x})["output"], got, rtol=1e-3, atol=1e-3)


def test_weights_that_no_file_holds_go_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "MAX_BYTES", 10_000)
    matrix = tl.asarray(numbers(64, 64))
    path = tmp_path / "m.onnx"
    saved(path, lambda x: x @ matrix, inputs=[numbers(1, 64)])
    assert (tmp_path / "m.onnx.data").exists()
    with pytest.raises(OnnxFormatError, match="16,384 bytes of weights do not fit"):
        tl.onnx.save(lambda x: x @ matrix, path, inputs=[numbers(1, 64)], external=False)
