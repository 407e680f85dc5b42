"""MnasNet-B1 (Tan et al. 2019, "MnasNet: Platform-Aware Neural Architecture Search for Mobile"),
with torchvision's names of modules."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...errors import OptionError
from ...tensor import Tensor
from .parts import divisible, he_normal
from .registry import published

_PAPER = "Tan et al. 2019, arXiv:1807.11626"

_MOMENTUM = 0.0003
"""By how much running statistics move: the paper's 1 - 0.9997."""


def _conv(
    inputs: int, outputs: int, size: int = 1, stride: int = 1, groups: int = 1, *,
    relu: bool = True, momentum: float = _MOMENTUM,
) -> list[nn.Module]:  # fmt: skip
    conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    layers: list[nn.Module] = [conv, nn.BatchNorm2d(outputs, momentum=momentum)]
    return [*layers, nn.ReLU()] if relu else layers


class _InvertedResidual(nn.Module):
    """More channels, a convolution of each by itself, fewer channels; the input is added if shapes
    agree. Raises OptionError for a stride other than 1 and 2, or a kernel other than 3 and 5."""

    def __init__(
        self,
        in_ch: int,
        out_ch: int,
        kernel_size: int,
        stride: int,
        expansion_factor: int,
        bn_momentum: float = 0.1,
    ) -> None:
        super().__init__()
        if stride not in (1, 2) or kernel_size not in (3, 5):
            raise OptionError(
                f"MNASNet: stride {stride} must be 1 or 2, and kernel_size {kernel_size} 3 or 5"
            )
        hidden = in_ch * expansion_factor
        self.apply_residual = in_ch == out_ch and stride == 1
        self.layers = nn.Sequential(
            *_conv(in_ch, hidden, momentum=bn_momentum),
            *_conv(hidden, hidden, kernel_size, stride, hidden, momentum=bn_momentum),
            *_conv(hidden, out_ch, relu=False, momentum=bn_momentum),
        )

    def forward(self, input: Tensor) -> Any:
        result = self.layers(input)
        return result + input if self.apply_residual else result


def _channels(depth: float) -> int:
    """A number of channels as a multiple of 8, which is rarely rounded down."""
    return divisible(depth, 8)


_STACKS = (
    (24, 3, 2, 3, 3), (40, 5, 2, 3, 3), (80, 5, 2, 6, 3), (96, 3, 1, 6, 2), (192, 5, 2, 6, 4),
    (320, 3, 1, 6, 1),
)  # fmt: skip
"""Figure 7 of the paper: channels, kernel, stride, expansion, blocks."""


class MNASNet(nn.Module):
    """Images (n, 3, h, w) to scores (n, num_classes). alpha: by how much there are more channels
    than in the paper. dropout: the probability in the classifier. Raises OptionError for an alpha
    that is not positive."""

    def __init__(self, alpha: float, num_classes: int = 1000, dropout: float = 0.2) -> None:
        super().__init__()
        if alpha <= 0:
            raise OptionError(f"MNASNet: alpha must be positive, not {alpha}")
        self.alpha, self.num_classes = alpha, num_classes
        first, inputs = _channels(32 * alpha), _channels(16 * alpha)
        layers = [
            *_conv(3, first, 3, 2), *_conv(first, first, 3, 1, first),
            *_conv(first, inputs, relu=False),
        ]  # fmt: skip
        for width, kernel, stride, expansion, count in _STACKS:
            outputs = _channels(width * alpha)
            blocks = []
            for number in range(count):
                step = 1 if number else stride
                blocks.append(
                    _InvertedResidual(inputs, outputs, kernel, step, expansion, _MOMENTUM)
                )
                inputs = outputs
            layers.append(nn.Sequential(*blocks))
        self.layers = nn.Sequential(*layers, *_conv(inputs, 1280))
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, num_classes))
        he_normal(self, _by_fan_out)

    def forward(self, x: Tensor) -> Any:
        return self.classifier(self.layers(x).mean((2, 3)))


def _by_fan_out(module: nn.Linear) -> None:
    nn.init.kaiming_uniform_(module.weight, mode="fan_out", nonlinearity="sigmoid")


@published(_PAPER)
def mnasnet0_5(**options: Any) -> MNASNet:
    """MnasNet with half the channels; options as for `MNASNet`."""
    return MNASNet(0.5, **options)


@published(_PAPER)
def mnasnet0_75(**options: Any) -> MNASNet:
    """MnasNet with three quarters of the channels; options as for `MNASNet`."""
    return MNASNet(0.75, **options)


@published(_PAPER)
def mnasnet1_0(**options: Any) -> MNASNet:
    """MnasNet; options as for `MNASNet`."""
    return MNASNet(1.0, **options)


@published(_PAPER)
def mnasnet1_3(**options: Any) -> MNASNet:
    """MnasNet with 1.3 times the channels; options as for `MNASNet`."""
    return MNASNet(1.3, **options)
