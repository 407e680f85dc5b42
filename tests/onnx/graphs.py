"""Builds small models for the tests of the importer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Shape = Sequence[int | str | None]
Node = onnx.NodeProto


def node(op: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> Node:
    """A node; value names are separated by blanks, "_" is an absent one."""
    absent = {"_": ""}
    return helper.make_node(
        op,
        [absent.get(value, value) for value in inputs.split()],
        [absent.get(value, value) for value in outputs.split()],
        name=name or outputs.split()[0],
        **attributes,
    )


def value(name: str, shape: Shape | None, dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    """An input or output."""
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name: str, array: np.ndarray) -> TensorProto:
    """An initializer with raw data."""
    return numpy_helper.from_array(array, name)


def model(
    nodes: Sequence[Node],
    inputs: Sequence[onnx.ValueInfoProto] = (),
    outputs: Sequence[onnx.ValueInfoProto] | str = "y",
    weights: Sequence[TensorProto] = (),
    opset: int = 17,
    **fields: Any,
) -> onnx.ModelProto:
    """An unchecked model. outputs: names separated by blanks, of any type and shape, or values."""
    if isinstance(outputs, str):
        outputs = [onnx.ValueInfoProto(name=name) for name in outputs.split()]
    graph = helper.make_graph(list(nodes), "test", list(inputs), list(outputs), list(weights))
    opsets = fields.pop("opset_imports", [helper.make_opsetid("", opset)])
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, **fields)


def network() -> onnx.ModelProto:
    """A whole small network: convolution, pooling, a computed shape, a classifier."""
    random = np.random.default_rng(0)

    def numbers(*shape: int) -> np.ndarray:
        return random.standard_normal(shape, dtype=np.float32)

    nodes = [
        node("Conv", "image w b", "c", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("BatchNormalization", "c scale shift mean var", "n", epsilon=1e-3),
        node("Clip", "n low high", "r"),
        node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        node("Shape", "p", "s"),
        node("Gather", "s zero", "batch", axis=0),
        node("Unsqueeze", "batch axes", "rows"),
        node("Concat", "rows rest", "wanted", axis=0),
        node("Reshape", "p wanted", "flat"),
        node("Gemm", "flat w2 b2", "logits", transB=1),
        node("Softmax", "logits", "y", axis=-1),
    ]
    weights = [
        weight("w", numbers(4, 3, 3, 3)),
        weight("b", numbers(4)),
        *[weight(name, abs(numbers(4)) + 1) for name in ("scale", "shift", "mean", "var")],
        weight("low", np.float32(0)),
        weight("high", np.float32(6)),
        weight("zero", np.int64(0)),
        weight("axes", np.array([0])),
        weight("rest", np.array([-1])),
        weight("w2", numbers(5, 4 * 2 * 2)),
        weight("b2", numbers(5)),
    ]
    image, y = value("image", ["N", 3, 8, 8]), value("y", ["N", 5])
    return model(nodes, [image], [y], weights, producer_name="tests", doc_string="a network")
