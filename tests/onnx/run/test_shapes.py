"""Symbolic dimensions, and shapes that a model computes from other shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto

import tallow as tl

from ..graphs import Shape, model, node, value, weight


def two_inputs(a: Shape | None, b: Shape | None) -> tl.onnx.Model:
    """a and b joined along their last axis."""
    proto = model([node("Concat", "a b", "y", axis=-1)], [value("a", a), value("b", b)])
    return tl.onnx.load(proto.SerializeToString())


@pytest.mark.parametrize(
    ("a", "b", "shapes", "result"),
    [
        (["N", 3], ["N", 2], None, (1, 5)),
        (["N", 3], ["N", 2], {"N": 4}, (4, 5)),
        (["N", 3], ["N", 2], {"a": (4, 3)}, (4, 5)),
        (["N", "T"], ["N", 2], {"T": 6}, (1, 8)),
        (["N", "T"], ["N", "T"], {"a": (2, 6)}, (2, 12)),
        (["N", "T"], ["N", "T"], {"N": 2, "b": [2, 6]}, (2, 12)),
        ([None, 3], [None, 2], None, (1, 5)),
        ([None, 3], [None, 2], {"a_0": 2, "b_0": 2}, (2, 5)),
        ([-1, 3], [-1, 2], {"a": (2, 3), "b": (2, 2)}, (2, 5)),
        (None, ["N", 2], {"a": (1, 3)}, (1, 5)),
        ([2, 3], [2, 2], {}, (2, 5)),
        (["N", 0], ["N", 2], {"N": 0}, (0, 2)),
    ],
)
def test_symbolic_dimensions(
    a: Shape | None, b: Shape | None, shapes: dict[str, Any] | None, result: tuple[int, ...]
) -> None:
    assert two_inputs(a, b).graph(shapes).outputs["y"].shape == result


@pytest.mark.parametrize(
    ("a", "b", "shapes", "message"),
    [
        (
            ["N", "T"],
            [1, 2],
            None,
            r"input a: float32 \(N, T\) has the dimension 'T', which is not",
        ),
        ([1, None], [1, 2], None, r"pass its length, as in shapes=\{'a_1': 128\}, or the whole"),
        (None, [1, 2], None, r"does not give the shape of the input 'a': pass it"),
        (None, [1, 2], {"a": 3}, r"no dimension of that name; every dimension is fixed"),
        (["N", 3], ["N", 2], {"M": 3}, r"shapes\['M'\]: .* the symbolic ones are 'N'"),
        (["N", 3], ["N", 2], {"c": (1, 3)}, r"no input of that name; the inputs are 'a', 'b'"),
        (["N", 3], ["N", 2], {"a": (1, 4)}, r"is \(1, 4\), but the model has a: float32 \(N, 3\)"),
        (["N", 3], ["N", 2], {"a": (1, 3, 1)}, r"is \(1, 3, 1\), but the model has a"),
        (["N", 3], ["N", 2], {"a": (1, 3), "b": (2, 2)}, r"'N' cannot be both 1 and 2"),
        (["N", 3], ["N", 2], {"N": -1}, r"non-negative integers"),
        (["N", 3], ["N", 2], {"a": (1.5, 3)}, r"non-negative integers"),
        (["N", 3], ["M", 2], {"N": 2}, r"node 'y': Concat \(ai\.onnx, opset 17\): .*differ"),
    ],
)
def test_shapes_that_do_not_fit(
    a: Shape | None, b: Shape | None, shapes: dict[str, Any] | None, message: str
) -> None:
    with pytest.raises(tl.ShapeError, match=message):
        two_inputs(a, b).graph(shapes)


def both(proto: onnx.ModelProto, feeds: dict[str, np.ndarray], shapes: Any = None) -> None:
    """Asserts that Tallow and onnxruntime agree."""
    data = proto.SerializeToString()
    wanted = onnxruntime.InferenceSession(data).run(None, feeds)
    got = tl.onnx.load(data).session("numpy", shapes).run(feeds)
    for mine, other in zip(got.values(), wanted, strict=True):
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, rtol=1e-5)


X = np.random.default_rng(3).standard_normal((2, 3, 4, 5), dtype=np.float32)
INT = TensorProto.INT64


def test_shape_gather_concat_reshape() -> None:
    """How PyTorch's exporter writes x.view(x.size(0), -1)."""
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "n", axis=0),
        node("Unsqueeze", "n zero1", "n1"),
        node("Concat", "n1 rest", "wanted", axis=0),
        node("Reshape", "x wanted", "y"),
    ]
    weights = [weight("zero", np.int64(0)), weight("zero1", np.int64([0])),
               weight("rest", np.int64([-1]))]  # fmt: skip
    proto = model(nodes, [value("x", ["N", 3, 4, 5])], [value("y", ["N", 60])], weights)
    both(proto, {"x": X}, {"N": 2})


def test_shape_arithmetic() -> None:
    """Sums, products, quotients, remainders and casts of dimensions, as in attention heads."""
    nodes = [
        node("Shape", "x", "s"),
        node("Slice", "s two four", "hw"),
        node("ReduceProd", "hw", "area", keepdims=1),
        node("Div", "area half", "rows"),
        node("Cast", "half", "f", to=TensorProto.FLOAT),
        node("Mul", "f f", "f2"),
        node("Cast", "f2", "four_back", to=INT),
        node("Mod", "rows four_back", "rest"),
        node("Sub", "rows rest", "even"),
        node("Add", "even rest", "back"),
        node("Neg", "one", "minus"),
        node("Concat", "minus back", "wanted", axis=0),
        node("Reshape", "x wanted", "r"),
        node("Shape", "r", "rs"),
        node("ConstantOfShape", "rs", "zeros"),
        node("Add", "r zeros", "sum"),
        node("Identity", "sum", "y"),
    ]
    weights = [weight("two", np.int64([2])), weight("four", np.int64([4])),
               weight("half", np.int64([2])), weight("one", np.int64([1]))]  # fmt: skip
    proto = model(nodes, [value("x", [2, 3, 4, 5])], [value("y", [None, None])], weights)
    both(proto, {"x": X})


def test_expand_as_pytorch_writes_it() -> None:
    """Where(Equal(shape, -1), ones, shape) into Expand."""
    nodes = [
        node("ConstantOfShape", "rank", "ones", value=weight("", np.int64([1]))),
        node("Mul", "ones minus", "negative"),
        node("Equal", "target negative", "keep"),
        node("Where", "keep ones target", "shape"),
        node("Expand", "x shape", "y"),
    ]
    weights = [weight("rank", np.int64([4])), weight("minus", np.int64(-1)),
               weight("target", np.int64([-1, 6, -1, -1]))]  # fmt: skip
    proto = model(nodes, [value("x", [2, 1, 4, 5])], [value("y", [2, 6, 4, 5])], weights)
    both(proto, {"x": X[:, :1]})


def test_range_of_a_dimension() -> None:
    nodes = [
        node("Shape", "x", "s", start=3),
        node("Squeeze", "s", "n"),
        node("Range", "zero n one", "r"),
        node("Cast", "r", "f", to=TensorProto.FLOAT),
        node("Mul", "x f", "y"),
    ]
    weights = [weight("zero", np.int64(0)), weight("one", np.int64(1))]
    both(model(nodes, [value("x", [2, 3, 4, 5])], [value("y", [2, 3, 4, 5])], weights), {"x": X})


def test_pads_computed_from_a_shape() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Sub", "size s", "pads_after"),
        node("Concat", "none pads_after", "pads", axis=0),
        node("Pad", "x pads", "y"),
    ]
    weights = [weight("size", np.int64([2, 4, 5, 6])), weight("none", np.int64([0, 0, 0, 0]))]
    both(model(nodes, [value("x", [2, 3, 4, 5])], [value("y", [2, 4, 5, 6])], weights), {"x": X})


def test_a_shape_that_is_fed_is_refused() -> None:
    proto = model([node("Reshape", "x s", "y")], [value("x", [4]), value("s", [2], INT)])
    message = (
        r"node 'y': Reshape \(ai\.onnx, opset 17\): shape must be known when the model is loaded, "
        "but it is computed from its inputs"
    )
    with pytest.raises(tl.OnnxUnsupportedError, match=message):
        tl.onnx.load(proto.SerializeToString()).graph()


def test_an_open_batch_is_compiled_once_for_the_length_that_is_fed() -> None:
    opened = two_inputs(["N", 3], ["N", 2])

    def shapes(session: tl.onnx.ModelSession) -> list[tuple[int, ...]]:
        return [plan.inputs[0].shape for plan in session.plans]

    with opened.session("numpy") as session:
        assert shapes(session) == []
        session.run({"a": np.ones((3, 3), np.float32), "b": np.ones((3, 2), np.float32)})
        assert shapes(session) == [(3, 3)]
    with opened.session("numpy") as session:
        assert session.plan.inputs[0].shape == (1, 3)  # asked for before a run
    with opened.session("numpy", {"N": 2}) as session:
        assert shapes(session) == [(2, 3)]
