"""SqueezeNet (Iandola et al. 2016, "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters"),
with torchvision's names of modules."""

from __future__ import annotations

from typing import Any

from ... import functions as f
from ... import nn
from ...errors import OptionError
from ...tensor import Tensor
from .registry import published

_PAPER = "Iandola et al. 2016, arXiv:1602.07360"


class Fire(nn.Module):
    """Fewer channels by a convolution of 1 x 1; of those, channels by convolutions of 1 x 1 and
    3 x 3, side by side."""

    def __init__(
        self, inplanes: int, squeeze_planes: int, expand1x1_planes: int, expand3x3_planes: int
    ) -> None:
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, 1)
        self.squeeze_activation = nn.ReLU()
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, 1)
        self.expand1x1_activation = nn.ReLU()
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, 3, padding=1)
        self.expand3x3_activation = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        x = self.squeeze_activation(self.squeeze(x))
        points = self.expand1x1_activation(self.expand1x1(x))
        return f.concat([points, self.expand3x3_activation(self.expand3x3(x))], axis=1)


_VERSIONS: dict[str, tuple[int, int, str]] = {
    "1_0": (96, 7, "P 16,64 16,64 32,128 P 32,128 48,192 48,192 64,256 P 64,256"),
    "1_1": (64, 3, "P 16,64 16,64 P 32,128 32,128 P 48,192 48,192 64,256 64,256"),
}
"""Channels and size of the first convolution; then pooling, and `Fire` with its squeezed and
expanded channels."""


class SqueezeNet(nn.Module):
    """Images (n, 3, h, w) to scores (n, num_classes). version: "1_0", the paper's, or "1_1", with
    less arithmetic. dropout: the probability before the last convolution. Raises OptionError for
    another version."""

    def __init__(self, version: str = "1_0", num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        if version not in _VERSIONS:
            raise OptionError(f"SqueezeNet: version {version!r} is not one of {list(_VERSIONS)}")
        self.num_classes = num_classes
        channels, size, parts = _VERSIONS[version]
        layers: list[nn.Module] = [nn.Conv2d(3, channels, size, stride=2), nn.ReLU()]
        for part in parts.split():
            if part == "P":
                layers.append(nn.MaxPool2d(3, stride=2, ceil_mode=True))
                continue
            squeezed, expanded = map(int, part.split(","))
            layers.append(Fire(channels, squeezed, expanded, expanded))
            channels = 2 * expanded
        self.features = nn.Sequential(*layers)
        last = nn.Conv2d(channels, num_classes, 1)
        self.classifier = nn.Sequential(
            nn.Dropout(dropout), last, nn.ReLU(), nn.AdaptiveAvgPool2d((1, 1))
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                if module is last:
                    nn.init.normal_(module.weight, 0.0, 0.01)
                else:
                    nn.init.kaiming_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> Any:
        return self.classifier(self.features(x)).flatten(1)


@published(_PAPER)
def squeezenet1_0(**options: Any) -> SqueezeNet:
    """SqueezeNet 1.0; options as for `SqueezeNet`."""
    return SqueezeNet("1_0", **options)


@published(_PAPER)
def squeezenet1_1(**options: Any) -> SqueezeNet:
    """SqueezeNet 1.1; options as for `SqueezeNet`."""
    return SqueezeNet("1_1", **options)
