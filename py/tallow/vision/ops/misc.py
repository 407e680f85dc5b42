"""Parts that many networks for images share, with torchvision's names and arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import functions as f
from ... import nn
from ...errors import OptionError, ShapeError
from ...functional.windows import Size, numbers
from ...tensor import Tensor

Layer = Callable[..., nn.Module]
"""What makes a layer: a class, or a function with some of its arguments given."""


def stochastic_depth(input: Tensor, p: float, mode: str, training: bool = True) -> Tensor:
    """Puts whole samples to 0 at random in training, and divides the others by 1 - p.

    Every step draws anew, under `@tl.jit` too.

    input: numbers, (n, ...): what a residual branch gives.
    p: the probability of a 0.
    mode: "row" draws for each sample, "batch" once for all.
    training: False gives the input as it is.
    Returns: the result, in the shape of input.
    Raises: OptionError for a p that is not from 0 to 1, or another mode; ShapeError for an input
      without axes.
    Source: Huang et al. 2016, "Deep Networks with Stochastic Depth", section 3.
    """
    if not 0 <= p <= 1:
        raise OptionError(f"stochastic_depth: the probability p must be from 0 to 1, not {p}")
    if mode not in ("batch", "row"):
        raise OptionError(f"stochastic_depth: mode {mode!r} is neither 'batch' nor 'row'")
    if not input.ndim:
        raise ShapeError("stochastic_depth: the input has no axes, so no samples")
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0.0
    shape = (input.shape[0] if mode == "row" else 1, *(1,) * (input.ndim - 1))
    return input * ((f.rand(shape) >= p).astype(input.dtype) * (1 / (1 - p)))


class StochasticDepth(nn.Module):
    """Puts whole samples to 0 with the probability p in training. See `stochastic_depth`."""

    def __init__(self, p: float, mode: str) -> None:
        super().__init__()
        self.p, self.mode = p, mode

    def forward(self, input: Tensor) -> Tensor:
        return stochastic_depth(input, self.p, self.mode, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}, mode={self.mode}"


def _inplace(inplace: bool | None) -> dict[str, bool]:
    """The argument of an activation; None leaves it out, for those without one."""
    return {} if inplace is None else {"inplace": inplace}


class _ConvNormActivation(nn.Sequential):
    axes: int
    conv: Layer

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size = 3,
        stride: Size = 1,
        padding: Size | str | None = None,
        groups: int = 1,
        norm_layer: Layer | None = None,
        activation_layer: Layer | None = nn.ReLU,
        dilation: Size = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        if padding is None:
            sizes = numbers(kernel_size, self.axes, "kernel_size")
            steps = numbers(dilation, self.axes, "dilation")
            padding = tuple((k - 1) // 2 * d for k, d in zip(sizes, steps, strict=True))
        layers = [
            type(self).conv(
                in_channels, out_channels, kernel_size, stride, padding, dilation=dilation,
                groups=groups, bias=norm_layer is None if bias is None else bias,
            )
        ]  # fmt: skip
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer(**_inplace(inplace)))
        super().__init__(*layers)
        self.out_channels = out_channels


class Conv2dNormActivation(_ConvNormActivation):
    """A convolution of (n, in_channels, h, w), a normalisation, and an activation.

    padding: None keeps the size at stride 1. norm_layer, activation_layer: classes, or None for
    none. inplace: the activation's argument; None for an activation without one. bias: None gives
    the convolution one if nothing normalises."""

    axes = 2
    conv = nn.Conv2d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size = 3,
        stride: Size = 1,
        padding: Size | str | None = None,
        groups: int = 1,
        norm_layer: Layer | None = nn.BatchNorm2d,
        activation_layer: Layer | None = nn.ReLU,
        dilation: Size = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer,
            activation_layer, dilation, inplace, bias,
        )  # fmt: skip


class Conv3dNormActivation(_ConvNormActivation):
    """`Conv2dNormActivation` of volumes (n, in_channels, d, h, w)."""

    axes = 3
    conv = nn.Conv3d

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size = 3,
        stride: Size = 1,
        padding: Size | str | None = None,
        groups: int = 1,
        norm_layer: Layer | None = nn.BatchNorm3d,
        activation_layer: Layer | None = nn.ReLU,
        dilation: Size = 1,
        inplace: bool | None = True,
        bias: bool | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer,
            activation_layer, dilation, inplace, bias,
        )  # fmt: skip


class SqueezeExcitation(nn.Module):
    """Multiplies each channel of (n, input_channels, h, w) by a number that two layers compute from
    the means of all channels (Hu et al. 2018). squeeze_channels: those between the two layers."""

    def __init__(
        self,
        input_channels: int,
        squeeze_channels: int,
        activation: Layer = nn.ReLU,
        scale_activation: Layer = nn.Sigmoid,
    ) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation, self.scale_activation = activation(), scale_activation()

    def forward(self, input: Tensor) -> Tensor:
        scale = self.fc2(self.activation(self.fc1(self.avgpool(input))))
        result: Tensor = self.scale_activation(scale) * input
        return result


class MLP(nn.Sequential):
    """Linear layers, between them a normalisation, an activation and dropout, behind the last one
    dropout alone: (..., in_channels) to (..., hidden_channels[-1]).

    Raises OptionError without hidden_channels."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: Sequence[int],
        norm_layer: Layer | None = None,
        activation_layer: Layer = nn.ReLU,
        inplace: bool | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        if not hidden_channels:
            raise OptionError("MLP: hidden_channels is empty; give the width of each layer")
        option: dict[str, Any] = _inplace(inplace)
        layers: list[nn.Module] = []
        inputs = in_channels
        for number, width in enumerate(hidden_channels, 1):
            layers.append(nn.Linear(inputs, width, bias))
            if number < len(hidden_channels):
                if norm_layer is not None:
                    layers.append(norm_layer(width))
                layers.append(activation_layer(**option))
            layers.append(nn.Dropout(dropout, **option))
            inputs = width
        super().__init__(*layers)


class Permute(nn.Module):
    """Puts the axes into another order: `x.permute(dims)`."""

    def __init__(self, dims: Sequence[int]) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: Tensor) -> Tensor:
        return f.permute_dims(x, tuple(self.dims))
