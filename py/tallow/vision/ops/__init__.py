"""Parts of networks for images, under torchvision's names."""

from .misc import (
    MLP,
    Conv2dNormActivation,
    Conv3dNormActivation,
    Permute,
    SqueezeExcitation,
    StochasticDepth,
    stochastic_depth,
)

__all__ = [
    "MLP", "Conv2dNormActivation", "Conv3dNormActivation", "Permute", "SqueezeExcitation",
    "StochasticDepth", "stochastic_depth",
]  # fmt: skip
