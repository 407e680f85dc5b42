"""The digit network with five convolutions, as a module of Tallow's.

Batch norm follows each convolution in training and is folded into it for the file. Channel counts
are multiples of four, which suits the GPU.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import tallow as tl
from tallow import Tensor, nn


class Layer(NamedTuple):
    name: str
    kernel: int
    inputs: int
    outputs: int
    stride: int
    pool: bool  # followed by a 2x2 max pool


LAYERS = (
    Layer("conv1", 5, 1, 16, 1, True),
    Layer("conv2", 3, 16, 24, 1, False),
    Layer("conv3", 3, 24, 32, 1, True),
    Layer("conv4", 3, 32, 64, 1, False),
    Layer("conv5", 3, 64, 64, 2, False),
)
CLASSES = 10
SIZE = 28
LAST = 4  # the side length of the last feature map
FORGET = 0.02  # how far each step moves the running mean and variance
DROPPED = 0.25  # the share of the last features that a step of training leaves out


class DigitNetwork(nn.Module):
    """Images (n, 1, 28, 28), 0..1, to logits (n, 10)."""

    def __init__(self) -> None:
        super().__init__()
        parts: list[nn.Module] = []
        for layer in LAYERS:
            conv = nn.Conv2d(
                layer.inputs,
                layer.outputs,
                layer.kernel,
                stride=layer.stride,
                padding=layer.kernel // 2,
                bias=False,
            )
            nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
            parts += [conv, nn.BatchNorm2d(layer.outputs, momentum=FORGET), nn.ReLU()]
            if layer.pool:
                parts.append(nn.MaxPool2d(2))
        features = LAST * LAST * LAYERS[-1].outputs
        last = nn.Linear(features, CLASSES)
        nn.init.normal_(last.weight, std=features**-0.5)
        nn.init.zeros_(last.bias)
        self.layers = nn.Sequential(*parts, nn.Flatten(), nn.Dropout(DROPPED), last)

    def forward(self, image: Tensor) -> Tensor:
        logits: Tensor = self.layers(image)
        return logits


def write(network: DigitNetwork, path: Path) -> None:
    """Writes the network, in eval mode, as ONNX: `image` (N, 1, 28, 28) to `logits` (N, 10)."""

    def mnist(image: Tensor) -> dict[str, Tensor]:
        return {"logits": network(image)}

    tl.onnx.save(
        mnist,
        path,
        inputs={"image": (("N", 1, SIZE, SIZE), "float32")},
        fold=True,
    )
