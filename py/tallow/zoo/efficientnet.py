"""EfficientNet-Lite0 (Tan and Le 2019, without squeeze-and-excitation and with ReLU6).

Modules have the names that the PyTorch checkpoint of TensorFlow's weights has.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import functional, nn
from ..tensor import Tensor


class Stage(NamedTuple):
    """Blocks of one kind. expand: by how many times a block widens its input."""

    blocks: int
    kernel: int
    stride: int
    expand: int
    channels: int


_LITE0 = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
    Stage(4, 5, 2, 6, 192),
    Stage(1, 3, 1, 6, 320),
)


class _SameConv2d(nn.Conv2d):
    """A convolution padded as TensorFlow's "SAME": an odd pixel goes to the end."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1):
        super().__init__(inputs, outputs, kernel, stride, groups=groups, bias=False)

    def forward(self, input: Tensor) -> Any:
        (kernel, _), (stride, _) = self.kernel_size, self.stride
        pads: list[int] = []
        for length in (input.shape[3], input.shape[2]):  # the last axis first, as pad has them
            total = max((-(-length // stride) - 1) * stride + kernel - length, 0)
            pads += [total // 2, total - total // 2]
        return super().forward(functional.pad(input, pads) if any(pads) else input)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


class InvertedBottleneck(nn.Module):
    """Widens, filters each channel by itself, and narrows; then adds the input where it fits."""

    def __init__(self, inputs: int, stage: Stage, stride: int) -> None:
        super().__init__()
        wide = inputs * stage.expand
        self.adds = stride == 1 and inputs == stage.channels
        self.widens = stage.expand != 1
        if self.widens:
            self._expand_conv = _SameConv2d(inputs, wide, 1)
            self._bn0 = _norm(wide)
        self._depthwise_conv = _SameConv2d(wide, wide, stage.kernel, stride, groups=wide)
        self._bn1 = _norm(wide)
        self._project_conv = _SameConv2d(wide, stage.channels, 1)
        self._bn2 = _norm(stage.channels)

    def forward(self, input: Tensor) -> Any:
        x = input
        if self.widens:
            x = functional.relu6(self._bn0(self._expand_conv(x)))
        x = functional.relu6(self._bn1(self._depthwise_conv(x)))
        x = self._bn2(self._project_conv(x))
        return x + input if self.adds else x


class EfficientNetLite0(nn.Module):
    """Images (n, in_channels, h, w), trained at 224 x 224, to scores (n, num_classes).

    dropout: of the features before the last layer.
    """

    def __init__(self, num_classes: int = 1000, in_channels: int = 3, dropout: float = 0.2) -> None:
        super().__init__()
        self._conv_stem = _SameConv2d(in_channels, 32, 3, 2)
        self._bn0 = _norm(32)
        channels, blocks = 32, []
        for stage in _LITE0:
            for number in range(stage.blocks):
                blocks.append(InvertedBottleneck(channels, stage, 1 if number else stage.stride))
                channels = stage.channels
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = _SameConv2d(channels, 1280, 1)
        self._bn1 = _norm(1280)
        self._dropout = nn.Dropout(dropout)
        self._fc = nn.Linear(1280, num_classes)

    def forward(self, input: Tensor) -> Any:
        x = functional.relu6(self._bn0(self._conv_stem(input)))
        for block in self._blocks:
            x = block(x)
        x = functional.relu6(self._bn1(self._conv_head(x)))
        return self._fc(self._dropout(x.mean((2, 3))))
