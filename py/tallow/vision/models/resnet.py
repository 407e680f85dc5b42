"""Residual networks (He et al. 2016, "Deep Residual Learning for Image Recognition"), their
grouped form ResNeXt (Xie et al. 2017) and wide ones (Zagoruyko and Komodakis 2016), with
torchvision's names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ... import nn
from ...errors import OptionError
from ...tensor import Tensor
from .parts import Layer
from .registry import published

_PAPER = "He et al. 2016, arXiv:1512.03385"
_GROUPED = "Xie et al. 2017, arXiv:1611.05431"
_WIDE = "Zagoruyko and Komodakis 2016, arXiv:1605.07146"


def _conv(
    inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1, dilation: int = 1
) -> nn.Conv2d:
    padding = size // 2 * dilation
    return nn.Conv2d(inputs, outputs, size, stride, padding, dilation, groups, bias=False)


def _shortcut(inputs: int, outputs: int, stride: int, norm: Layer) -> nn.Module | None:
    """What brings a block's input into the shape of its result; None if it has that."""
    if stride == 1 and inputs == outputs:
        return None
    return nn.Sequential(_conv(inputs, outputs, 1, stride), norm(outputs))


class _Block(nn.Module):
    """Convolutions, and what is added to their result. expansion: channels that it gives, in
    relation to `planes`."""

    expansion: ClassVar[int]
    downsample: nn.Module | None

    def _added(self, x: Tensor, input: Tensor) -> Any:
        other = input if self.downsample is None else self.downsample(input)
        return self.relu(x + other)


class BasicBlock(_Block):
    """Two convolutions of 3 x 3. downsample: what is applied to the input that is added; None is a
    convolution of 1 x 1 where shapes differ. Raises OptionError for groups, another base_width or
    a dilation, which only `Bottleneck` has."""

    expansion = 1

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Layer | None = None,
    ) -> None:
        super().__init__()
        if groups != 1 or base_width != 64 or dilation > 1:
            raise OptionError(
                f"BasicBlock: groups {groups}, base_width {base_width} and dilation {dilation} must"
                " be 1, 64 and 1; Bottleneck takes others"
            )
        norm = norm_layer or nn.BatchNorm2d
        self.conv1 = _conv(inplanes, planes, 3, stride)
        self.bn1 = norm(planes)
        self.relu = nn.ReLU()
        self.conv2 = _conv(planes, planes, 3)
        self.bn2 = norm(planes)
        self.downsample = downsample or _shortcut(inplanes, planes, stride, norm)
        self.stride = stride

    def forward(self, input: Tensor) -> Any:
        x = self.relu(self.bn1(self.conv1(input)))
        return self._added(self.bn2(self.conv2(x)), input)


class Bottleneck(_Block):
    """Convolutions of 1 x 1, 3 x 3 and 1 x 1, the second of which has the stride (in the paper, the
    first). groups: of the second one. base_width: its channels, in relation to 64, in each group.
    downsample: as for `BasicBlock`."""

    expansion = 4

    def __init__(
        self,
        inplanes: int,
        planes: int,
        stride: int = 1,
        downsample: nn.Module | None = None,
        groups: int = 1,
        base_width: int = 64,
        dilation: int = 1,
        norm_layer: Layer | None = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64)) * groups
        outputs = planes * self.expansion
        self.conv1 = _conv(inplanes, width, 1)
        self.bn1 = norm(width)
        self.conv2 = _conv(width, width, 3, stride, groups, dilation)
        self.bn2 = norm(width)
        self.conv3 = _conv(width, outputs, 1)
        self.bn3 = norm(outputs)
        self.relu = nn.ReLU()
        self.downsample = downsample or _shortcut(inplanes, outputs, stride, norm)
        self.stride = stride

    def forward(self, input: Tensor) -> Any:
        x = self.relu(self.bn1(self.conv1(input)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self._added(self.bn3(self.conv3(x)), input)


class ResNet(nn.Module):
    """Images (n, in_channels, h, w) to scores (n, num_classes).

    block, layers: the kind of block, and how many of them at each size. zero_init_residual: the
    last normalisation of each block begins with weight 0, so that the block begins as its input
    (Goyal et al. 2017). groups, width_per_group: as `Bottleneck` has them.
    replace_stride_with_dilation: for each size after the first, whether it stays as large as the
    one before. norm_layer: the class of normalisations. width: channels of the first size, 64 in
    the paper. in_channels and width are Tallow's own. Raises OptionError for a
    replace_stride_with_dilation of another length.
    """

    def __init__(
        self,
        block: type[BasicBlock | Bottleneck],
        layers: Sequence[int],
        num_classes: int = 1000,
        zero_init_residual: bool = False,
        groups: int = 1,
        width_per_group: int = 64,
        replace_stride_with_dilation: Sequence[bool] | None = None,
        norm_layer: Layer | None = None,
        *,
        in_channels: int = 3,
        width: int = 64,
    ) -> None:
        super().__init__()
        norm = norm_layer or nn.BatchNorm2d
        dilated = replace_stride_with_dilation or (False,) * (len(layers) - 1)
        if len(dilated) != len(layers) - 1:
            raise OptionError(
                f"ResNet: replace_stride_with_dilation is {dilated}; {len(layers)} sizes need "
                f"{len(layers) - 1} of True or False"
            )
        self.conv1 = nn.Conv2d(in_channels, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = norm(width)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        inputs, dilation = width, 1
        for number, count in enumerate(layers):
            planes, stride, before = width << number, 2 if number else 1, dilation
            if number and dilated[number - 1]:
                dilation, stride = dilation * stride, 1
            blocks: list[nn.Module] = []
            for position in range(count):
                first = position == 0
                blocks.append(
                    block(
                        inputs, planes, stride if first else 1, None, groups, width_per_group,
                        before if first else dilation, norm,
                    )
                )  # fmt: skip
                inputs = planes * block.expansion
            self.add_module(f"layer{number + 1}", nn.Sequential(*blocks))
        self.sizes = len(layers)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inputs, num_classes)
        self._initialise(zero_init_residual)

    def _initialise(self, zero_residual: bool) -> None:
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, (BasicBlock, Bottleneck)) and zero_residual:
                last = module.bn2 if isinstance(module, BasicBlock) else module.bn3
                if last.weight is not None:
                    nn.init.zeros_(last.weight)

    def forward(self, x: Tensor) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        for number in range(self.sizes):
            x = getattr(self, f"layer{number + 1}")(x)
        return self.fc(self.avgpool(x).flatten(1))


@published(_PAPER)
def resnet18(**options: Any) -> ResNet:
    """ResNet-18; options as for `ResNet`."""
    return ResNet(BasicBlock, (2, 2, 2, 2), **options)


@published(_PAPER)
def resnet34(**options: Any) -> ResNet:
    """ResNet-34; options as for `ResNet`."""
    return ResNet(BasicBlock, (3, 4, 6, 3), **options)


@published(_PAPER)
def resnet50(**options: Any) -> ResNet:
    """ResNet-50; options as for `ResNet`."""
    return ResNet(Bottleneck, (3, 4, 6, 3), **options)


@published(_PAPER)
def resnet101(**options: Any) -> ResNet:
    """ResNet-101; options as for `ResNet`."""
    return ResNet(Bottleneck, (3, 4, 23, 3), **options)


@published(_PAPER)
def resnet152(**options: Any) -> ResNet:
    """ResNet-152; options as for `ResNet`."""
    return ResNet(Bottleneck, (3, 8, 36, 3), **options)


@published(_GROUPED)
def resnext50_32x4d(**options: Any) -> ResNet:
    """ResNeXt-50 with 32 groups of 4 channels; options as for `ResNet`."""
    return ResNet(Bottleneck, (3, 4, 6, 3), **{**options, "groups": 32, "width_per_group": 4})


@published(_GROUPED)
def resnext101_32x8d(**options: Any) -> ResNet:
    """ResNeXt-101 with 32 groups of 8 channels; options as for `ResNet`."""
    return ResNet(Bottleneck, (3, 4, 23, 3), **{**options, "groups": 32, "width_per_group": 8})


@published(_GROUPED)
def resnext101_64x4d(**options: Any) -> ResNet:
    """ResNeXt-101 with 64 groups of 4 channels; options as for `ResNet`."""
    return ResNet(Bottleneck, (3, 4, 23, 3), **{**options, "groups": 64, "width_per_group": 4})


@published(_WIDE)
def wide_resnet50_2(**options: Any) -> ResNet:
    """ResNet-50 with twice the channels in the middle of a block; options as for `ResNet`."""
    return ResNet(Bottleneck, (3, 4, 6, 3), **{**options, "width_per_group": 128})


@published(_WIDE)
def wide_resnet101_2(**options: Any) -> ResNet:
    """ResNet-101 with twice the channels in the middle of a block; options as for `ResNet`."""
    return ResNet(Bottleneck, (3, 4, 23, 3), **{**options, "width_per_group": 128})
