"""Networks that the benchmark generates, with random weights from a fixed seed.

They are ResNet-50 (He and others 2015, arXiv:1512.03385, with the stride in the 3x3, as is usual)
and chains of a single operator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

# Blocks, their inner and outer channels and the stride of the first one, stage by stage.
_STAGES = ((3, 64, 256, 1), (4, 128, 512, 2), (6, 256, 1024, 2), (3, 512, 2048, 2))

_SEED = 20151210


class Writer:
    """Collects nodes and weights; a method that adds a node returns the name of its output."""

    def __init__(self, name: str, shape: Sequence[int]) -> None:
        self._name = name
        self._shape = shape
        self._random = np.random.default_rng(_SEED)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Adds any operator with one output."""
        output = f"{op.lower()}{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def weight(self, shape: Sequence[int], deviation: float) -> str:
        """Random numbers, normally distributed around zero."""
        values = self._random.standard_normal(shape, dtype=np.float32) * np.float32(deviation)
        return self.constant(values)

    def constant(self, values: NDArray[np.float32]) -> str:
        """An initializer."""
        name = f"weight{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(
        self,
        x: str,
        channels: tuple[int, int],
        kernel: int,
        *,
        stride: int = 1,
        group: int = 1,
        gain: float = 1.0,
    ) -> str:
        """A square convolution with a bias. channels: of input and output. The output is `gain`
        times as large as the input; with a ReLU, gain sqrt(2) preserves the size."""
        inputs, outputs = channels
        fan_in = inputs // group * kernel * kernel
        weight = self.weight((outputs, inputs // group, kernel, kernel), gain / math.sqrt(fan_in))
        bias = self.weight((outputs,), 0.01)
        pad = kernel // 2
        return self.node(
            "Conv", x, weight, bias, kernel_shape=[kernel] * 2, strides=[stride] * 2,
            pads=[pad] * 4, group=group,
        )  # fmt: skip

    def finish(self, output: str, shape: Sequence[int]) -> bytes:
        """The checked model file."""
        graph = helper.make_graph(
            self._nodes,
            self._name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, self._shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
            self._weights,
        )
        opset = helper.make_opsetid("", 17)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString(deterministic=True))


def resnet50() -> bytes:
    """ResNet-50 for 224 x 224 images, as exporters write it: with batch norm in the weights."""
    writer = Writer("resnet50", (1, 3, 224, 224))
    relu = math.sqrt(2)
    x = writer.node("Relu", writer.conv("input", (3, 64), 7, stride=2, gain=relu))
    x = writer.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for blocks, inner, outer, first_stride in _STAGES:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y = writer.node("Relu", writer.conv(x, (channels, inner), 1, gain=relu))
            y = writer.node("Relu", writer.conv(y, (inner, inner), 3, stride=stride, gain=relu))
            y = writer.conv(y, (inner, outer), 1, gain=0.5)  # small: sums must not grow
            if block == 0:
                x = writer.conv(x, (channels, outer), 1, stride=stride)
            x = writer.node("Relu", writer.node("Add", y, x))
            channels = outer
    x = writer.node("Flatten", writer.node("GlobalAveragePool", x))
    weight = writer.weight((1000, channels), 1 / math.sqrt(channels))
    logits = writer.node("Gemm", x, weight, writer.weight((1000,), 0.01), transB=1)
    return writer.finish(logits, (1, 1000))


def addition() -> bytes:
    """Four numbers, each added to itself."""
    writer = Writer("addition", (4,))
    return writer.finish(writer.node("Add", "input", "input"), (4,))


def matmul_chain(size: int, links: int) -> bytes:
    """`links` products of square matrices, one after the other."""
    writer, x = Writer(f"matmul{size}", (size, size)), "input"
    for _ in range(links):
        x = writer.node("MatMul", x, writer.weight((size, size), 1 / math.sqrt(size)))
    return writer.finish(x, (size, size))


def conv_chain(channels: tuple[int, int], kernel: int, size: int, group: int, links: int) -> bytes:
    """`links` convolutions from `channels[0]` to `channels[1]` and back again, one after the
    other, on images of size x size."""
    here, other = channels
    writer, x = Writer(f"conv{kernel}", (1, here, size, size)), "input"
    for _ in range(links):
        x = writer.conv(x, (here, other), kernel, group=group)
        here, other = other, here
    return writer.finish(x, (1, here, size, size))
