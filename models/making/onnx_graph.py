"""Writes a network as ONNX with float16 weights and float32 arithmetic.

Each weight is a float16 initializer that a Cast turns into float32: this is plain ONNX with half
the bytes to download, and any runtime can fold the Cast when it loads the file. Biases stay
float32, because they are small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8


class GraphWriter:
    """Collects nodes and weights; every method returns the name of the value it creates."""

    def __init__(self, name: str, image: tuple[int, int, int, int]) -> None:
        self.input = "image"
        self._name = name
        self._image = image
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, onnx.TensorProto] = {}

    def node(self, op: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Adds any operator with one output; the node has its output's name."""
        made = helper.make_node(op, list(inputs), [output], name=output, **attributes)
        self._nodes.append(made)
        return output

    def constant(self, values: NDArray[Any], name: str) -> str:
        """A float32 initializer; created once per name."""
        plain = np.array(values, dtype="<f4", order="C")
        self._weights.setdefault(name, numpy_helper.from_array(plain, name))
        return name

    def weight(self, values: NDArray[Any], name: str) -> str:
        """A float16 initializer, rounded to nearest, and its Cast to float32."""
        largest = float(np.abs(values).max())
        if not largest <= float(np.finfo(np.float16).max):
            raise ValueError(f"{name}: its largest weight, {largest}, does not fit float16")
        half = np.array(values, dtype="<f2", order="C")
        self._weights[f"{name}.half"] = numpy_helper.from_array(half, f"{name}.half")
        return self.node("Cast", [f"{name}.half"], name, to=TensorProto.FLOAT)

    def conv(
        self,
        x: str,
        weight: NDArray[Any],
        bias: NDArray[Any],
        name: str,
        *,
        stride: int = 1,
        pads: Sequence[int] = (0, 0, 0, 0),
        group: int = 1,
    ) -> str:
        """A 2-D convolution. weight: (out, in / group, h, w); pads: top, left, bottom, right."""
        return self.node(
            "Conv",
            [x, self.weight(weight, f"{name}.weight"), self.constant(bias, f"{name}.bias")],
            name,
            kernel_shape=list(weight.shape[2:]),
            strides=[stride, stride],
            pads=list(pads),
            group=group,
        )

    def finish(self, logits: str, classes: int, producer: str) -> bytes:
        """The checked model file, with the same bytes on every machine."""
        graph = helper.make_graph(
            self._nodes,
            self._name,
            [helper.make_tensor_value_info(self.input, TensorProto.FLOAT, self._image)],
            [helper.make_tensor_value_info(logits, TensorProto.FLOAT, (1, classes))],
            list(self._weights.values()),
        )
        model = helper.make_model(
            graph,
            producer_name=producer,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
        onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))
