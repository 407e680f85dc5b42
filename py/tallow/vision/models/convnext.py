"""ConvNeXt (Liu et al. 2022, "A ConvNet for the 2020s"), with torchvision's names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from ... import functions as f
from ... import nn
from ...errors import OptionError
from ...tensor import Tensor
from ..ops.misc import Conv2dNormActivation, Permute, StochasticDepth
from .parts import Layer, truncated
from .registry import published

_PAPER = "Liu et al. 2022, arXiv:2201.03545"


class LayerNorm2d(nn.LayerNorm):
    """`nn.LayerNorm` over the channels of (n, c, h, w)."""

    def forward(self, x: Tensor) -> Tensor:
        last = super().forward(f.permute_dims(x, (0, 2, 3, 1)))
        return f.permute_dims(last, (0, 3, 1, 2))


class CNBlock(nn.Module):
    """A convolution of 7 x 7 of each channel by itself, and two linear layers over the channels;
    what they give is scaled by channel and added to the input. layer_scale: the first scale.
    stochastic_depth_prob: the probability with which a sample leaves the block out in training."""

    def __init__(
        self,
        dim: int,
        layer_scale: float,
        stochastic_depth_prob: float,
        norm_layer: Layer | None = None,
    ) -> None:
        super().__init__()
        norm = norm_layer or partial(nn.LayerNorm, eps=1e-6)
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, 7, padding=3, groups=dim), Permute((0, 2, 3, 1)), norm(dim),
            nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), Permute((0, 3, 1, 2)),
        )  # fmt: skip
        self.layer_scale = nn.Parameter(f.full((dim, 1, 1), float(layer_scale)))
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input: Tensor) -> Any:
        return input + self.stochastic_depth(self.layer_scale * self.block(input))


class CNBlockConfig(NamedTuple):
    """A stage: its channels, those of the next one (None for the last), and its blocks."""

    input_channels: int
    out_channels: int | None
    num_layers: int


class ConvNeXt(nn.Module):
    """Images (n, 3, h, w), of 32 x 32 pixels or more, to scores (n, num_classes).

    block_setting: a configuration for each stage. stochastic_depth_prob: the probability with which
    a sample leaves out the last block; earlier ones have less, down to 0. layer_scale: the first
    scale of each block. block, norm_layer: classes; norm_layer is of (n, c, h, w). Raises
    OptionError without a setting."""

    def __init__(
        self,
        block_setting: Sequence[CNBlockConfig],
        stochastic_depth_prob: float = 0.0,
        layer_scale: float = 1e-6,
        num_classes: int = 1000,
        block: Layer | None = None,
        norm_layer: Layer | None = None,
    ) -> None:
        super().__init__()
        if not block_setting:
            raise OptionError("ConvNeXt: block_setting is empty; it needs stages")
        block = block or CNBlock
        norm = norm_layer or partial(LayerNorm2d, eps=1e-6)
        first = block_setting[0].input_channels
        layers: list[nn.Module] = [
            Conv2dNormActivation(3, first, 4, 4, 0, 1, norm, None, bias=True)
        ]  # fmt: skip
        total, number = sum(stage.num_layers for stage in block_setting), 0
        for inputs, outputs, count in block_setting:
            blocks = []
            for _ in range(count):
                share = number / (total - 1.0) if total > 1 else 0.0
                blocks.append(block(inputs, layer_scale, stochastic_depth_prob * share))
                number += 1
            layers.append(nn.Sequential(*blocks))
            if outputs is not None:
                layers.append(nn.Sequential(norm(inputs), nn.Conv2d(inputs, outputs, 2, 2)))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        last = block_setting[-1].out_channels or block_setting[-1].input_channels
        self.classifier = nn.Sequential(norm(last), nn.Flatten(1), nn.Linear(last, num_classes))
        truncated(self)

    def forward(self, x: Tensor) -> Any:
        return self.classifier(self.avgpool(self.features(x)))


def _network(width: int, deep: int, depth_prob: float, options: dict[str, Any]) -> ConvNeXt:
    widths = [width, 2 * width, 4 * width, 8 * width, None]
    counts = (3, 3, deep, 3)
    setting = [CNBlockConfig(widths[i] or 0, widths[i + 1], counts[i]) for i in range(4)]
    return ConvNeXt(setting, **{"stochastic_depth_prob": depth_prob, **options})


@published(_PAPER)
def convnext_tiny(**options: Any) -> ConvNeXt:
    """ConvNeXt-T; options as for `ConvNeXt`."""
    return _network(96, 9, 0.1, options)


@published(_PAPER)
def convnext_small(**options: Any) -> ConvNeXt:
    """ConvNeXt-S; options as for `ConvNeXt`."""
    return _network(96, 27, 0.4, options)


@published(_PAPER)
def convnext_base(**options: Any) -> ConvNeXt:
    """ConvNeXt-B; options as for `ConvNeXt`."""
    return _network(128, 27, 0.5, options)


@published(_PAPER)
def convnext_large(**options: Any) -> ConvNeXt:
    """ConvNeXt-L; options as for `ConvNeXt`."""
    return _network(192, 27, 0.5, options)
