"""What several families of networks compute alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import functional, nn
from ... import functions as f
from ...tensor import Tensor

Layer = Callable[..., nn.Module]
"""What makes a layer: a class, or a function with some of its arguments given."""


def divisible(value: float, divisor: int, least: int | None = None) -> int:
    """The multiple of divisor next to a number of channels, at least `least` (the divisor, if None)
    and not below nine tenths of the number (Sandler et al. 2018, in the authors' code)."""
    rounded = max(least or divisor, int(value + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * value else rounded


def he_normal(root: nn.Module, linear: Callable[[nn.Linear], object]) -> None:
    """Initial values: normal ones by the fan out in convolutions (He et al. 2015), weight 1 in
    normalisations, biases 0. linear: what gives the weight of a linear layer its values."""
    for module in root.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
            if module.weight is not None:
                nn.init.ones_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Linear):
            linear(module)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def small_normal(module: nn.Linear) -> None:
    """A linear layer's weight, with the deviation 0.01."""
    nn.init.normal_(module.weight, 0.0, 0.01)


def truncated(root: nn.Module, std: float = 0.02, *, biases: bool = True) -> None:
    """Initial values of convolutions and linear layers: normal with the deviation std, without
    what lies beyond 2. biases: those become 0."""
    for module in root.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.trunc_normal_(module.weight, std=std)
            if biases and module.bias is not None:
                nn.init.zeros_(module.bias)


def truncated_linear(root: nn.Module) -> None:
    """As `truncated`, of linear layers alone."""
    for module in root.modules():
        if isinstance(module, nn.Linear):
            truncated(module)


def fan_in_truncated(layer: nn.Module) -> None:
    """A layer's initial values: normal, with the variance 1 / fan in; its bias 0."""
    fan, _ = nn.init.fans(layer.weight.shape)
    nn.init.trunc_normal_(layer.weight, std=math.sqrt(1 / fan))
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


class BasicConv2d(nn.Module):
    """A convolution without a bias, batch norm, ReLU: what the Inception networks consist of.
    options: the convolution's."""

    def __init__(self, in_channels: int, out_channels: int, **options: Any) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, bias=False, **options)
        self.bn = nn.BatchNorm2d(out_channels, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.bn(self.conv(x)))


_MEANS = (0.485, 0.456, 0.406)
_DEVIATIONS = (0.229, 0.224, 0.225)


def renormalised(x: Tensor) -> Tensor:
    """Images (n, 3, h, w) that are normalised by the means and deviations of ImageNet's channels,
    from -1 to 1 instead."""
    scale = f.reshape(f.tensor([each / 0.5 for each in _DEVIATIONS]), (3, 1, 1))
    shift = f.reshape(f.tensor([(each - 0.5) / 0.5 for each in _MEANS]), (3, 1, 1))
    return x * scale + shift
