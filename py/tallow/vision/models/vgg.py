"""VGG (Simonyan and Zisserman 2014, "Very Deep Convolutional Networks for Large-Scale Image
Recognition", table 1), with torchvision's names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import nn
from ...tensor import Tensor
from .parts import he_normal, small_normal
from .registry import published

_PAPER = "Simonyan and Zisserman 2014, arXiv:1409.1556"

_CHANNELS = (64, 128, 256, 512, 512)

_LAYERS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
"""How many convolutions there are at each of five sizes: the paper's columns A, B, D and E."""


class VGG(nn.Module):
    """Images (n, 3, h, w), of 32 x 32 pixels or more, to scores (n, num_classes).

    features: what gives 512 channels of an image. init_weights: the paper's initial values, rather
    than the layers' own. dropout: the probability in the classifier."""

    def __init__(
        self,
        features: nn.Module,
        num_classes: int = 1000,
        init_weights: bool = True,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(4096, num_classes),
        )  # fmt: skip
        if init_weights:
            he_normal(self, small_normal)

    def forward(self, x: Tensor) -> Any:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def _features(counts: Sequence[int], batch_norm: bool) -> nn.Sequential:
    layers: list[nn.Module] = []
    inputs = 3
    for channels, count in zip(_CHANNELS, counts, strict=True):
        for _ in range(count):
            layers.append(nn.Conv2d(inputs, channels, 3, padding=1))
            if batch_norm:
                layers.append(nn.BatchNorm2d(channels))
            layers.append(nn.ReLU())
            inputs = channels
        layers.append(nn.MaxPool2d(2, 2))
    return nn.Sequential(*layers)


def _vgg(depth: int, batch_norm: bool, options: dict[str, Any]) -> VGG:
    return VGG(_features(_LAYERS[depth], batch_norm), **options)


@published(_PAPER)
def vgg11(**options: Any) -> VGG:
    """VGG of 11 layers; options as for `VGG`."""
    return _vgg(11, False, options)


@published(_PAPER)
def vgg11_bn(**options: Any) -> VGG:
    """VGG of 11 layers with batch norm; options as for `VGG`."""
    return _vgg(11, True, options)


@published(_PAPER)
def vgg13(**options: Any) -> VGG:
    """VGG of 13 layers; options as for `VGG`."""
    return _vgg(13, False, options)


@published(_PAPER)
def vgg13_bn(**options: Any) -> VGG:
    """VGG of 13 layers with batch norm; options as for `VGG`."""
    return _vgg(13, True, options)


@published(_PAPER)
def vgg16(**options: Any) -> VGG:
    """VGG of 16 layers; options as for `VGG`."""
    return _vgg(16, False, options)


@published(_PAPER)
def vgg16_bn(**options: Any) -> VGG:
    """VGG of 16 layers with batch norm; options as for `VGG`."""
    return _vgg(16, True, options)


@published(_PAPER)
def vgg19(**options: Any) -> VGG:
    """VGG of 19 layers; options as for `VGG`."""
    return _vgg(19, False, options)


@published(_PAPER)
def vgg19_bn(**options: Any) -> VGG:
    """VGG of 19 layers with batch norm; options as for `VGG`."""
    return _vgg(19, True, options)
