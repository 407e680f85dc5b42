"""RegNet (Radosavovic et al. 2020, "Designing Network Design Spaces"), with torchvision's names of
modules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from ... import nn
from ...errors import OptionError
from ...tensor import Tensor
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from .parts import Layer, divisible, small_normal
from .registry import published

_PAPER = "Radosavovic et al. 2020, arXiv:2003.13678"


class SimpleStemIN(Conv2dNormActivation):
    """A convolution of 3 x 3 to half the size."""

    def __init__(
        self, width_in: int, width_out: int, norm_layer: Layer, activation_layer: Layer
    ) -> None:
        super().__init__(
            width_in, width_out, 3, 2, norm_layer=norm_layer, activation_layer=activation_layer
        )


class BottleneckTransform(nn.Sequential):
    """Convolutions of 1 x 1, 3 x 3 in groups of group_width channels, and 1 x 1.
    bottleneck_multiplier: channels in the middle, in relation to width_out. se_ratio: those of
    `SqueezeExcitation`, in relation to width_in; None has none."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: Layer,
        activation_layer: Layer,
        group_width: int,
        bottleneck_multiplier: float,
        se_ratio: float | None,
    ) -> None:
        middle = round(width_out * bottleneck_multiplier)
        groups = middle // group_width
        layers: dict[str, nn.Module] = {
            "a": Conv2dNormActivation(
                width_in, middle, 1, 1, None, 1, norm_layer, activation_layer
            ),
            "b": Conv2dNormActivation(
                middle, middle, 3, stride, None, groups, norm_layer, activation_layer
            ),
        }
        if se_ratio:
            squeezed = round(se_ratio * width_in)
            layers["se"] = SqueezeExcitation(middle, squeezed, activation=activation_layer)
        layers["c"] = Conv2dNormActivation(middle, width_out, 1, 1, None, 1, norm_layer, None)
        super().__init__(layers)


class ResBottleneckBlock(nn.Module):
    """`BottleneckTransform`, to which the input is added, by way of a convolution where its shape
    is another."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        norm_layer: Layer,
        activation_layer: Layer,
        group_width: int = 1,
        bottleneck_multiplier: float = 1.0,
        se_ratio: float | None = None,
    ) -> None:
        super().__init__()
        self.proj = None
        if width_in != width_out or stride != 1:
            self.proj = Conv2dNormActivation(
                width_in, width_out, 1, stride, None, 1, norm_layer, None
            )
        self.f = BottleneckTransform(
            width_in, width_out, stride, norm_layer, activation_layer, group_width,
            bottleneck_multiplier, se_ratio,
        )  # fmt: skip
        self.activation = activation_layer()

    def forward(self, x: Tensor) -> Any:
        other = x if self.proj is None else self.proj(x)
        return self.activation(other + self.f(x))


class AnyStage(nn.Sequential):
    """A stage of blocks, the first of which has the stride."""

    def __init__(
        self,
        width_in: int,
        width_out: int,
        stride: int,
        depth: int,
        block_constructor: Layer,
        norm_layer: Layer,
        activation_layer: Layer,
        group_width: int,
        bottleneck_multiplier: float,
        se_ratio: float | None = None,
        stage_index: int = 0,
    ) -> None:
        super().__init__()
        for number in range(depth):
            first = number == 0
            block = block_constructor(
                width_in if first else width_out, width_out, stride if first else 1, norm_layer,
                activation_layer, group_width, bottleneck_multiplier, se_ratio,
            )  # fmt: skip
            self.add_module(f"block{stage_index}-{number}", block)


@dataclass
class BlockParams:
    """What the stages have: blocks, channels, channels in a group, the middle's channels in
    relation to the others, strides, and the ratio of `SqueezeExcitation`."""

    depths: Sequence[int]
    widths: Sequence[int]
    group_widths: Sequence[int]
    bottleneck_multipliers: Sequence[float]
    strides: Sequence[int]
    se_ratio: float | None = None

    @classmethod
    def from_init_params(
        cls,
        depth: int,
        w_0: int,
        w_a: float,
        w_m: float,
        group_width: int,
        bottleneck_multiplier: float = 1.0,
        se_ratio: float | None = None,
        **options: object,
    ) -> Self:
        """The stages that follow from the paper's five numbers (section 3.3): the blocks' channels
        w_0 + w_a * number are rounded to a power of w_m times w_0, and then to a multiple of 8;
        blocks with as many are a stage. Raises OptionError for numbers that make no network."""
        if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % 8:
            raise OptionError(
                f"BlockParams: w_0 {w_0} must be a positive multiple of 8, w_a {w_a} not negative, "
                f"w_m {w_m} above 1"
            )
        widths: list[int] = []
        for number in range(depth):
            power = round(math.log((w_0 + w_a * number) / w_0) / math.log(w_m))
            widths.append(round(w_0 * w_m**power / 8) * 8)
        stages = list(dict.fromkeys(widths))
        depths = [widths.count(width) for width in stages]
        fitted, groups = [], []
        for width in stages:
            middle = int(width * bottleneck_multiplier)
            group = min(group_width, middle)
            fitted.append(int(divisible(middle, group) / bottleneck_multiplier))
            groups.append(group)
        count = len(stages)
        return cls(depths, fitted, groups, [bottleneck_multiplier] * count, [2] * count, se_ratio)

    def stages(self) -> Iterator[tuple[int, int, int, int, float]]:
        """For each stage its channels, stride, blocks, channels in a group, and multiplier."""
        yield from zip(
            self.widths, self.strides, self.depths, self.group_widths, self.bottleneck_multipliers,
            strict=True,
        )  # fmt: skip


class RegNet(nn.Module):
    """Images (n, 3, h, w) to scores (n, num_classes).

    block_params: the stages. stem_width: channels of the first convolution. stem_type, block_type,
    norm_layer, activation: classes."""

    def __init__(
        self,
        block_params: BlockParams,
        num_classes: int = 1000,
        stem_width: int = 32,
        stem_type: Layer | None = None,
        block_type: Layer | None = None,
        norm_layer: Layer | None = None,
        activation: Layer | None = None,
    ) -> None:
        super().__init__()
        norm, activated = norm_layer or nn.BatchNorm2d, activation or nn.ReLU
        block = block_type or ResBottleneckBlock
        self.stem = (stem_type or SimpleStemIN)(3, stem_width, norm, activated)
        inputs, stages = stem_width, {}
        for number, row in enumerate(block_params.stages(), 1):
            width, stride, depth, group, multiplier = row
            stages[f"block{number}"] = AnyStage(
                inputs, width, stride, depth, block, norm, activated, group, multiplier,
                block_params.se_ratio, number,
            )  # fmt: skip
            inputs = width
        self.trunk_output = nn.Sequential(stages)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inputs, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                fan = module.kernel_size[0] * module.kernel_size[1] * module.out_channels
                nn.init.normal_(module.weight, 0.0, math.sqrt(2.0 / fan))
        small_normal(self.fc)
        nn.init.zeros_(self.fc.bias)

    def forward(self, x: Tensor) -> Any:
        return self.fc(self.avgpool(self.trunk_output(self.stem(x))).flatten(1))


def _network(
    excited: bool, depth: int, w_0: int, w_a: float, w_m: float, group: int, options: dict[str, Any]
) -> RegNet:
    params = BlockParams.from_init_params(
        depth, w_0, w_a, w_m, group, se_ratio=0.25 if excited else None
    )
    norm = partial(nn.BatchNorm2d, eps=1e-05, momentum=0.1)
    return RegNet(params, **{"norm_layer": norm, **options})


@published(_PAPER)
def regnet_y_400mf(**options: Any) -> RegNet:
    """RegNetY-400MF; options as for `RegNet`."""
    return _network(True, 16, 48, 27.89, 2.09, 8, options)


@published(_PAPER)
def regnet_y_800mf(**options: Any) -> RegNet:
    """RegNetY-800MF; options as for `RegNet`."""
    return _network(True, 14, 56, 38.84, 2.4, 16, options)


@published(_PAPER)
def regnet_y_1_6gf(**options: Any) -> RegNet:
    """RegNetY-1.6GF; options as for `RegNet`."""
    return _network(True, 27, 48, 20.71, 2.65, 24, options)


@published(_PAPER)
def regnet_y_3_2gf(**options: Any) -> RegNet:
    """RegNetY-3.2GF; options as for `RegNet`."""
    return _network(True, 21, 80, 42.63, 2.66, 24, options)


@published(_PAPER)
def regnet_y_8gf(**options: Any) -> RegNet:
    """RegNetY-8GF; options as for `RegNet`."""
    return _network(True, 17, 192, 76.82, 2.19, 56, options)


@published(_PAPER)
def regnet_y_16gf(**options: Any) -> RegNet:
    """RegNetY-16GF; options as for `RegNet`."""
    return _network(True, 18, 200, 106.23, 2.48, 112, options)


@published(_PAPER)
def regnet_y_32gf(**options: Any) -> RegNet:
    """RegNetY-32GF; options as for `RegNet`."""
    return _network(True, 20, 232, 115.89, 2.53, 232, options)


@published(_PAPER)
def regnet_y_128gf(**options: Any) -> RegNet:
    """RegNetY-128GF; options as for `RegNet`."""
    return _network(True, 27, 456, 160.83, 2.52, 264, options)


@published(_PAPER)
def regnet_x_400mf(**options: Any) -> RegNet:
    """RegNetX-400MF; options as for `RegNet`."""
    return _network(False, 22, 24, 24.48, 2.54, 16, options)


@published(_PAPER)
def regnet_x_800mf(**options: Any) -> RegNet:
    """RegNetX-800MF; options as for `RegNet`."""
    return _network(False, 16, 56, 35.73, 2.28, 16, options)


@published(_PAPER)
def regnet_x_1_6gf(**options: Any) -> RegNet:
    """RegNetX-1.6GF; options as for `RegNet`."""
    return _network(False, 18, 80, 34.01, 2.25, 24, options)


@published(_PAPER)
def regnet_x_3_2gf(**options: Any) -> RegNet:
    """RegNetX-3.2GF; options as for `RegNet`."""
    return _network(False, 25, 88, 26.31, 2.25, 48, options)


@published(_PAPER)
def regnet_x_8gf(**options: Any) -> RegNet:
    """RegNetX-8GF; options as for `RegNet`."""
    return _network(False, 23, 80, 49.56, 2.88, 120, options)


@published(_PAPER)
def regnet_x_16gf(**options: Any) -> RegNet:
    """RegNetX-16GF; options as for `RegNet`."""
    return _network(False, 22, 216, 55.59, 2.1, 128, options)


@published(_PAPER)
def regnet_x_32gf(**options: Any) -> RegNet:
    """RegNetX-32GF; options as for `RegNet`."""
    return _network(False, 23, 320, 69.86, 2.0, 168, options)
