"""Convolution and pooling over one or two spatial axes, with ONNX's padding rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ... import functional as nn
from ... import functions as f
from ...errors import OnnxFormatError, OnnxUnsupportedError
from ...tensor import Tensor
from ..call import Call
from ..registry import operator

_LONGEST = 1 << 22
"""Pixels along a pooled axis; the share of padding is worked out per place, on the host."""

_COUNTABLE = 1 << 31
"""Beyond the integers of shaders; no real window comes near."""


@dataclass(frozen=True, slots=True)
class _Window:
    """The attributes of a window, always over two axes: one axis is a row of height 1."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[tuple[int, int], tuple[int, int]]


def _window(call: Call, x: Tensor, kernel: Sequence[int]) -> _Window:
    """The attributes that convolution and pooling share, checked."""
    axes = x.ndim - 2
    if axes not in (1, 2):
        raise OnnxUnsupportedError(
            f"{max(axes, 0)} spatial axes (input {x.shape}); Tallow has 1 and 2"
        )
    strides = _per_axis(call, "strides", axes)
    dilations = _per_axis(call, "dilations", axes)
    if len(kernel) != axes or any(k < 1 for k in kernel):
        raise OnnxFormatError(f"a kernel of {tuple(kernel)} for an input of shape {x.shape}")
    pads = _pads(call, x.shape[2:], kernel, strides, dilations)
    missing = 2 - axes
    return _Window(
        (*(1,) * missing, *kernel),  # type: ignore[arg-type]
        (*(1,) * missing, *strides),  # type: ignore[arg-type]
        (*(1,) * missing, *dilations),  # type: ignore[arg-type]
        (*((0, 0),) * missing, *pads),  # type: ignore[arg-type]
    )


def _per_axis(call: Call, name: str, axes: int) -> tuple[int, ...]:
    values = call.ints(name, (1,) * axes)
    if len(values) != axes or not all(1 <= value < _COUNTABLE for value in values):
        raise OnnxFormatError(f"{name} {values} for {axes} spatial axes")
    return values


def _pads(
    call: Call,
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[tuple[int, int]]:
    """(before, after) per axis, from `pads` or worked out for `auto_pad`."""
    axes = len(sizes)
    auto = call.choice("auto_pad", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
    given = call.ints("pads", None)
    if auto == "NOTSET":
        pads = given or (0,) * (2 * axes)
        if len(pads) != 2 * axes or not all(0 <= pad < _COUNTABLE for pad in pads):
            raise OnnxFormatError(f"pads {pads} for {axes} spatial axes")
        return [(pads[axis], pads[axis + axes]) for axis in range(axes)]
    if auto == "VALID":
        return [(0, 0)] * axes
    result = []
    for axis, size in enumerate(sizes):
        extent = (kernel[axis] - 1) * dilations[axis] + 1
        total = max((-(-size // strides[axis]) - 1) * strides[axis] + extent - size, 0)
        small, large = total // 2, total - total // 2
        result.append((small, large) if auto == "SAME_UPPER" else (large, small))
    return result


def _as_image(x: Tensor) -> Tensor:
    """A signal (n, c, length) as an image of height 1; images stay."""
    return f.expand_dims(x, 2) if x.ndim == 3 else x


def _as_before(result: Tensor, x: Tensor) -> Tensor:
    return f.squeeze(result, 2) if x.ndim == 3 else result


@operator("Conv")
def conv(call: Call, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    groups = call.get("group", int, 1)
    kernel = call.ints("kernel_shape", weight.shape[2:])
    if weight.ndim != x.ndim or kernel != weight.shape[2:]:
        raise OnnxFormatError(
            f"the weight {weight.shape} fits neither the input {x.shape} nor the kernel {kernel}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise OnnxFormatError(f"the bias {bias.shape} does not fit the weight {weight.shape}")
    window = _window(call, x, kernel)
    result = nn.conv2d(
        _as_image(x),
        _as_image(weight),
        bias,
        window.stride,
        window.padding,
        window.dilation,
        groups,
    )
    return _as_before(result, x)


def _pool_window(call: Call, x: Tensor) -> _Window:
    if x.dtype.kind == "b":
        raise OnnxFormatError("bool elements cannot be pooled")
    window = _window(call, x, call.ints("kernel_shape"))
    sizes = _as_image(x).shape[2:]
    for size, k, d, pads in zip(sizes, window.kernel, window.dilation, window.padding, strict=True):
        if size + sum(pads) > _LONGEST:
            raise OnnxUnsupportedError(f"pooling {x.shape} with pads {window.padding}")
        if max(pads) > d * (k - 1):
            raise OnnxFormatError(f"padding {pads} is wider than the window of {k} that it is for")
    return window


@operator("MaxPool")
def max_pool(call: Call, x: Tensor) -> Tensor:
    call.ignore("storage_order")  # of the indices, which are not computed
    window, ceil = _pool_window(call, x), call.flag("ceil_mode")
    result = nn.max_pool2d(
        _as_image(x), window.kernel, window.stride, window.padding, window.dilation, ceil
    )
    return _as_before(result, x)


@operator("AveragePool")
def average_pool(call: Call, x: Tensor) -> Tensor:
    window, ceil = _pool_window(call, x), call.flag("ceil_mode")
    result = nn.avg_pool2d(
        _as_image(x),
        window.kernel,
        window.stride,
        window.padding,
        ceil,
        call.flag("count_include_pad"),
        window.dilation,
    )
    return _as_before(result, x)


def _spatial(x: Tensor) -> tuple[int, ...]:
    if x.ndim < 3:
        raise OnnxFormatError(f"an input of shape {x.shape} has no spatial axes")
    return tuple(range(2, x.ndim))


@operator("GlobalAveragePool")
def global_average_pool(call: Call, x: Tensor) -> Tensor:
    return f.mean(x, _spatial(x), True)


@operator("GlobalMaxPool")
def global_max_pool(call: Call, x: Tensor) -> Tensor:
    return f.max(x, _spatial(x), True)
