"""Pooling of images (n, c, h, w)."""

from __future__ import annotations

import math
from typing import Any

from .. import functions as f
from ..errors import ShapeError
from ..graph import constant, make
from ..hostarray import from_values
from ..op import Window
from ..ops import window
from ..shape import positions_inside
from ..tensor import Tensor
from .windows import (
    Padding,
    Pair,
    ceil_pads,
    channels_first,
    channels_last,
    check_window,
    pads_of,
    pair,
)


def max_pool2d(
    x: Tensor,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    dilation: Pair = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of x (n, c, h, w); padding is never the largest."""
    kernel, dilations = pair(kernel_size, "max_pool2d"), pair(dilation, "max_pool2d dilation")
    strides = kernel if stride is None else pair(stride, "max_pool2d stride")
    pads = pads_of(padding, "max_pool2d")
    _check_pool("max_pool2d", x, kernel, strides, pads, dilations)
    if ceil_mode:
        pads = ceil_pads(x, kernel, strides, pads, dilations)
    return _pool(window.max_pool2d, x, kernel, strides, pads, dilations)


def _check_pool(name: str, x: Tensor, kernel: Any, stride: Any, pads: Any, dilation: Any) -> None:
    if x.ndim != 4:
        raise ShapeError(f"{name}: expected an input (n, c, h, w), got {x.shape}")
    check_window(name, x.shape, kernel, stride, pads, dilation)


def _pool(op: Window, x: Tensor, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Tensor:
    """Applies a channels-last pooling op to x (n, c, h, w)."""
    attrs = {"kernel": kernel, "stride": stride, "padding": pads, "dilation": dilation}
    return channels_first(Tensor(make(op, channels_last(x).node, **attrs)))


def sum_pool2d(
    x: Tensor,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    dilation: Pair = 1,
) -> Tensor:
    """The sum of each window of x (n, c, h, w), padding counted as 0."""
    kernel, dilations = pair(kernel_size, "sum_pool2d"), pair(dilation, "sum_pool2d dilation")
    strides = kernel if stride is None else pair(stride, "sum_pool2d stride")
    pads = pads_of(padding, "sum_pool2d")
    _check_pool("sum_pool2d", x, kernel, strides, pads, dilations)
    return _pool(window.sum_pool2d, x, kernel, strides, pads, dilations)


def avg_pool2d(
    x: Tensor,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    dilation: Pair = 1,
) -> Tensor:
    """The mean of each window of x (n, c, h, w).

    count_include_pad: padding counts as zeros (but never what ceil_mode adds beyond it).
    """
    kernel, dilations = pair(kernel_size, "avg_pool2d"), pair(dilation, "avg_pool2d dilation")
    strides = kernel if stride is None else pair(stride, "avg_pool2d stride")
    pads = given = pads_of(padding, "avg_pool2d")
    _check_pool("avg_pool2d", x, kernel, strides, pads, dilations)
    if ceil_mode:
        pads = ceil_pads(x, kernel, strides, pads, dilations)
    result = sum_pool2d(x, kernel, strides, pads, dilations)
    counts = []
    for axis in range(2):
        low, high = given[axis] if count_include_pad else (0, 0)
        first, last = -low, x.shape[2 + axis] + high
        starts = range(-pads[axis][0], -pads[axis][0] + result.shape[2 + axis] * strides[axis],
                       strides[axis])  # fmt: skip
        k, d = kernel[axis], dilations[axis]
        counts.append([positions_inside(start, k, d, first, last) for start in starts])
    # A window that covers only padding has no mean.
    rows, columns = ([1.0 / n if n else math.nan for n in side] for side in counts)
    if len(set(counts[0])) == 1 and len(set(counts[1])) == 1:
        return result * (rows[0] * columns[0])
    inverse = [
        Tensor(constant(from_values(side, shape, x.dtype)))
        for side, shape in ((rows, (len(rows), 1)), (columns, (1, len(columns))))
    ]
    return result * (inverse[0] * inverse[1])


def global_avg_pool(x: Tensor) -> Tensor:
    """The mean over all axes after the first two, which are kept with length 1."""
    return f.mean(x, axis=tuple(range(2, x.ndim)), keepdims=True)
