"""LeNet-5 (LeCun et al. 1998, "Gradient-Based Learning Applied to Document Recognition")."""

from __future__ import annotations

from typing import Any

from .. import nn
from ..tensor import Tensor


class LeNet5(nn.Module):
    """Images (n, in_channels, 32, 32), or 28 x 28 with padding=2, to scores (n, num_classes).

    As it is drawn today: averages without weights, linear outputs instead of radial ones, and all
    channels of the first layer read by all of the second.
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1, padding: int = 0) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, 6, 5, padding=padding)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.pool = nn.AvgPool2d(2)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, num_classes)
        self.act = nn.Tanh()
        self.flatten = nn.Flatten()

    def forward(self, input: Tensor) -> Any:
        x = self.pool(self.act(self.conv1(input)))
        x = self.flatten(self.pool(self.act(self.conv2(x))))
        return self.fc3(self.act(self.fc2(self.act(self.fc1(x)))))
