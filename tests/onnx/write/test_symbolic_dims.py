"""Dimensions that stay symbolic in a saved file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import tallow as tl
from tallow.errors import OnnxUnsupportedError, ShapeError

from ..graphs import model, node, value, weight

RANDOM = np.random.default_rng(3)


def loaded(proto: onnx.ModelProto) -> tl.onnx.Model:
    return tl.onnx.load(proto.SerializeToString())


def attention() -> onnx.ModelProto:
    """softmax(x w x^T) x: batch and length are symbolic, and a reshape uses one of them."""
    nodes = [
        node("MatMul", "x w", "q"),
        node("Transpose", "x", "t", perm=[0, 2, 1]),
        node("MatMul", "q t", "s"),
        node("Softmax", "s", "p", axis=-1),
        node("MatMul", "p x", "y"),
        node("GlobalAveragePool", "t", "g"),
        node("Flatten", "g", "z"),
    ]
    matrix = weight("w", RANDOM.standard_normal((4, 4), dtype=np.float32))
    return model(nodes, [value("x", ["B", "T", 4])],
                 [value("y", ["B", "T", 4]), value("z", ["B", 4])], [matrix])  # fmt: skip


@pytest.mark.parametrize("kept", [("B",), ("B", "T")])
def test_free_dimensions_stay_free(kept: tuple[str, ...], tmp_path: Path) -> None:
    proto, path = attention(), tmp_path / "m.onnx"
    shapes = {name: 5 for name in ("B", "T") if name not in kept}
    tl.onnx.save(loaded(proto), path, shapes=shapes or None)
    onnx.checker.check_model(str(path), full_check=True)
    operators = Counter(n.op_type for n in onnx.load(path).graph.node)
    assert (operators["MatMul"], operators["Softmax"], operators["Expand"]) == (3, 1, 0)
    batch = tl.onnx.load(path).inputs[0].shape
    assert batch == ("B", shapes.get("T", "T"), 4)
    reference = onnxruntime.InferenceSession(proto.SerializeToString())
    session = onnxruntime.InferenceSession(str(path))
    for size in (1, 2, 7):
        x = RANDOM.standard_normal((size, 5, 4), dtype=np.float32)
        for got, wanted in zip(
            session.run(None, {"x": x}), reference.run(None, {"x": x}), strict=True
        ):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_outputs_get_the_names_that_their_lengths_have(tmp_path: Path) -> None:
    proto = model(
        [node("Transpose", "x", "y", perm=[1, 0]), node("Concat", "x x", "z", axis=0)],
        [value("x", ["A", "B"])],
        [value("y", None), value("z", None)],
    )
    tl.onnx.save(loaded(proto), tmp_path / "m.onnx")
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)
    y, z = tl.onnx.load(tmp_path / "m.onnx").outputs
    assert y.shape == ("B", "A")
    assert z.shape == ("z_0", "B")


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([node("Shape", "x", "y")], "the output 'y' depends on the length of 'M'"),
        ([node("Shape", "x", "s"), node("Expand", "w s", "y")], "Expand depends on the length"),
        ([node("Shape", "x", "s"), node("Cast", "s", "f", to=1), node("Mul", "x f", "y")],
         "the length of 'M', which cannot stay symbolic: pass it, as in shapes={'M': 1}"),
    ],
)  # fmt: skip
def test_what_depends_on_a_length_is_refused(nodes: Any, words: str, tmp_path: Path) -> None:
    dtype = onnx.TensorProto.INT64 if len(nodes) == 1 else onnx.TensorProto.FLOAT
    proto = model(nodes, [value("x", ["M"])], [value("y", None, dtype)],
                  [weight("w", np.float32([2]))])  # fmt: skip
    with pytest.raises(OnnxUnsupportedError) as error:
        tl.onnx.save(loaded(proto), tmp_path / "m.onnx")
    assert words in str(error.value)
    tl.onnx.save(loaded(proto), tmp_path / "m.onnx", shapes={"M": 3})


def test_a_shape_that_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(ShapeError, match="no dimension of that name"):
        tl.onnx.save(loaded(attention()), tmp_path / "m.onnx", shapes={"Q": 3})


def test_a_function_with_names_in_its_shapes(tmp_path: Path) -> None:
    matrix = RANDOM.standard_normal((4, 5), dtype=np.float32)

    def network(x: tl.Tensor, bias: tl.Tensor) -> dict[str, tl.Tensor]:
        return {"y": tl.reshape(tl.tanh(x) @ tl.asarray(matrix) + bias, (x.shape[0], -1))}

    path = tmp_path / "m.onnx"
    tl.onnx.save(network, path, inputs={"x": (("N", 3, 4), "float32"), "bias": ((5,), "float32")})
    onnx.checker.check_model(str(path), full_check=True)
    loaded_again = tl.onnx.load(path)
    assert [each.shape for each in loaded_again.inputs] == [("N", 3, 4), (5,)]
    assert loaded_again.outputs[0].shape == ("N", 15)
    session = onnxruntime.InferenceSession(str(path))
    bias = RANDOM.standard_normal(5, dtype=np.float32)
    for size in (1, 2, 6):
        x = RANDOM.standard_normal((size, 3, 4), dtype=np.float32)
        (got,) = session.run(None, {"x": x, "bias": bias})
        wanted = (np.tanh(x) @ matrix + bias).reshape(size, 15)
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_a_module_with_names_in_its_shapes(tmp_path: Path) -> None:
    network = tl.nn.Sequential(
        tl.nn.Conv2d(1, 4, 3, bias=False), tl.nn.BatchNorm2d(4), tl.nn.Flatten()
    )
    network.eval()
    path = tmp_path / "m.onnx"
    tl.onnx.save(network, path, inputs=[(("N", 1, 6, 6), "float32")], fold=True)
    (only,) = tl.onnx.load(path).inputs
    assert (only.name, only.shape) == ("input", ("N", 1, 6, 6))
    assert [n.op_type for n in onnx.load(path).graph.node] == ["Conv", "Reshape"]
    x = RANDOM.standard_normal((3, 1, 6, 6), dtype=np.float32)
    (got,) = onnxruntime.InferenceSession(str(path)).run(None, {"input": x})
    np.testing.assert_allclose(got, network(tl.asarray(x)).numpy(), rtol=1e-4, atol=1e-5)


def test_a_function_that_depends_on_a_length(tmp_path: Path) -> None:
    with pytest.raises(OnnxUnsupportedError, match=r"'N', which cannot .* in `inputs`"):
        tl.onnx.save(lambda x: x * x.shape[0], tmp_path / "m.onnx", inputs=[(("N",), "float32")])
