"""GoogLeNet (Szegedy et al. 2015, "Going Deeper with Convolutions", table 1) with batch norm, and
with torchvision's names of modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ... import functional, nn
from ... import functions as f
from ...errors import OptionError
from ...tensor import Tensor
from .parts import BasicConv2d, Layer, renormalised, truncated
from .registry import published


class GoogLeNetOutputs(NamedTuple):
    """What the network gives in training: scores, and those of its two classifiers on the way."""

    logits: Tensor
    aux_logits2: Tensor | None
    aux_logits1: Tensor | None


class Inception(nn.Module):
    """Four branches side by side: convolutions of 1 x 1; 3 x 3; 5 x 5, which are 3 x 3 here, as in
    the published weights; and pooling. Numbers of channels, with "red" those before the larger
    kernel."""

    def __init__(
        self,
        in_channels: int,
        ch1x1: int,
        ch3x3red: int,
        ch3x3: int,
        ch5x5red: int,
        ch5x5: int,
        pool_proj: int,
        conv_block: Layer | None = None,
    ) -> None:
        super().__init__()
        conv = conv_block or BasicConv2d
        self.branch1 = conv(in_channels, ch1x1, kernel_size=1)
        self.branch2 = nn.Sequential(
            conv(in_channels, ch3x3red, kernel_size=1),
            conv(ch3x3red, ch3x3, kernel_size=3, padding=1),
        )
        self.branch3 = nn.Sequential(
            conv(in_channels, ch5x5red, kernel_size=1),
            conv(ch5x5red, ch5x5, kernel_size=3, padding=1),
        )
        self.branch4 = nn.Sequential(
            nn.MaxPool2d(3, stride=1, padding=1, ceil_mode=True),
            conv(in_channels, pool_proj, kernel_size=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        branches = (self.branch1, self.branch2, self.branch3, self.branch4)
        return f.concat([branch(x) for branch in branches], axis=1)


class InceptionAux(nn.Module):
    """A classifier of what a layer in the middle gives, for training."""

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        conv_block: Layer | None = None,
        dropout: float = 0.7,
    ) -> None:
        super().__init__()
        self.conv = (conv_block or BasicConv2d)(in_channels, 128, kernel_size=1)
        self.fc1 = nn.Linear(2048, 1024)
        self.fc2 = nn.Linear(1024, num_classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Any:
        x = self.conv(functional.adaptive_avg_pool2d(x, (4, 4))).flatten(1)
        return self.fc2(self.dropout(functional.relu(self.fc1(x))))


_INCEPTIONS: dict[str, tuple[int, int, int, int, int, int, int]] = {
    "inception3a": (192, 64, 96, 128, 16, 32, 32),
    "inception3b": (256, 128, 128, 192, 32, 96, 64),
    "inception4a": (480, 192, 96, 208, 16, 48, 64),
    "inception4b": (512, 160, 112, 224, 24, 64, 64),
    "inception4c": (512, 128, 128, 256, 24, 64, 64),
    "inception4d": (512, 112, 144, 288, 32, 64, 64),
    "inception4e": (528, 256, 160, 320, 32, 128, 128),
    "inception5a": (832, 256, 160, 320, 32, 128, 128),
    "inception5b": (832, 384, 192, 384, 48, 128, 128),
}


class GoogLeNet(nn.Module):
    """Images (n, 3, h, w), of 15 x 15 pixels or more, to scores (n, num_classes); in training with
    aux_logits to `GoogLeNetOutputs`.

    transform_input: images are prepared as for torchvision's other weights. init_weights: the
    initial values of the paper's successor, rather than the layers' own; None is True. blocks: the
    classes of convolutions, of `Inception` and of `InceptionAux`. dropout, dropout_aux: the
    probabilities in the classifiers. Raises OptionError for other than three blocks."""

    def __init__(
        self,
        num_classes: int = 1000,
        aux_logits: bool = True,
        transform_input: bool = False,
        init_weights: bool | None = None,
        blocks: Sequence[Layer] | None = None,
        dropout: float = 0.2,
        dropout_aux: float = 0.7,
    ) -> None:
        super().__init__()
        blocks = [BasicConv2d, Inception, InceptionAux] if blocks is None else blocks
        if len(blocks) != 3:
            raise OptionError(f"GoogLeNet: blocks are three classes, not {len(blocks)}")
        conv, inception, auxiliary = blocks
        self.aux_logits, self.transform_input = aux_logits, transform_input
        self.conv1 = conv(3, 64, kernel_size=7, stride=2, padding=3)
        self.maxpool1 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        self.conv2 = conv(64, 64, kernel_size=1)
        self.conv3 = conv(64, 192, kernel_size=3, padding=1)
        self.maxpool2 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
        for name, channels in _INCEPTIONS.items():
            self.add_module(name, inception(*channels))
            if name == "inception3b":
                self.maxpool3 = nn.MaxPool2d(3, stride=2, ceil_mode=True)
            elif name == "inception4e":
                self.maxpool4 = nn.MaxPool2d(2, stride=2, ceil_mode=True)
        self.aux1 = auxiliary(512, num_classes, dropout=dropout_aux) if aux_logits else None
        self.aux2 = auxiliary(528, num_classes, dropout=dropout_aux) if aux_logits else None
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(dropout)
        self.fc = nn.Linear(1024, num_classes)
        if init_weights is None or init_weights:
            truncated(self, 0.01, biases=False)

    def forward(self, x: Tensor) -> Any:
        x = renormalised(x) if self.transform_input else x
        x = self.maxpool2(self.conv3(self.conv2(self.maxpool1(self.conv1(x)))))
        x = self.maxpool3(self.inception3b(self.inception3a(x)))
        first = self.inception4a(x)
        second = self.inception4d(self.inception4c(self.inception4b(first)))
        x = self.maxpool4(self.inception4e(second))
        x = self.inception5b(self.inception5a(x))
        scores = self.fc(self.dropout(self.avgpool(x).flatten(1)))
        if not self.training or self.aux1 is None or self.aux2 is None:
            return scores
        return GoogLeNetOutputs(scores, self.aux2(second), self.aux1(first))


@published("Szegedy et al. 2015, arXiv:1409.4842")
def googlenet(**options: Any) -> GoogLeNet:
    """GoogLeNet; options as for `GoogLeNet`."""
    return GoogLeNet(**options)
