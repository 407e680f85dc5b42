"""Residual networks (He et al. 2016), with torchvision's names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypedDict, Unpack

from .. import nn
from ..tensor import Tensor


def _conv(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)


class _Block(nn.Module):
    """Convolutions, and what is added to their result. expansion: channels that it gives, in
    relation to `planes`."""

    expansion: ClassVar[int]

    def __init__(self, inplanes: int, planes: int, stride: int) -> None:
        super().__init__()
        outputs = planes * self.expansion
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or inplanes != outputs:
            self.downsample = nn.Sequential(
                _conv(inplanes, outputs, 1, stride), nn.BatchNorm2d(outputs)
            )

    def _added(self, x: Tensor, input: Tensor) -> Any:
        other = input if self.downsample is None else self.downsample(input)
        return self.relu(x + other)


class BasicBlock(_Block):
    """Two convolutions of 3 x 3."""

    expansion = 1

    def __init__(self, inplanes: int, planes: int, stride: int = 1) -> None:
        super().__init__(inplanes, planes, stride)
        self.conv1 = _conv(inplanes, planes, 3, stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = _conv(planes, planes, 3)
        self.bn2 = nn.BatchNorm2d(planes)

    def forward(self, input: Tensor) -> Any:
        x = self.relu(self.bn1(self.conv1(input)))
        return self._added(self.bn2(self.conv2(x)), input)


class Bottleneck(_Block):
    """Convolutions of 1 x 1, 3 x 3 and 1 x 1, the second of which has the stride."""

    expansion = 4

    def __init__(self, inplanes: int, planes: int, stride: int = 1) -> None:
        super().__init__(inplanes, planes, stride)
        self.conv1 = _conv(inplanes, planes, 1)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = _conv(planes, planes, 3, stride)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = _conv(planes, planes * 4, 1)
        self.bn3 = nn.BatchNorm2d(planes * 4)

    def forward(self, input: Tensor) -> Any:
        x = self.relu(self.bn1(self.conv1(input)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self._added(self.bn3(self.conv3(x)), input)


class ResNet(nn.Module):
    """Images (n, in_channels, h, w) to scores (n, num_classes).

    block, layers: the kind of block, and how many of them at each of four sizes. width: channels of
    the first size, 64 in the paper.
    """

    def __init__(
        self,
        block: type[BasicBlock | Bottleneck],
        layers: Sequence[int],
        num_classes: int = 1000,
        in_channels: int = 3,
        width: int = 64,
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        inputs = width
        for number, count in enumerate(layers):
            planes = width << number
            blocks: list[nn.Module] = []
            for position in range(count):
                stride = 2 if number and not position else 1
                blocks.append(block(inputs, planes, stride))
                inputs = planes * block.expansion
            self.add_module(f"layer{number + 1}", nn.Sequential(*blocks))
        self.sizes = len(layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(inputs, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, input: Tensor) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(input))))
        for number in range(self.sizes):
            x = getattr(self, f"layer{number + 1}")(x)
        return self.fc(self.flatten(self.avgpool(x)))


class _Options(TypedDict, total=False):
    num_classes: int
    in_channels: int
    width: int


def resnet18(**options: Unpack[_Options]) -> ResNet:
    """ResNet-18; options as for `ResNet`."""
    return ResNet(BasicBlock, (2, 2, 2, 2), **options)


def resnet34(**options: Unpack[_Options]) -> ResNet:
    """ResNet-34; options as for `ResNet`."""
    return ResNet(BasicBlock, (3, 4, 6, 3), **options)


def resnet50(**options: Unpack[_Options]) -> ResNet:
    """ResNet-50; options as for `ResNet`."""
    return ResNet(Bottleneck, (3, 4, 6, 3), **options)
