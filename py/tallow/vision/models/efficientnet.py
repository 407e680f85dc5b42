"""EfficientNet (Tan and Le 2019, "EfficientNet: Rethinking Model Scaling for Convolutional Neural
Networks") and EfficientNetV2 (Tan and Le 2021), with torchvision's names of modules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

from ... import nn
from ...errors import OptionError
from ...tensor import Tensor
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation, StochasticDepth
from .parts import Layer, divisible, he_normal
from .registry import published

_PAPER = "Tan and Le 2019, arXiv:1905.11946"
_SECOND = "Tan and Le 2021, arXiv:2104.00298"


@dataclass
class _MBConvConfig:
    """A stage: how many blocks of which kind, and their channels, kernel, stride and expansion."""

    expand_ratio: float
    kernel: int
    stride: int
    input_channels: int
    out_channels: int
    num_layers: int
    block: Layer

    @staticmethod
    def adjust_channels(channels: int, width_mult: float, min_value: int | None = None) -> int:
        """A number of channels, a multiple of 8."""
        return divisible(channels * width_mult, 8, min_value)


class MBConvConfig(_MBConvConfig):
    """A stage of `MBConv`. width_mult, depth_mult: by how much there are more channels and blocks
    than given."""

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        width_mult: float = 1.0,
        depth_mult: float = 1.0,
        block: Layer | None = None,
    ) -> None:
        super().__init__(
            expand_ratio, kernel, stride, self.adjust_channels(input_channels, width_mult),
            self.adjust_channels(out_channels, width_mult),
            self.adjust_depth(num_layers, depth_mult), block or MBConv,
        )  # fmt: skip

    @staticmethod
    def adjust_depth(num_layers: int, depth_mult: float) -> int:
        """A number of blocks, rounded up."""
        return math.ceil(num_layers * depth_mult)


class FusedMBConvConfig(_MBConvConfig):
    """A stage of `FusedMBConv`."""

    def __init__(
        self,
        expand_ratio: float,
        kernel: int,
        stride: int,
        input_channels: int,
        out_channels: int,
        num_layers: int,
        block: Layer | None = None,
    ) -> None:
        super().__init__(
            expand_ratio, kernel, stride, input_channels, out_channels, num_layers,
            block or FusedMBConv,
        )  # fmt: skip


class _Block(nn.Module):
    """Layers, and the input that is added if shapes agree. Raises OptionError for a stride other
    than 1 and 2."""

    def _fill(self, cnf: _MBConvConfig, layers: list[nn.Module], depth_prob: float) -> None:
        if cnf.stride not in (1, 2):
            raise OptionError(f"{type(self).__name__}: the stride must be 1 or 2, not {cnf.stride}")
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(depth_prob, "row")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.out_channels = cnf.out_channels

    def forward(self, input: Tensor) -> Any:
        result = self.block(input)
        return self.stochastic_depth(result) + input if self.use_res_connect else result


class MBConv(_Block):
    """More channels, a convolution of each by itself, `SqueezeExcitation`, fewer channels."""

    def __init__(
        self,
        cnf: _MBConvConfig,
        stochastic_depth_prob: float,
        norm_layer: Layer,
        se_layer: Layer = SqueezeExcitation,
    ) -> None:
        super().__init__()
        inputs = cnf.input_channels
        hidden = cnf.adjust_channels(inputs, cnf.expand_ratio)
        made = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        layers: list[nn.Module] = [made(inputs, hidden, 1)] if hidden != inputs else []
        layers.append(made(hidden, hidden, cnf.kernel, cnf.stride, groups=hidden))
        layers.append(se_layer(hidden, max(1, inputs // 4), activation=nn.SiLU))
        layers.append(made(hidden, cnf.out_channels, 1, activation_layer=None))
        self._fill(cnf, layers, stochastic_depth_prob)


class FusedMBConv(_Block):
    """A convolution to more channels, and one to fewer."""

    def __init__(self, cnf: _MBConvConfig, stochastic_depth_prob: float, norm_layer: Layer) -> None:
        super().__init__()
        inputs = cnf.input_channels
        hidden = cnf.adjust_channels(inputs, cnf.expand_ratio)
        made = partial(Conv2dNormActivation, norm_layer=norm_layer, activation_layer=nn.SiLU)
        if hidden == inputs:
            layers: list[nn.Module] = [made(inputs, cnf.out_channels, cnf.kernel, cnf.stride)]
        else:
            layers = [made(inputs, hidden, cnf.kernel, cnf.stride)]
            layers.append(made(hidden, cnf.out_channels, 1, activation_layer=None))
        self._fill(cnf, layers, stochastic_depth_prob)


class EfficientNet(nn.Module):
    """Images (n, 3, h, w) to scores (n, num_classes).

    inverted_residual_setting: a configuration for each stage. dropout: the probability in the
    classifier. stochastic_depth_prob: the probability with which a sample would leave out a block
    behind the last; earlier ones have less, down to 0. norm_layer: the class of normalisations.
    last_channel: channels of the last convolution; None is four times those before. Raises
    OptionError without a setting."""

    def __init__(
        self,
        inverted_residual_setting: Sequence[MBConvConfig | FusedMBConvConfig],
        dropout: float,
        stochastic_depth_prob: float = 0.2,
        num_classes: int = 1000,
        norm_layer: Layer | None = None,
        last_channel: int | None = None,
    ) -> None:
        super().__init__()
        setting = inverted_residual_setting
        if not setting:
            raise OptionError("EfficientNet: inverted_residual_setting is empty; it needs stages")
        norm = norm_layer or nn.BatchNorm2d
        made = partial(Conv2dNormActivation, norm_layer=norm, activation_layer=nn.SiLU)
        layers: list[nn.Module] = [made(3, setting[0].input_channels, 3, 2)]
        total, number = sum(stage.num_layers for stage in setting), 0
        for stage in setting:
            blocks = []
            for position in range(stage.num_layers):
                cnf = stage if not position else _repeated(stage)
                blocks.append(cnf.block(cnf, stochastic_depth_prob * number / total, norm))
                number += 1
            layers.append(nn.Sequential(*blocks))
        before = setting[-1].out_channels
        outputs = 4 * before if last_channel is None else last_channel
        self.features = nn.Sequential(*layers, made(before, outputs, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(outputs, num_classes))
        he_normal(self, _by_fan_out)

    def forward(self, x: Tensor) -> Any:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def _repeated(stage: _MBConvConfig) -> _MBConvConfig:
    """What a stage's blocks after the first have."""
    other = copy(stage)
    other.input_channels, other.stride = stage.out_channels, 1
    return other


def _by_fan_out(module: nn.Linear) -> None:
    bound = 1.0 / math.sqrt(module.out_features)
    nn.init.uniform_(module.weight, -bound, bound)


_Row = tuple[int, int, int, int, int, int]

_STAGES: tuple[_Row, ...] = (
    (1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3),
    (6, 5, 1, 80, 112, 3), (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1),
)  # fmt: skip
"""Table 1 of the first paper: expansion, kernel, stride, channels before and after, blocks."""

_FUSED: dict[str, tuple[_Row, ...]] = {
    "s": ((1, 3, 1, 24, 24, 2), (4, 3, 2, 24, 48, 4), (4, 3, 2, 48, 64, 4)),
    "m": ((1, 3, 1, 24, 24, 3), (4, 3, 2, 24, 48, 5), (4, 3, 2, 48, 80, 5)),
    "l": ((1, 3, 1, 32, 32, 4), (4, 3, 2, 32, 64, 7), (4, 3, 2, 64, 96, 7)),
}
"""The second paper's first stages, which are fused."""

_OTHERS: dict[str, tuple[_Row, ...]] = {
    "s": ((4, 3, 2, 64, 128, 6), (6, 3, 1, 128, 160, 9), (6, 3, 2, 160, 256, 15)),
    "m": ((4, 3, 2, 80, 160, 7), (6, 3, 1, 160, 176, 14), (6, 3, 2, 176, 304, 18),
          (6, 3, 1, 304, 512, 5)),
    "l": ((4, 3, 2, 96, 192, 10), (6, 3, 1, 192, 224, 19), (6, 3, 2, 224, 384, 25),
          (6, 3, 1, 384, 640, 7)),
}  # fmt: skip
"""Its other stages."""


def _first(width: float, depth: float, dropout: float, options: dict[str, Any]) -> EfficientNet:
    setting = [MBConvConfig(*row, width_mult=width, depth_mult=depth) for row in _STAGES]
    return EfficientNet(setting, **{"dropout": dropout, **options})


def _large(width: float, depth: float, dropout: float, options: dict[str, Any]) -> EfficientNet:
    norm = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
    return _first(width, depth, dropout, {"norm_layer": norm, **options})


def _later(size: str, dropout: float, options: dict[str, Any]) -> EfficientNet:
    setting: list[MBConvConfig | FusedMBConvConfig] = []
    setting += [FusedMBConvConfig(*row) for row in _FUSED[size]]
    setting += [MBConvConfig(*row) for row in _OTHERS[size]]
    norm = partial(nn.BatchNorm2d, eps=1e-3)
    given = {"dropout": dropout, "norm_layer": norm, "last_channel": 1280, **options}
    return EfficientNet(setting, **given)


@published(_PAPER)
def efficientnet_b0(**options: Any) -> EfficientNet:
    """EfficientNet-B0; options as for `EfficientNet`."""
    return _first(1.0, 1.0, 0.2, options)


@published(_PAPER, 240)
def efficientnet_b1(**options: Any) -> EfficientNet:
    """EfficientNet-B1; options as for `EfficientNet`."""
    return _first(1.0, 1.1, 0.2, options)


@published(_PAPER, 288)
def efficientnet_b2(**options: Any) -> EfficientNet:
    """EfficientNet-B2; options as for `EfficientNet`."""
    return _first(1.1, 1.2, 0.3, options)


@published(_PAPER, 300)
def efficientnet_b3(**options: Any) -> EfficientNet:
    """EfficientNet-B3; options as for `EfficientNet`."""
    return _first(1.2, 1.4, 0.3, options)


@published(_PAPER, 380)
def efficientnet_b4(**options: Any) -> EfficientNet:
    """EfficientNet-B4; options as for `EfficientNet`."""
    return _first(1.4, 1.8, 0.4, options)


@published(_PAPER, 456)
def efficientnet_b5(**options: Any) -> EfficientNet:
    """EfficientNet-B5; options as for `EfficientNet`."""
    return _large(1.6, 2.2, 0.4, options)


@published(_PAPER, 528)
def efficientnet_b6(**options: Any) -> EfficientNet:
    """EfficientNet-B6; options as for `EfficientNet`."""
    return _large(1.8, 2.6, 0.5, options)


@published(_PAPER, 600)
def efficientnet_b7(**options: Any) -> EfficientNet:
    """EfficientNet-B7; options as for `EfficientNet`."""
    return _large(2.0, 3.1, 0.5, options)


@published(_SECOND, 384)
def efficientnet_v2_s(**options: Any) -> EfficientNet:
    """EfficientNetV2-S; options as for `EfficientNet`."""
    return _later("s", 0.2, options)


@published(_SECOND, 480)
def efficientnet_v2_m(**options: Any) -> EfficientNet:
    """EfficientNetV2-M; options as for `EfficientNet`."""
    return _later("m", 0.3, options)


@published(_SECOND, 480)
def efficientnet_v2_l(**options: Any) -> EfficientNet:
    """EfficientNetV2-L; options as for `EfficientNet`."""
    return _later("l", 0.4, options)
