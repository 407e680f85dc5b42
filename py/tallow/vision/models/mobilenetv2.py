"""MobileNetV2 (Sandler et al. 2018, "MobileNetV2: Inverted Residuals and Linear Bottlenecks",
table 2), with torchvision's names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import nn
from ...errors import OptionError
from ...tensor import Tensor
from ..ops.misc import Conv2dNormActivation
from .parts import Layer, divisible, he_normal, small_normal
from .registry import published


class InvertedResidual(nn.Module):
    """More channels, a convolution of each by itself, fewer channels; the input is added if shapes
    agree. expand_ratio: by how much there are more. Raises OptionError for a stride other than 1
    and 2."""

    def __init__(
        self,
        inp: int,
        oup: int,
        stride: int,
        expand_ratio: float,
        norm_layer: Layer | None = None,
    ) -> None:
        super().__init__()
        if stride not in (1, 2):
            raise OptionError(f"InvertedResidual: the stride must be 1 or 2, not {stride}")
        norm = norm_layer or nn.BatchNorm2d
        hidden = round(inp * expand_ratio)
        layers: list[nn.Module] = []
        if expand_ratio != 1:
            layers.append(Conv2dNormActivation(inp, hidden, 1, 1, None, 1, norm, nn.ReLU6))
        depthwise = Conv2dNormActivation(hidden, hidden, 3, stride, None, hidden, norm, nn.ReLU6)
        layers += [depthwise, nn.Conv2d(hidden, oup, 1, bias=False), norm(oup)]
        self.conv = nn.Sequential(*layers)
        self.stride, self.out_channels = stride, oup
        self.use_res_connect = stride == 1 and inp == oup

    def forward(self, x: Tensor) -> Any:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


_SETTING = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip


class MobileNetV2(nn.Module):
    """Images (n, 3, h, w) to scores (n, num_classes).

    width_mult: by how much there are more channels than in the paper; numbers of channels are
    rounded to multiples of round_nearest. inverted_residual_setting: for each stage the expansion,
    the channels, the number of blocks and the stride; None is the paper's. block, norm_layer:
    classes. dropout: the probability in the classifier. Raises OptionError for a setting that is
    not fours."""

    def __init__(
        self,
        num_classes: int = 1000,
        width_mult: float = 1.0,
        inverted_residual_setting: Sequence[Sequence[int]] | None = None,
        round_nearest: int = 8,
        block: Layer | None = None,
        norm_layer: Layer | None = None,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        block = block or InvertedResidual
        norm = norm_layer or nn.BatchNorm2d
        setting = _SETTING if inverted_residual_setting is None else inverted_residual_setting
        if not setting or any(len(row) != 4 for row in setting):
            raise OptionError(
                f"MobileNetV2: inverted_residual_setting is {setting!r}; each stage needs four "
                "numbers: expansion, channels, blocks, stride"
            )
        channels = divisible(32 * width_mult, round_nearest)
        self.last_channel = divisible(1280 * max(1.0, width_mult), round_nearest)
        layers: list[nn.Module] = [
            Conv2dNormActivation(3, channels, 3, 2, None, 1, norm, nn.ReLU6)
        ]  # fmt: skip
        for expansion, width, count, stride in setting:
            outputs = divisible(width * width_mult, round_nearest)
            for number in range(count):
                step = 1 if number else stride
                layers.append(
                    block(channels, outputs, step, expand_ratio=expansion, norm_layer=norm)
                )
                channels = outputs
        layers.append(
            Conv2dNormActivation(channels, self.last_channel, 1, 1, None, 1, norm, nn.ReLU6)
        )
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(self.last_channel, num_classes)
        )
        he_normal(self, small_normal)

    def forward(self, x: Tensor) -> Any:
        return self.classifier(self.features(x).mean((2, 3)))


@published("Sandler et al. 2018, arXiv:1801.04381")
def mobilenet_v2(**options: Any) -> MobileNetV2:
    """MobileNetV2; options as for `MobileNetV2`."""
    return MobileNetV2(**options)
