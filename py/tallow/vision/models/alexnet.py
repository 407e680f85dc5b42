"""AlexNet in one column (Krizhevsky 2014, "One weird trick for parallelizing convolutional neural
networks"), with torchvision's names of modules."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...tensor import Tensor
from .registry import published


class AlexNet(nn.Module):
    """Images (n, 3, h, w), of 63 x 63 pixels or more, to scores (n, num_classes). dropout: the
    probability in the classifier."""

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(),
            nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(),
            nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2),
        )  # fmt: skip
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(dropout), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(),
            nn.Dropout(dropout), nn.Linear(4096, 4096), nn.ReLU(),
            nn.Linear(4096, num_classes),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Any:
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


@published("Krizhevsky 2014, arXiv:1404.5997")
def alexnet(**options: Any) -> AlexNet:
    """AlexNet; options as for `AlexNet`."""
    return AlexNet(**options)
