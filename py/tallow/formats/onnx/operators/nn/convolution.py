"""Convolution over any number of spatial axes, composed of two-dimensional convolutions."""

from __future__ import annotations

import math

from ..... import functional as nn
from ..... import functions as f
from .....core import dtype as dt
from .....core.dtype import DType
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....functional.convolution import convolved
from .....tensor import Tensor
from ...call import Call
from ...registry import operator
from .spatial import Window, read_window, working

_MAX_TAPS = 1024
"""Over three or more axes, the most planes of a kernel, each of which is a convolution."""

_EXACT = 1024
"""How many products of a 9-bit and a 5-bit number float32 sums exactly, even in a Winograd
convolution, whose transforms double them twice."""


def convolve(x: Tensor, weight: Tensor, window: Window, groups: int) -> Tensor:
    """Cross-correlation of x (n, c, *spatial) with weight (o, c / groups, *kernel).

    More than two axes become a sum of convolutions over the last two, one per plane of the kernel.
    """
    axes = window.axes
    if any(count < 1 for count in window.counts(x.shape[2:])):
        raise OnnxFormatError(
            f"a kernel of {window.kernel} with dilations {window.dilation} does not fit into "
            f"{x.shape} with pads {window.pads}"
        )
    if math.prod(window.kernel[:-2]) > _MAX_TAPS:
        raise OnnxUnsupportedError(f"a kernel of {window.kernel} is too large")
    last = f.permute_dims(x, (0, *range(2, axes + 2), 1))
    result = convolved(last, weight, window.stride, window.pads, window.dilation, groups)
    return f.permute_dims(result, (0, axes + 1, *range(1, axes + 1)))


def _check(call: Call, x: Tensor, weight: Tensor) -> tuple[Window, int]:
    """The window and the groups; OnnxFormatError for operands that do not fit together."""
    groups = call.get("group", int, 1)
    kernel = call.ints("kernel_shape", weight.shape[2:])
    if weight.ndim != x.ndim or kernel != weight.shape[2:]:
        raise OnnxFormatError(
            f"the weight {weight.shape} fits neither the input {x.shape} nor the kernel {kernel}"
        )
    window = read_window(call, x, kernel)
    if groups < 1 or x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise OnnxFormatError(
            f"the input {x.shape} and the weight {weight.shape} do not fit in {groups} groups"
        )
    return window, groups


def with_bias(result: Tensor, bias: Tensor | None, kind: DType) -> Tensor:
    """Adds the bias per channel, if there is one, and converts to the element type.

    Raises OnnxFormatError if the bias does not have one number per channel.
    """
    if bias is None:
        return result.astype(kind)
    if bias.shape != result.shape[1:2]:
        raise OnnxFormatError(f"the bias {bias.shape} does not fit {result.shape[1]} channels")
    shift = f.reshape(working(bias), (-1, *[1] * (result.ndim - 2)))
    return (result + shift).astype(kind)


@operator("Conv")
def conv(call: Call, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A convolution with any number of axes."""
    window, groups = _check(call, x, weight)
    return with_bias(convolve(working(x), working(weight), window, groups), bias, x.dtype)


@operator("ConvInteger", since=10)
def conv_integer(
    call: Call,
    x: Tensor,
    weight: Tensor,
    x_zero: Tensor | None = None,
    weight_zero: Tensor | None = None,
) -> Tensor:
    """Exact int32 sums, from float32 convolutions whose sums stay below 2^24.

    Long sums are split into the weights' upper bits and lower four bits, over as many channels at a
    time as stay exact.
    """
    window, groups = _check(call, x, weight)
    x, weight = x.astype(dt.int32), weight.astype(dt.int32)
    if x_zero is not None:
        if x_zero.size != 1:
            raise OnnxFormatError(
                f"x_zero_point must be one number, but its shape is {x_zero.shape}"
            )
        x = x - f.reshape(x_zero, ()).astype(dt.int32)
    if weight_zero is not None:
        if weight_zero.size not in (1, weight.shape[0]):
            raise OnnxFormatError(
                f"w_zero_point {weight_zero.shape} does not fit {weight.shape[0]} channels"
            )
        zero = f.reshape(weight_zero, (-1, *[1] * (weight.ndim - 1)))
        weight = weight - zero.astype(dt.int32)
    taps = math.prod(window.kernel)
    if taps > _EXACT:
        raise OnnxUnsupportedError(f"a kernel of {window.kernel} is too large")
    if taps * weight.shape[1] * 16 <= _EXACT:
        return _exact(x, weight, window, groups)
    high = f.bitwise_right_shift(weight, 4)
    low = f.bitwise_and(weight, 15)
    step = weight.shape[1] if groups > 1 else _EXACT // taps
    if taps * step > _EXACT:
        raise OnnxUnsupportedError(
            f"{step} channels per group with a kernel of {window.kernel} are too many"
        )
    total = None
    for start in range(0, weight.shape[1], step):
        channels = x if groups > 1 else x[:, start : start + step]
        parts = (w[:, start : start + step] for w in (high, low))
        upper, lower = (_exact(channels, part, window, groups) for part in parts)
        part = upper * 16 + lower
        total = part if total is None else total + part
    assert total is not None
    return total


def _exact(x: Tensor, weight: Tensor, window: Window, groups: int) -> Tensor:
    result = convolve(x.astype(dt.float32), weight.astype(dt.float32), window, groups)
    return f.round(result).astype(dt.int32)


@operator("CausalConvWithState", since=27)
def causal_conv_with_state(
    call: Call,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    past: Tensor | None = None,
) -> list[Tensor]:
    """Convolves each channel with its own kernel, over past and present; returns the new state."""
    activation = call.choice("activation", "none", "silu", "swish")
    if x.ndim != 3 or weight.ndim != 3 or weight.shape[:2] != (x.shape[1], 1) or not weight.size:
        raise OnnxFormatError(f"the weight {weight.shape} does not fit the input {x.shape}")
    state = weight.shape[2] - 1
    if past is None:
        whole = f.pad(x, [(0, 0), (0, 0), (state, 0)])
    elif past.shape != (*x.shape[:2], state):
        raise OnnxFormatError(f"the state is {past.shape}, expected {(*x.shape[:2], state)}")
    else:
        whole = f.concat([past, x], 2)
    window = Window((state + 1,), (1,), (1,), ((0, 0),))
    total = convolve(working(whole), working(weight), window, x.shape[1])
    result = with_bias(total, bias, x.dtype)
    if activation != "none":
        result = nn.silu(working(result)).astype(x.dtype)
    return [result, whole[:, :, whole.shape[2] - state :]]
