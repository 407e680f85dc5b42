"""Types that the ONNX standard forbids are refused by name, for every operator that Tallow has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import tallow as tl
from tallow.errors import OnnxFormatError
from tallow.formats.onnx.type_check import check_types

from ..graphs import model, node, value, weight
from . import made_types

FLOATS, D, H, L, INTS, BOOLS, S = (
    TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT64,
    TensorProto.INT32, TensorProto.BOOL, TensorProto.STRING,
)  # fmt: skip
ML, TRAINING = "ai.onnx.ml", "ai.onnx.preview.training"


def test_the_table_is_the_standards() -> None:
    assert made_types.FILE.read_text("utf-8") == made_types.table()
    assert {domain for domain, _ in made_types.supported()} >= {"", ML, TRAINING}


# operator, types of the inputs, attributes, parts of the message
FORBIDDEN: list[tuple[str, list[int], dict[str, Any], tuple[str, ...]]] = [
    ("Add", [FLOATS, D], {}, ("inputs 1 ('x0') and 2 ('x1')", "one type", "float32 and float64")),
    ("Mul", [INTS, L], {}, ("int32 and int64",)),
    ("Concat", [FLOATS, FLOATS, L], {"axis": 0}, ("1 ('x0') and 3 ('x2')", "float32 and int64")),
    ("Sum", [FLOATS, D], {}, ("float32 and float64",)),
    ("Where", [BOOLS, FLOATS, L], {}, ("2 ('x1') and 3 ('x2')", "float32 and int64")),
    ("Where", [FLOATS, FLOATS, FLOATS], {}, ("input 1 ('x0') is float32", "only be bool")),
    ("MatMul", [H, FLOATS], {}, ("float16 and float32",)),
    ("Gemm", [FLOATS, FLOATS, D], {}, ("1 ('x0') and 3 ('x2')", "float32 and float64")),
    ("Less", [FLOATS, L], {}, ("float32 and int64",)),
    ("Sqrt", [INTS], {}, ("is int32", "float32 or float64 or float16 or bfloat16")),
    ("Softmax", [L], {}, ("is int64",)),
    ("And", [BOOLS, INTS], {}, ("input 2 ('x1') is int32", "only be bool")),
    ("Gather", [FLOATS, FLOATS], {}, ("input 2 ('x1') is float32", "int32 or int64")),
    ("Pad", [FLOATS, INTS], {}, ("is int32, but may only be int64",)),
    ("Reshape", [FLOATS, INTS], {}, ("only be int64",)),
    ("Clip", [FLOATS, D], {}, ("float32 and float64",)),
    ("Range", [L, INTS, L], {}, ("int64 and int32",)),
    ("ScatterND", [FLOATS, L, D], {}, ("float32 and float64",)),
    ("LayerNormalization", [FLOATS, H], {}, ("float32 and float16",)),
    ("StringNormalizer", [FLOATS], {}, ("is float32, but may only be string",)),
    ("NonZero", [FLOATS], {}, ()),
    ("NonMaxSuppression", [FLOATS, H], {}, ("float16, but may only be float32",)),
    ("Unique", [FLOATS], {}, ()),
    ("SequenceConstruct", [FLOATS, L], {}, ("float32 and int64",)),
    (f"{ML}:Scaler", [S], {"scale": [1.0], "offset": [0.0]}, ("is string",)),
    (f"{TRAINING}:Momentum", [L, L, FLOATS, FLOATS, FLOATS], {}, ("input 1 ('x0') is int64",)),
]  # fmt: skip


def _file(op: str, types: list[int], attributes: dict[str, Any], **more: Any) -> bytes:
    domain, _, op = op.rpartition(":")
    names = [f"x{i}" for i in range(len(types))]
    made = helper.make_node(op, names, ["y"], name="it", domain=domain, **attributes)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(ML, 3)]
    opsets.append(helper.make_opsetid(TRAINING, 1))
    infos = [value(name, None, type_) for name, type_ in zip(names, types, strict=True)]
    ends = [value("y", None, TensorProto.UNDEFINED)]
    ends[0].ClearField("type")
    return model([made], infos, ends, opset_imports=opsets, **more).SerializeToString()


@pytest.mark.parametrize(("op", "types", "attributes", "words"), FORBIDDEN)
def test_forbidden(
    op: str, types: list[int], attributes: dict[str, Any], words: tuple[str, ...]
) -> None:
    loaded = tl.onnx.load(_file(op, types, attributes))
    if not words:  # a neighbour that is allowed
        check_types(loaded._record.graph)
        return
    for use in loaded.graph, loaded.session:
        with pytest.raises(OnnxFormatError) as caught:
            use()
        message = str(caught.value)
        assert "node 'it': " + op.rpartition(":")[2] in message
        assert all(word in message for word in words), message
        assert "\n" not in message and len(message) < 400


def test_a_declared_output() -> None:
    proto = model([node("Relu", "x", "y")], [value("x", [2])], [value("y", [2], TensorProto.INT64)])
    with pytest.raises(OnnxFormatError, match="output 'y' as int64, but it is float32"):
        tl.onnx.load(proto.SerializeToString()).session("numpy")


def test_types_go_through_what_attributes_choose() -> None:
    """Cast, Constant and Shape give types of their own; the sum mixes two."""
    nodes = [node("Cast", "x", "a", to=D), node("Add", "a w", "b"), node("Shape", "b", "s")]
    proto = model([*nodes, node("Mul", "s n", "y")], [value("x", [2])],
                  weights=[weight("w", np.ones(2)), weight("n", np.int64(2))])  # fmt: skip
    (got,) = (
        tl.onnx.load(proto.SerializeToString())
        .session("numpy")
        .run({"x": np.float32([1, 2])})
        .values()
    )
    assert got.tolist() == [4]
    proto = model([*nodes, node("Mul", "b n", "y", name="it")], [value("x", [2])],
                  weights=[weight("w", np.ones(2)), weight("n", np.int64(2))])  # fmt: skip
    with pytest.raises(OnnxFormatError, match="float64 and int64"):
        tl.onnx.load(proto.SerializeToString()).graph()


def test_inside_branches_and_bodies() -> None:
    def branch(array: np.ndarray) -> Any:
        return helper.make_graph(
            [node("Add", "x k", "r")], "branch", [], [value("r", None, D)], [weight("k", array)]
        )

    def conditional(there: np.ndarray, otherwise: np.ndarray) -> bytes:
        made = node("If", "c", "y", then_branch=branch(there), else_branch=branch(otherwise))
        return model([made], [value("c", [], BOOLS), value("x", [2], D)]).SerializeToString()

    tl.onnx.load(conditional(np.ones(2), np.ones(2))).session("numpy")
    with pytest.raises(OnnxFormatError, match=r"Add .*'k'.*float64 and float32"):
        tl.onnx.load(conditional(np.ones(2), np.float32([1, 2]))).session("numpy")
    body = helper.make_graph(
        [node("Identity", "c", "d"), node("Cast", "b", "n", to=D)], "body",
        [value("i", [], L), value("c", [], BOOLS), value("b", [2])],
        [value("d", [], BOOLS), value("n", [2], D)],
    )  # fmt: skip
    proto = model([node("Loop", "t _ x", "y", body=body)], [value("x", [2])],
                  weights=[weight("t", np.int64(2))])  # fmt: skip
    with pytest.raises(OnnxFormatError, match=r"is float32, but .* float64"):
        tl.onnx.load(proto.SerializeToString()).session("numpy")
