"""ShuffleNetV2 (Ma et al. 2018, "ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture
Design", table 5), with torchvision's names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import functional, nn
from ... import functions as f
from ...errors import OptionError
from ...tensor import Tensor
from .parts import Layer
from .registry import published

_PAPER = "Ma et al. 2018, arXiv:1807.11164"


def _points(inputs: int, outputs: int) -> list[nn.Module]:
    return [nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def _depthwise(channels: int, stride: int) -> list[nn.Module]:
    conv = nn.Conv2d(channels, channels, 3, stride, padding=1, groups=channels, bias=False)
    return [conv, nn.BatchNorm2d(channels)]


class InvertedResidual(nn.Module):
    """Half of the channels go through convolutions, the others as they are, or at stride 2 through
    fewer convolutions; both are then mixed. Raises OptionError for channels or a stride that do not
    fit."""

    def __init__(self, inp: int, oup: int, stride: int) -> None:
        super().__init__()
        if not 1 <= stride <= 3 or oup % 2 or (stride == 1 and inp != oup):
            raise OptionError(
                f"InvertedResidual: {inp} to {oup} channels with stride {stride}; it needs an even "
                "number, a stride from 1 to 3, and at stride 1 as many as before"
            )
        self.stride = stride
        half = oup // 2
        one = [*_depthwise(inp, stride), *_points(inp, half)] if stride > 1 else []
        self.branch1 = nn.Sequential(*one)
        self.branch2 = nn.Sequential(
            *_points(inp if stride > 1 else half, half), *_depthwise(half, stride),
            *_points(half, half),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        if self.stride == 1:
            kept, changed = x.chunk(2, 1)
            both = [kept, self.branch2(changed)]
        else:
            both = [self.branch1(x), self.branch2(x)]
        return functional.channel_shuffle(f.concat(both, axis=1), 2)


class ShuffleNetV2(nn.Module):
    """Images (n, 3, h, w) to scores (n, num_classes).

    stages_repeats: blocks of each of three stages. stages_out_channels: channels of the first
    convolution, of the stages and of the last convolution. inverted_residual: the class of blocks.
    Raises OptionError for other than three and five numbers."""

    def __init__(
        self,
        stages_repeats: Sequence[int],
        stages_out_channels: Sequence[int],
        num_classes: int = 1000,
        inverted_residual: Layer = InvertedResidual,
    ) -> None:
        super().__init__()
        if len(stages_repeats) != 3 or len(stages_out_channels) != 5:
            raise OptionError(
                f"ShuffleNetV2: stages_repeats {list(stages_repeats)} and stages_out_channels "
                f"{list(stages_out_channels)} must be three and five numbers"
            )
        first, *stages, last = stages_out_channels
        conv = nn.Conv2d(3, first, 3, stride=2, padding=1, bias=False)
        self.conv1 = nn.Sequential(conv, nn.BatchNorm2d(first), nn.ReLU())
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        inputs = first
        for number, (count, outputs) in enumerate(zip(stages_repeats, stages, strict=True), 2):
            blocks = [inverted_residual(inputs, outputs, 2)]
            blocks += [inverted_residual(outputs, outputs, 1) for _ in range(count - 1)]
            self.add_module(f"stage{number}", nn.Sequential(*blocks))
            inputs = outputs
        self.conv5 = nn.Sequential(*_points(inputs, last))
        self.fc = nn.Linear(last, num_classes)

    def forward(self, x: Tensor) -> Any:
        x = self.maxpool(self.conv1(x))
        x = self.conv5(self.stage4(self.stage3(self.stage2(x))))
        return self.fc(x.mean((2, 3)))


@published(_PAPER)
def shufflenet_v2_x0_5(**options: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with half the channels; options as for `ShuffleNetV2`."""
    return ShuffleNetV2((4, 8, 4), (24, 48, 96, 192, 1024), **options)


@published(_PAPER)
def shufflenet_v2_x1_0(**options: Any) -> ShuffleNetV2:
    """ShuffleNetV2; options as for `ShuffleNetV2`."""
    return ShuffleNetV2((4, 8, 4), (24, 116, 232, 464, 1024), **options)


@published(_PAPER)
def shufflenet_v2_x1_5(**options: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with 1.5 times the channels; options as for `ShuffleNetV2`."""
    return ShuffleNetV2((4, 8, 4), (24, 176, 352, 704, 1024), **options)


@published(_PAPER)
def shufflenet_v2_x2_0(**options: Any) -> ShuffleNetV2:
    """ShuffleNetV2 with twice the channels; options as for `ShuffleNetV2`."""
    return ShuffleNetV2((4, 8, 4), (24, 244, 488, 976, 2048), **options)
