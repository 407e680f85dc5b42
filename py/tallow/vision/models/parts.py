"""What several families of networks compute alike."""

from __future__ import annotations

import math
from collections.abc import Callable

from ... import nn

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


def truncated(root: nn.Module) -> None:
    """Initial values of convolutions and linear layers: normal with the deviation 0.02, without
    what lies beyond 2; biases 0."""
    for module in root.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.trunc_normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


def fan_in_truncated(layer: nn.Module) -> None:
    """A layer's initial values: normal, with the variance 1 / fan in; its bias 0."""
    fan, _ = nn.init.fans(layer.weight.shape)
    nn.init.trunc_normal_(layer.weight, std=math.sqrt(1 / fan))
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
