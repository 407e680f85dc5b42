"""Makes efficientnet_lite0.onnx from the PyTorch checkpoint of EfficientNet-Lite0, without torch.

The network is EfficientNet-B0 without squeeze-and-excite: a stem, sixteen inverted bottlenecks, a
head and a dense layer, with ReLU6 throughout. Batch norm is folded into the convolutions in
float64, and the result is rounded once. The weights were trained in TensorFlow, whose 'SAME'
padding puts the odd pixel at the bottom right.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# A script that is run by its path only sees its own folder; shared modules are two folders up.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from models.making import command
from models.making.checkpoint import CheckpointError, read_torch_legacy
from models.making.onnx_graph import GraphWriter

EPSILON = 1e-3
SIZE = 224


class Stage(NamedTuple):
    repeats: int
    kernel: int
    stride: int
    expand: int
    outputs: int


STAGES = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
    Stage(4, 5, 2, 6, 192),
    Stage(1, 3, 1, 6, 320),
)


def same_pads(size: int, kernel: int, stride: int) -> tuple[int, int, int, int]:
    """TensorFlow's 'SAME' padding of a square picture, as ONNX pads: top, left, bottom, right."""
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    before = total // 2
    return (before, before, total - before, total - before)


class _Network:
    """Converts the checkpoint to a graph, tracking the picture's side length through the layers."""

    def __init__(self, state: Mapping[str, NDArray[Any]], size: int) -> None:
        self.state = state
        self.size = size
        self.writer = GraphWriter("efficientnet_lite0", (1, 3, size, size))

    def get(self, name: str) -> NDArray[np.float64]:
        if name not in self.state:
            raise CheckpointError(f"the checkpoint has no {name}")
        return np.asarray(self.state[name], np.float64)

    def conv_norm(
        self, x: str, conv: str, norm: str, name: str, *, stride: int = 1, depthwise: bool = False
    ) -> str:
        weight = self.get(f"{conv}.weight")
        factor = self.get(f"{norm}.weight") / np.sqrt(self.get(f"{norm}.running_var") + EPSILON)
        bias = self.get(f"{norm}.bias") - self.get(f"{norm}.running_mean") * factor
        made = self.writer.conv(
            x,
            weight * factor[:, None, None, None],
            bias,
            name,
            stride=stride,
            pads=same_pads(self.size, weight.shape[2], stride),
            group=weight.shape[0] if depthwise else 1,
        )
        self.size = -(-self.size // stride)
        return made

    def relu6(self, x: str) -> str:
        low = self.writer.constant(np.array(0), "zero")
        high = self.writer.constant(np.array(6), "six")
        return self.writer.node("Clip", [x, low, high], f"{x}.relu6")

    def block(self, x: str, index: int, stage: Stage, stride: int, keeps_shape: bool) -> str:
        key, name = f"_blocks.{index}", f"block{index}"
        y = x
        if stage.expand != 1:
            y = self.conv_norm(y, f"{key}._expand_conv", f"{key}._bn0", f"{name}.expand")
            y = self.relu6(y)
        depthwise = f"{key}._depthwise_conv"
        y = self.conv_norm(
            y, depthwise, f"{key}._bn1", f"{name}.depthwise", stride=stride, depthwise=True
        )
        y = self.relu6(y)
        y = self.conv_norm(y, f"{key}._project_conv", f"{key}._bn2", f"{name}.project")
        return self.writer.node("Add", [y, x], f"{name}.add") if keeps_shape else y


def build(state: Mapping[str, NDArray[Any]], size: int = SIZE) -> bytes:
    """The model file for a state dict with EfficientNet-Lite0's names. Raises CheckpointError."""
    net = _Network(state, size)
    x = net.conv_norm(net.writer.input, "_conv_stem", "_bn0", "stem", stride=2)
    x = net.relu6(x)
    index, channels = 0, 0
    for stage in STAGES:
        for repeat in range(stage.repeats):
            stride = stage.stride if repeat == 0 else 1
            keeps_shape = stride == 1 and channels == stage.outputs
            x = net.block(x, index, stage, stride, keeps_shape)
            index, channels = index + 1, stage.outputs
    x = net.relu6(net.conv_norm(x, "_conv_head", "_bn1", "head"))
    writer = net.writer
    x = writer.node("GlobalAveragePool", [x], "pool")
    x = writer.node("Flatten", [x], "features", axis=1)
    weight = writer.weight(net.get("_fc.weight"), "fc.weight")
    bias = writer.constant(net.get("_fc.bias"), "fc.bias")
    logits = writer.node("Gemm", [x, weight, bias], "logits", transB=1)
    return writer.finish(logits, len(net.get("_fc.bias")), "tallow/models/efficientnet_lite0")


def convert(data: bytes) -> bytes:
    """Converts the checkpoint file to the ONNX file. Raises CheckpointError."""
    return build(read_torch_legacy(data))


if __name__ == "__main__":
    sys.exit(command.run(__file__, convert))
