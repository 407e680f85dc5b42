"""Inception v3 (Szegedy et al. 2016, "Rethinking the Inception Architecture for Computer Vision"),
with torchvision's names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ... import functional, nn
from ... import functions as f
from ...errors import OptionError
from ...tensor import Tensor
from .parts import BasicConv2d, Layer, renormalised
from .registry import published


class InceptionOutputs(NamedTuple):
    """What the network gives in training: scores, and those of its classifier on the way."""

    logits: Tensor
    aux_logits: Tensor | None


def _mean(x: Tensor) -> Any:
    """The mean of 3 x 3 around each pixel."""
    return functional.avg_pool2d(x, 3, stride=1, padding=1)


def _largest(x: Tensor) -> Any:
    return functional.max_pool2d(x, 3, stride=2)


class InceptionA(nn.Module):
    """Branches of 1 x 1, 5 x 5, twice 3 x 3, and pooling to pool_features channels (figure 5)."""

    def __init__(
        self, in_channels: int, pool_features: int, conv_block: Layer | None = None
    ) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch1x1 = conv(in_channels, 64, kernel_size=1)
        self.branch5x5_1 = conv(in_channels, 48, kernel_size=1)
        self.branch5x5_2 = conv(48, 64, kernel_size=5, padding=2)
        self.branch3x3dbl_1 = conv(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = conv(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = conv(96, 96, kernel_size=3, padding=1)
        self.branch_pool = conv(in_channels, pool_features, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        large = self.branch5x5_2(self.branch5x5_1(x))
        return f.concat([self.branch1x1(x), large, double, self.branch_pool(_mean(x))], axis=1)


class InceptionB(nn.Module):
    """Half the size, by 3 x 3, twice 3 x 3, and pooling (figure 10)."""

    def __init__(self, in_channels: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch3x3 = conv(in_channels, 384, kernel_size=3, stride=2)
        self.branch3x3dbl_1 = conv(in_channels, 64, kernel_size=1)
        self.branch3x3dbl_2 = conv(64, 96, kernel_size=3, padding=1)
        self.branch3x3dbl_3 = conv(96, 96, kernel_size=3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return f.concat([self.branch3x3(x), double, _largest(x)], axis=1)


class InceptionC(nn.Module):
    """Branches of 1 x 1, 7 x 7, twice 7 x 7, each as 1 x 7 and 7 x 1, and pooling (figure 6).
    channels_7x7: channels in the middle."""

    def __init__(
        self, in_channels: int, channels_7x7: int, conv_block: Layer | None = None
    ) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        middle = channels_7x7
        across = {"kernel_size": (1, 7), "padding": (0, 3)}
        down = {"kernel_size": (7, 1), "padding": (3, 0)}
        self.branch1x1 = conv(in_channels, 192, kernel_size=1)
        self.branch7x7_1 = conv(in_channels, middle, kernel_size=1)
        self.branch7x7_2 = conv(middle, middle, **across)
        self.branch7x7_3 = conv(middle, 192, **down)
        self.branch7x7dbl_1 = conv(in_channels, middle, kernel_size=1)
        self.branch7x7dbl_2 = conv(middle, middle, **down)
        self.branch7x7dbl_3 = conv(middle, middle, **across)
        self.branch7x7dbl_4 = conv(middle, middle, **down)
        self.branch7x7dbl_5 = conv(middle, 192, **across)
        self.branch_pool = conv(in_channels, 192, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        large = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        double = self.branch7x7dbl_5(self.branch7x7dbl_4(double))
        return f.concat([self.branch1x1(x), large, double, self.branch_pool(_mean(x))], axis=1)


class InceptionD(nn.Module):
    """Half the size, by 3 x 3, by 7 x 7 and 3 x 3, and pooling."""

    def __init__(self, in_channels: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch3x3_1 = conv(in_channels, 192, kernel_size=1)
        self.branch3x3_2 = conv(192, 320, kernel_size=3, stride=2)
        self.branch7x7x3_1 = conv(in_channels, 192, kernel_size=1)
        self.branch7x7x3_2 = conv(192, 192, kernel_size=(1, 7), padding=(0, 3))
        self.branch7x7x3_3 = conv(192, 192, kernel_size=(7, 1), padding=(3, 0))
        self.branch7x7x3_4 = conv(192, 192, kernel_size=3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        small = self.branch3x3_2(self.branch3x3_1(x))
        large = self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x)))
        return f.concat([small, self.branch7x7x3_4(large), _largest(x)], axis=1)


class InceptionE(nn.Module):
    """Branches whose last convolutions, 1 x 3 and 3 x 1, stand side by side (figure 7)."""

    def __init__(self, in_channels: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        across = {"kernel_size": (1, 3), "padding": (0, 1)}
        down = {"kernel_size": (3, 1), "padding": (1, 0)}
        self.branch1x1 = conv(in_channels, 320, kernel_size=1)
        self.branch3x3_1 = conv(in_channels, 384, kernel_size=1)
        self.branch3x3_2a = conv(384, 384, **across)
        self.branch3x3_2b = conv(384, 384, **down)
        self.branch3x3dbl_1 = conv(in_channels, 448, kernel_size=1)
        self.branch3x3dbl_2 = conv(448, 384, kernel_size=3, padding=1)
        self.branch3x3dbl_3a = conv(384, 384, **across)
        self.branch3x3dbl_3b = conv(384, 384, **down)
        self.branch_pool = conv(in_channels, 192, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        small = self.branch3x3_1(x)
        double = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        sides = [self.branch3x3_2a(small), self.branch3x3_2b(small)]
        sides += [self.branch3x3dbl_3a(double), self.branch3x3dbl_3b(double)]
        return f.concat([self.branch1x1(x), *sides, self.branch_pool(_mean(x))], axis=1)


class InceptionAux(nn.Module):
    """A classifier of what a layer in the middle gives, for training."""

    def __init__(self, in_channels: int, num_classes: int, conv_block: Layer | None = None) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.conv0 = conv(in_channels, 128, kernel_size=1)
        self.conv1 = conv(128, 768, kernel_size=5)
        self.fc = nn.Linear(768, num_classes)

    def forward(self, x: Tensor) -> Any:
        x = self.conv1(self.conv0(functional.avg_pool2d(x, 5, stride=3)))
        return self.fc(functional.adaptive_avg_pool2d(x, (1, 1)).flatten(1))


class Inception3(nn.Module):
    """Images (n, 3, h, w), of 75 x 75 pixels or more, to scores (n, num_classes); in training with
    aux_logits to `InceptionOutputs`.

    transform_input: images are prepared as for torchvision's other weights. inception_blocks: the
    seven classes of convolutions, blocks A to E, and of the classifier on the way. init_weights:
    the paper's initial values, rather than the layers' own; None is True. dropout: the probability
    in the classifier. Raises OptionError for other than seven classes."""

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        inception_blocks: Sequence[Layer] | None = None,
        init_weights: bool | None = None,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        kinds: Sequence[Layer] = inception_blocks or _BLOCKS
        if len(kinds) != len(_BLOCKS):
            raise OptionError(f"Inception3: inception_blocks are seven classes, not {len(kinds)}")
        conv, a, b, c, d, e, auxiliary = kinds
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.Conv2d_1a_3x3 = conv(3, 32, kernel_size=3, stride=2)
        self.Conv2d_2a_3x3 = conv(32, 32, kernel_size=3)
        self.Conv2d_2b_3x3 = conv(32, 64, kernel_size=3, padding=1)
        self.maxpool1 = nn.MaxPool2d(3, stride=2)
        self.Conv2d_3b_1x1 = conv(64, 80, kernel_size=1)
        self.Conv2d_4a_3x3 = conv(80, 192, kernel_size=3)
        self.maxpool2 = nn.MaxPool2d(3, stride=2)
        self.Mixed_5b = a(192, pool_features=32)
        self.Mixed_5c = a(256, pool_features=64)
        self.Mixed_5d = a(288, pool_features=64)
        self.Mixed_6a = b(288)
        self.Mixed_6b = c(768, channels_7x7=128)
        self.Mixed_6c = c(768, channels_7x7=160)
        self.Mixed_6d = c(768, channels_7x7=160)
        self.Mixed_6e = c(768, channels_7x7=192)
        self.AuxLogits = auxiliary(768, num_classes) if aux_logits else None
        self.Mixed_7a = d(768)
        self.Mixed_7b = e(1280)
        self.Mixed_7c = e(2048)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(2048, num_classes)
        if init_weights is None or init_weights:
            self._initialise()

    def _initialise(self) -> None:
        """Truncated normal values; the classifier on the way has smaller ones."""
        own = {"AuxLogits.conv1.conv": 0.01, "AuxLogits.fc": 0.001}
        for path, module in self.named_modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.trunc_normal_(module.weight, std=own.get(path, 0.1))

    def forward(self, x: Tensor) -> Any:
        x = renormalised(x) if self.transform_input else x
        x = self.maxpool1(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))))
        x = self.maxpool2(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)))
        x = self.Mixed_6a(self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x))))
        middle = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(x))))
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(middle)))
        scores = self.fc(self.dropout(self.avgpool(x)).flatten(1))
        if not self.training or self.AuxLogits is None:
            return scores
        return InceptionOutputs(scores, self.AuxLogits(middle))


_BLOCKS = (
    BasicConv2d, InceptionA, InceptionB, InceptionC, InceptionD, InceptionE, InceptionAux,
)  # fmt: skip


@published("Szegedy et al. 2016, arXiv:1512.00567", 299)
def inception_v3(**options: Any) -> Inception3:
    """Inception v3; options as for `Inception3`."""
    return Inception3(**options)
