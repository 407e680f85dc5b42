"""Makes squeezenet1_1.onnx from a pickle of SqueezeNet 1.1's weights.

The network is a first convolution, eight fire modules (a 1x1 squeeze, then parallel 1x1 and 3x3
expansions), a last 1x1 convolution and a mean over the picture. A ReLU follows every convolution,
including the last, as published and trained. The weights are (h, w, in, out); ONNX expects
(out, in, h, w).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A script that is run by its path only sees its own folder; shared modules are two folders up.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from models.making import command
from models.making.checkpoint import CheckpointError, read_array_pickle
from models.making.onnx_graph import GraphWriter

SIZE = 224
POOL_BEFORE = ("fire2", "fire4", "fire6")
FIRES = tuple(f"fire{number}" for number in range(2, 10))


def build(weights: Mapping[str, Sequence[NDArray[Any]]], size: int = SIZE) -> bytes:
    """The model file for weights with SqueezeNet 1.1's names. Raises CheckpointError."""
    writer = GraphWriter("squeezenet1_1", (1, 3, size, size))

    def conv(x: str, key: str, *, stride: int = 1, pad: int = 0) -> str:
        if len(weights.get(key, ())) != 2:
            raise CheckpointError(f"the pickle has no kernel and bias named {key}")
        kernel, bias = weights[key]
        name = key.replace("/", ".")
        y = writer.conv(x, kernel.transpose(3, 2, 0, 1), bias, name, stride=stride, pads=[pad] * 4)
        return writer.node("Relu", [y], f"{name}.relu")

    x = conv(writer.input, "conv1", stride=2)
    for fire in FIRES:
        if fire in POOL_BEFORE:
            x = writer.node("MaxPool", [x], f"{fire}.pool", kernel_shape=[3, 3], strides=[2, 2])
        x = conv(x, f"{fire}/squeeze1x1")
        narrow, wide = conv(x, f"{fire}/expand1x1"), conv(x, f"{fire}/expand3x3", pad=1)
        x = writer.node("Concat", [narrow, wide], f"{fire}.concat", axis=1)
    x = conv(x, "conv10")
    x = writer.node("GlobalAveragePool", [x], "pool")
    logits = writer.node("Flatten", [x], "logits", axis=1)
    classes = int(np.size(weights["conv10"][1]))
    return writer.finish(logits, classes, "tallow/models/squeezenet1_1")


def convert(data: bytes) -> bytes:
    """Converts the pickle to the ONNX file. Raises CheckpointError."""
    return build(read_array_pickle(data))


if __name__ == "__main__":
    sys.exit(command.run(__file__, convert))
