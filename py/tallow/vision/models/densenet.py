"""DenseNet (Huang et al. 2017, "Densely Connected Convolutional Networks"), with torchvision's
names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import functional, nn
from ... import functions as f
from ...autodiff.everything import checkpoint
from ...tensor import Tensor
from .registry import published

_PAPER = "Huang et al. 2017, arXiv:1608.06993"


class _DenseLayer(nn.Module):
    """growth_rate new channels of all that were computed before, by way of bn_size times as
    many."""

    def __init__(
        self,
        num_input_features: int,
        growth_rate: int,
        bn_size: int,
        drop_rate: float,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        middle = bn_size * growth_rate
        self.norm1 = nn.BatchNorm2d(num_input_features)
        self.relu1 = nn.ReLU()
        self.conv1 = nn.Conv2d(num_input_features, middle, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(middle)
        self.relu2 = nn.ReLU()
        self.conv2 = nn.Conv2d(middle, growth_rate, 3, padding=1, bias=False)
        self.drop_rate, self.memory_efficient = float(drop_rate), memory_efficient

    def _reduced(self, *inputs: Tensor) -> Any:
        return self.conv1(self.relu1(self.norm1(f.concat(inputs, axis=1))))

    def forward(self, input: Sequence[Tensor] | Tensor) -> Any:
        inputs = [input] if isinstance(input, Tensor) else list(input)
        reduced = checkpoint(self._reduced, *inputs) if self.memory_efficient else (
            self._reduced(*inputs)
        )  # fmt: skip
        found = self.conv2(self.relu2(self.norm2(reduced)))
        return functional.dropout(found, self.drop_rate, self.training)


class _DenseBlock(nn.ModuleDict):
    """Layers, each of which reads what all before it gave."""

    def __init__(
        self,
        num_layers: int,
        num_input_features: int,
        bn_size: int,
        growth_rate: int,
        drop_rate: float,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        for number in range(num_layers):
            inputs = num_input_features + number * growth_rate
            layer = _DenseLayer(inputs, growth_rate, bn_size, drop_rate, memory_efficient)
            self.add_module(f"denselayer{number + 1}", layer)

    def forward(self, init_features: Tensor) -> Any:
        features = [init_features]
        for layer in self.children():
            features.append(layer(features))
        return f.concat(features, axis=1)


class _Transition(nn.Sequential):
    """Between two blocks: fewer channels, and half the size."""

    def __init__(self, num_input_features: int, num_output_features: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(num_input_features)
        self.relu = nn.ReLU()
        self.conv = nn.Conv2d(num_input_features, num_output_features, 1, bias=False)
        self.pool = nn.AvgPool2d(2, 2)


class DenseNet(nn.Module):
    """Images (n, 3, h, w), of 32 x 32 pixels or more, to scores (n, num_classes).

    growth_rate: channels that a layer adds. block_config: layers of each block.
    num_init_features: channels of the first convolution. bn_size: a layer's channels in the middle,
    in relation to growth_rate. drop_rate: the probability of dropout behind each layer.
    memory_efficient: a step of training keeps less, and computes it twice instead (Pleiss et al.
    2017)."""

    def __init__(
        self,
        growth_rate: int = 32,
        block_config: Sequence[int] = (6, 12, 24, 16),
        num_init_features: int = 64,
        bn_size: int = 4,
        drop_rate: float = 0,
        num_classes: int = 1000,
        memory_efficient: bool = False,
    ) -> None:
        super().__init__()
        self.features = nn.Sequential({
            "conv0": nn.Conv2d(3, num_init_features, 7, stride=2, padding=3, bias=False),
            "norm0": nn.BatchNorm2d(num_init_features),
            "relu0": nn.ReLU(),
            "pool0": nn.MaxPool2d(3, stride=2, padding=1),
        })  # fmt: skip
        channels = num_init_features
        for number, count in enumerate(block_config, 1):
            block = _DenseBlock(count, channels, bn_size, growth_rate, drop_rate, memory_efficient)
            self.features.add_module(f"denseblock{number}", block)
            channels += count * growth_rate
            if number < len(block_config):
                transition = _Transition(channels, channels // 2)
                self.features.add_module(f"transition{number}", transition)
                channels //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(channels))
        self.classifier = nn.Linear(channels, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, x: Tensor) -> Any:
        x = functional.relu(self.features(x))
        return self.classifier(functional.adaptive_avg_pool2d(x, (1, 1)).flatten(1))


@published(_PAPER)
def densenet121(**options: Any) -> DenseNet:
    """DenseNet-121; options as for `DenseNet`."""
    return DenseNet(32, (6, 12, 24, 16), 64, **options)


@published(_PAPER)
def densenet161(**options: Any) -> DenseNet:
    """DenseNet-161; options as for `DenseNet`."""
    return DenseNet(48, (6, 12, 36, 24), 96, **options)


@published(_PAPER)
def densenet169(**options: Any) -> DenseNet:
    """DenseNet-169; options as for `DenseNet`."""
    return DenseNet(32, (6, 12, 32, 32), 64, **options)


@published(_PAPER)
def densenet201(**options: Any) -> DenseNet:
    """DenseNet-201; options as for `DenseNet`."""
    return DenseNet(32, (6, 12, 48, 32), 64, **options)
