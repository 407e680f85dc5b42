"""MobileNetV3 (Howard et al. 2019, "Searching for MobileNetV3", tables 1 and 2), with torchvision's
names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ... import nn
from ...errors import OptionError
from ...tensor import Tensor
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from .parts import Layer, divisible, he_normal, small_normal
from .registry import published

_PAPER = "Howard et al. 2019, arXiv:1905.02244"

_EXCITATION = partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid)


class InvertedResidualConfig:
    """A row of the paper's tables. activation: "RE" for ReLU, "HS" for Hardswish. width_mult: by
    how much there are more channels than given."""

    def __init__(
        self,
        input_channels: int,
        kernel: int,
        expanded_channels: int,
        out_channels: int,
        use_se: bool,
        activation: str,
        stride: int,
        dilation: int,
        width_mult: float,
    ) -> None:
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.use_se, self.use_hs = use_se, activation == "HS"
        self.stride, self.dilation = stride, dilation

    @staticmethod
    def adjust_channels(channels: int, width_mult: float) -> int:
        """A number of channels, a multiple of 8."""
        return divisible(channels * width_mult, 8)


class InvertedResidual(nn.Module):
    """More channels, a convolution of each by itself, `SqueezeExcitation`, fewer channels; the
    input is added if shapes agree. Raises OptionError for a stride other than 1 and 2."""

    def __init__(
        self,
        cnf: InvertedResidualConfig,
        norm_layer: Layer,
        se_layer: Layer = _EXCITATION,
    ) -> None:
        super().__init__()
        if cnf.stride not in (1, 2):
            raise OptionError(f"InvertedResidual: the stride must be 1 or 2, not {cnf.stride}")
        hidden = cnf.expanded_channels
        activation = nn.Hardswish if cnf.use_hs else nn.ReLU
        layers: list[nn.Module] = []
        if hidden != cnf.input_channels:
            layers.append(
                Conv2dNormActivation(
                    cnf.input_channels, hidden, 1, 1, None, 1, norm_layer, activation
                )
            )
        stride = 1 if cnf.dilation > 1 else cnf.stride
        layers.append(
            Conv2dNormActivation(
                hidden, hidden, cnf.kernel, stride, None, hidden, norm_layer, activation,
                cnf.dilation,
            )
        )  # fmt: skip
        if cnf.use_se:
            layers.append(se_layer(hidden, divisible(hidden // 4, 8)))
        layers.append(
            Conv2dNormActivation(hidden, cnf.out_channels, 1, 1, None, 1, norm_layer, None)
        )
        self.block = nn.Sequential(*layers)
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.out_channels = cnf.out_channels

    def forward(self, input: Tensor) -> Any:
        result = self.block(input)
        return result + input if self.use_res_connect else result


class MobileNetV3(nn.Module):
    """Images (n, 3, h, w) to scores (n, num_classes).

    inverted_residual_setting: a configuration for each block. last_channel: elements of the layer
    before the last. block, norm_layer: classes. dropout: the probability in the classifier. Raises
    OptionError without a setting."""

    def __init__(
        self,
        inverted_residual_setting: Sequence[InvertedResidualConfig],
        last_channel: int,
        num_classes: int = 1000,
        block: Layer | None = None,
        norm_layer: Layer | None = None,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        if not inverted_residual_setting:
            raise OptionError("MobileNetV3: inverted_residual_setting is empty; it needs blocks")
        block = block or InvertedResidual
        norm = norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        first = inverted_residual_setting[0].input_channels
        before = inverted_residual_setting[-1].out_channels
        outputs = 6 * before
        self.features = nn.Sequential(
            Conv2dNormActivation(3, first, 3, 2, None, 1, norm, nn.Hardswish),
            *(block(each, norm) for each in inverted_residual_setting),
            Conv2dNormActivation(before, outputs, 1, 1, None, 1, norm, nn.Hardswish),
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(outputs, last_channel), nn.Hardswish(), nn.Dropout(dropout),
            nn.Linear(last_channel, num_classes),
        )  # fmt: skip
        he_normal(self, small_normal)

    def forward(self, x: Tensor) -> Any:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


_LARGE = """
    3  16  16 - RE 1
    3  64  24 - RE 2
    3  72  24 - RE 1
    5  72  40 S RE 2
    5 120  40 S RE 1
    5 120  40 S RE 1
    3 240  80 - HS 2
    3 200  80 - HS 1
    3 184  80 - HS 1
    3 184  80 - HS 1
    3 480 112 S HS 1
    3 672 112 S HS 1
    5 672 160 S HS 2
    5 960 160 S HS 1
    5 960 160 S HS 1
"""
"""The paper's table 1: kernel, expanded channels, channels, squeeze and excitation, activation,
stride."""

_SMALL = """
    3  16  16 S RE 2
    3  72  24 - RE 2
    3  88  24 - RE 1
    5  96  40 S HS 2
    5 240  40 S HS 1
    5 240  40 S HS 1
    5 120  48 S HS 1
    5 144  48 S HS 1
    5 288  96 S HS 2
    5 576  96 S HS 1
    5 576  96 S HS 1
"""
"""The paper's table 2."""


def _network(table: str, last_channel: int, options: dict[str, Any]) -> MobileNetV3:
    """width_mult: by how much there are more channels. reduced_tail: half the channels from the
    last stride on. dilated: no stride there, but a dilation."""
    width_mult = options.pop("width_mult", 1.0)
    divisor = 2 if options.pop("reduced_tail", False) else 1
    dilation = 2 if options.pop("dilated", False) else 1
    rows = [row.split() for row in table.strip().splitlines()]
    tail = len(rows) - 3  # the blocks from the last stride on
    setting, inputs = [], 16
    for number, (kernel, expanded, width, excited, activation, stride) in enumerate(rows):
        outputs = int(width) // (divisor if number >= tail else 1)
        hidden = int(expanded) // (divisor if number > tail else 1)
        setting.append(
            InvertedResidualConfig(
                inputs, int(kernel), hidden, outputs, excited == "S", activation, int(stride),
                dilation if number >= tail else 1, width_mult,
            )
        )  # fmt: skip
        inputs = outputs
    last = InvertedResidualConfig.adjust_channels(last_channel // divisor, width_mult)
    return MobileNetV3(setting, last, **options)


@published(_PAPER)
def mobilenet_v3_large(**options: Any) -> MobileNetV3:
    """MobileNetV3-Large; options as for `MobileNetV3`, and width_mult, by how much there are more
    channels."""
    return _network(_LARGE, 1280, options)


@published(_PAPER)
def mobilenet_v3_small(**options: Any) -> MobileNetV3:
    """MobileNetV3-Small; options as for `MobileNetV3`, and width_mult, by how much there are more
    channels."""
    return _network(_SMALL, 1024, options)
