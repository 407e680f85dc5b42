"""Nodes that are inconsistent or impossible: an error in one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import tallow as tl

from ..graphs import model, node, value, weight

ML = "ai.onnx.ml"


def _weights(**arrays: Any) -> list[TensorProto]:
    return [weight(name, np.asarray(array)) for name, array in arrays.items()]


# operator, inputs, initializers, attributes, part of the message
WRONG: list[tuple[str, dict[str, list[int]], dict[str, Any], dict[str, Any], str]] = [
    ("GatherND", {"x": [3, 2]}, {"i": [[0, 5]]}, {}, "out of range: 5 to 5 along 2"),
    ("GatherND", {"x": [3, 2]}, {"i": [[0, 0, 0]]}, {}, r"indices \(1, 3\) do not fit \(3, 2\)"),
    ("GatherND", {"x": [3, 2]}, {"i": [[0]]}, {"batch_dims": 1}, r"batches of \(3, 2\)"),
    ("GatherND", {"x": [3, 2]}, {"i": [[0]]}, {"batch_dims": -1}, "-1 batch axes"),
    ("ScatterElements", {"x": [3, 2]}, {"i": [[0]], "u": np.float32([[1, 2]])}, {}, "updates"),
    ("ScatterElements", {"x": [3]}, {"i": [7], "u": np.float32([1])}, {}, "out of range: 7"),
    ("ScatterElements", {"x": [3]}, {"i": [0], "u": np.float32([1])}, {"reduction": "sub"},
     "reduction 'sub' is not one of"),
    ("ScatterElements", {"x": [3, 2]}, {"i": [[0] * 3], "u": np.zeros((1, 3), np.float32)}, {},
     "reach beyond"),
    ("ScatterND", {"x": [3, 2]}, {"i": [[0]], "u": np.float32([1])}, {}, r"updates \(1,\)"),
    ("ScatterND", {"x": [3]}, {"i": np.int64(0), "u": np.float32(1)}, {}, r"indices \(\)"),
    ("TopK", {"x": [4]}, {"k": [9]}, {}, "k is 9, but axis 0 has 4"),
    ("TopK", {"x": [4]}, {"k": [-1]}, {}, "k is -1, but axis 0 has 4"),
    ("TopK", {"x": [4]}, {"k": [2]}, {"axis": 3}, "axis 3 is out of range"),
    ("Compress", {"x": [4]}, {"c": [True] * 5}, {}, "5 conditions"),
    ("QuantizeLinear", {"x": [4, 3]}, {"s": np.float32([1, 2])}, {}, r"a scale of shape \(2,\)"),
    ("QuantizeLinear", {"x": [4, 3]}, {"s": np.ones((4, 2), np.float32)}, {"block_size": 3},
     r"scales \(4, 2\) for blocks of 3"),
    ("QuantizeLinear", {"x": [4, 3]}, {"s": np.ones((4, 2), np.float32)}, {"block_size": -2},
     "blocks of -2"),
    ("QuantizeLinear", {"x": [4]}, {"s": np.float32(1), "z": np.uint8(0)},
     {"output_dtype": TensorProto.INT8}, "int8 does not fit a uint8"),
    ("QuantizeLinear", {"x": [4]}, {"s": np.float32(1)}, {"output_dtype": TensorProto.FLOAT},
     "quantizing to float32"),
    ("BitCast", {"x": [4]}, {}, {"to": TensorProto.INT64}, "float32 and int64 differ in size"),
    ("Cast", {"x": [4]}, {}, {"to": TensorProto.COMPLEX64}, "the type complex64"),
    ("Cast", {"x": [4]}, {}, {"to": TensorProto.FLOAT8E8M0, "round_mode": "odd"}, "'odd' is not"),
    ("Scaler", {"x": [4, 3]}, {}, {"scale": [1.0, 2.0]}, "scale has 2 numbers"),
    ("LinearRegressor", {"x": [4, 3]}, {}, {"coefficients": [1.0, 2.0]}, "2 coefficients of 1"),
    ("LabelEncoder", {"x": [4]}, {}, {"keys_floats": [1.0], "values_floats": [1.0, 2.0]},
     "1 keys and 2 values"),
    ("FeatureVectorizer", {"x": [4, 3]}, {}, {"inputdimensions": [-4]}, "1 lengths"),
]  # fmt: skip

OF_ML = {"Scaler", "LinearRegressor", "LabelEncoder", "FeatureVectorizer", "TreeEnsemble"}


def _load(
    op: str, fed: dict[str, list[int]], known: dict[str, Any], attributes: Any
) -> tl.onnx.Model:
    names = [*fed, *known]
    domain = ML if op in OF_ML else ""
    proto = model(
        [node(op, " ".join(names), "y", domain=domain, **attributes)],
        [
            value(name, shape, TensorProto.INT64 if name == "i" else TensorProto.FLOAT)
            for name, shape in fed.items()
        ],
        weights=_weights(**known),
        opset_imports=[helper.make_opsetid("", 28), helper.make_opsetid(ML, 5)],
    )
    return tl.onnx.load(proto.SerializeToString())


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong[0]}-{wrong[4]}")
def test_what_is_wrong_is_said(wrong: Any) -> None:
    op, fed, known, attributes, message = wrong
    with pytest.raises(tl.OnnxError, match=message) as caught:
        _load(op, fed, known, attributes).graph()
    assert len(str(caught.value).splitlines()) <= 2


TREE = {
    "tree_roots": [0], "nodes_featureids": [0, 0], "nodes_splits": [0.0, 1.0],
    "nodes_modes": [0, 0], "nodes_truenodeids": [1, 0], "nodes_trueleafs": [0, 1],
    "nodes_falsenodeids": [0, 0], "nodes_falseleafs": [1, 1], "leaf_targetids": [0],
    "leaf_weights": [1.0], "n_targets": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes_truenodeids": [0, 0]}, "with a cycle"),
        ({"nodes_truenodeids": [1, 0], "nodes_trueleafs": [0, 0]}, "with a cycle"),
        ({"nodes_truenodeids": [7, 0]}, "leads nowhere"),
        ({"tree_roots": [-1]}, "leads nowhere"),
        ({"nodes_featureids": [0, 3]}, "a feature beyond the 3"),
        ({"leaf_targetids": [4]}, "a target beyond the 1"),
        ({"n_targets": 1 << 40}, "targets in trees of 3 nodes"),
        ({"nodes_modes": [0, 9]}, "modes"),
        ({"nodes_featureids": [0]}, "its lists have"),
    ],
)
def test_what_is_no_tree(change: dict[str, Any], message: str) -> None:
    attributes = {**TREE, **change}
    for name, dtype in (("nodes_splits", np.float32), ("leaf_weights", np.float32),
                        ("nodes_modes", np.uint8)):  # fmt: skip
        attributes[name] = numpy_helper.from_array(np.array(attributes[name], dtype))
    with pytest.raises(tl.OnnxError, match=message):
        _load("TreeEnsemble", {"x": [2, 3]}, {}, attributes).graph()
