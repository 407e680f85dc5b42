"""Transposed convolution, and Col2Im, over any number of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..... import functions as f
from .....core import dtype as dt
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....tensor import Tensor
from ...call import Call
from ...registry import operator
from .convolution import convolve, with_bias
from .spatial import (
    COUNTABLE,
    Window,
    given_pads,
    per_axis,
    read_auto_pad,
    spatial_axes,
    split_padding,
    working,
)

_MAX_PHASES = 4096
"""The most outputs per input element: the inner convolution has as many channels for each output
channel."""


def transposed(
    x: Tensor, weight: Tensor, window: Window, groups: int, sizes: Sequence[int]
) -> Tensor:
    """The transpose of `convolve`: x (n, c, *spatial), weight (c, o / groups, *kernel).

    window.pads: how much to crop before the full result; `sizes` are the lengths that remain. Along
    an axis with stride s, output q * s + r is a sum over x[q - j] * weight[j * s + r]: for every r
    a convolution of x with a part of the flipped kernel. Together they are one convolution with s
    times the channels, whose results are then interleaved; so no time is spent on inserted zeros.
    """
    axes = window.axes
    if max(window.stride) > 1:
        weight = _spread(weight, window)
        window = replace(window, kernel=weight.shape[2:], dilation=(1,) * axes)
    else:
        weight = f.flip(weight, tuple(range(2, axes + 2)))
    if math.prod(window.stride) > _MAX_PHASES:
        raise OnnxUnsupportedError(f"strides of {window.stride} are too large")
    each, per_group = weight.shape[1], x.shape[1] // groups
    steps, borders, cuts = [], [(0, 0), (0, 0)], []
    for axis, stride in enumerate(window.stride):
        taps = -(-window.extent(axis) // stride)  # of each phase
        first = window.pads[axis][0] // stride
        last = -(-(window.pads[axis][0] + sizes[axis]) // stride)
        steps.append(taps if stride > 1 else window.kernel[axis])
        borders.append((taps - 1 - first, last - x.shape[2 + axis]))
        cuts.append(window.pads[axis][0] - first * stride)
    # A negative border crops x; the rest is the convolution's own padding.
    x = f.pad(x, [(min(low, 0), min(high, 0)) for low, high in borders])
    pads = tuple((max(low, 0), max(high, 0)) for low, high in borders[2:])
    ones = (1,) * axes
    inner = Window(tuple(steps), ones, window.dilation, pads)
    phases = math.prod(window.stride)
    kernel = _phases(weight, window.stride, tuple(steps))  # (c, *stride, o / groups, *steps)
    kernel = f.reshape(kernel, (groups, per_group, phases * each, *steps))
    kernel = f.permute_dims(kernel, (0, 2, 1, *range(3, 3 + axes)))
    kernel = f.reshape(kernel, (groups * phases * each, per_group, *steps))
    result = convolve(x, kernel, inner, groups)
    if phases > 1:
        result = _interleaved(result, window.stride, groups, each)
    cut = [slice(start, start + size) for start, size in zip(cuts, sizes, strict=True)]
    return result[(slice(None), slice(None), *cut)]


def _spread(weight: Tensor, window: Window) -> Tensor:
    """The kernel with the zeros of its dilation inserted."""
    for axis, dilation in enumerate(window.dilation, 2):
        if dilation > 1:
            shape = weight.shape
            apart = f.expand_dims(weight, axis + 1)
            pads = [(0, 0)] * apart.ndim
            pads[axis + 1] = (0, dilation - 1)
            wide = f.reshape(
                f.pad(apart, pads), (*shape[:axis], shape[axis] * dilation, *shape[axis + 1 :])
            )
            index = [slice(None)] * wide.ndim
            index[axis] = slice(0, (shape[axis] - 1) * dilation + 1)
            weight = wide[tuple(index)]
    return weight


def _phases(weight: Tensor, stride: tuple[int, ...], steps: tuple[int, ...]) -> Tensor:
    """(c, o, *kernel) to (c, *stride, o, *steps), each part of the kernel flipped."""
    axes = len(stride)
    if max(stride) == 1:
        return f.reshape(weight, (weight.shape[0], *stride, *weight.shape[1:]))
    pads = [(0, steps[a] * stride[a] - weight.shape[2 + a]) for a in range(axes)]
    weight = f.pad(weight, [(0, 0), (0, 0), *pads])
    parts = [part for pair in zip(steps, stride, strict=True) for part in pair]
    weight = f.reshape(weight, (*weight.shape[:2], *parts))
    weight = f.flip(weight, tuple(range(2, 2 + 2 * axes, 2)))
    phase_axes, step_axes = range(3, 3 + 2 * axes, 2), range(2, 2 + 2 * axes, 2)
    return f.permute_dims(weight, (0, *phase_axes, 1, *step_axes))


def _interleaved(x: Tensor, stride: tuple[int, ...], groups: int, each: int) -> Tensor:
    """(n, groups * phases * each, *q) to (n, groups * each, *(q * stride))."""
    axes, spatial = len(stride), x.shape[2:]
    last = f.permute_dims(x, (0, *range(2, 2 + axes), 1))
    phases = f.reshape(last, (x.shape[0], *spatial, groups, *stride, each))
    order = [axis for a in range(axes) for axis in (1 + a, 2 + axes + a)]
    interleaved = f.permute_dims(phases, (0, *order, 1 + axes, 2 + 2 * axes))
    sizes = [q * s for q, s in zip(spatial, stride, strict=True)]
    whole = f.reshape(interleaved, (x.shape[0], *sizes, groups * each))
    return f.permute_dims(whole, (0, axes + 1, *range(1, axes + 1)))


@operator("ConvTranspose")
def _conv_transpose(call: Call, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    axes = spatial_axes(x)
    groups = call.get("group", int, 1)
    kernel = call.ints("kernel_shape", weight.shape[2:])
    if weight.ndim != x.ndim or kernel != weight.shape[2:] or not all(kernel):
        raise OnnxFormatError(
            f"the weight {weight.shape} fits neither the input {x.shape} nor the kernel {kernel}"
        )
    if groups < 1 or x.shape[1] != weight.shape[0] or x.shape[1] % groups:
        raise OnnxFormatError(
            f"the input {x.shape} and the weight {weight.shape} do not fit in {groups} groups"
        )
    strides, dilations = per_axis(call, "strides", axes), per_axis(call, "dilations", axes)
    pads = given_pads(call, axes)
    window = Window(kernel, strides, dilations, pads)
    pads, sizes = _cuts(call, x, window)
    if any(not 1 <= size < COUNTABLE for size in sizes) or any(low < 0 for low, _ in pads):
        raise OnnxFormatError(f"an output of {sizes} from {x.shape} with pads {pads} is invalid")
    window = replace(window, pads=pads)
    result = transposed(working(x), working(weight), window, groups, sizes)
    return with_bias(result, bias, x.dtype)


def _cuts(call: Call, x: Tensor, window: Window) -> tuple[tuple[tuple[int, int], ...], list[int]]:
    """How much of the full result to crop along each axis, and the lengths that remain."""
    axes = window.axes
    auto = read_auto_pad(call)
    extra = per_axis(call, "output_padding", axes, 0, 0)
    wanted = call.ints("output_shape", ())[-axes:]
    rows = zip(x.shape[2:], window.stride, strict=True)
    full = [(n - 1) * s + window.extent(a) + extra[a] for a, (n, s) in enumerate(rows)]
    if not wanted and auto in ("NOTSET", "VALID"):
        pads = window.pads if auto == "NOTSET" else ((0, 0),) * axes
        return pads, [size - sum(pad) for size, pad in zip(full, pads, strict=True)]
    if not wanted:
        wanted = tuple(n * s for n, s in zip(x.shape[2:], window.stride, strict=True))
    if len(wanted) != axes:
        raise OnnxFormatError(f"output_shape {wanted} does not fit {axes} spatial axes")
    totals = [max(size - want, 0) for size, want in zip(full, wanted, strict=True)]
    return tuple(split_padding(total, auto) for total in totals), list(wanted)


@operator("Col2Im", since=18)
def col2im(call: Call, x: Tensor, image_shape: Tensor, block_shape: Tensor) -> Tensor:
    """(n, c * block, blocks) to (n, c, *image): a transposed convolution with a kernel of ones, and
    one input channel per element of a block."""
    image = call.known_integers(image_shape, "image_shape")
    block = call.known_integers(block_shape, "block_shape")
    axes = len(block)
    if x.ndim != 3 or not axes or len(image) != axes or not all(0 < b < COUNTABLE for b in block):
        raise OnnxFormatError(f"blocks of {block} in a picture of {image} do not fit {x.shape}")
    strides, dilations = per_axis(call, "strides", axes), per_axis(call, "dilations", axes)
    window = Window(block, strides, dilations, given_pads(call, axes))
    counts, taps = window.counts(image), math.prod(block)
    if x.shape[1] % taps or math.prod(counts) != x.shape[2] or min(image) < 1:
        raise OnnxFormatError(f"{x.shape} does not fit {counts} blocks of {block} in {image}")
    if taps > _MAX_PHASES:
        raise OnnxUnsupportedError(f"blocks of {block} are too large")
    n, channels = x.shape[0], x.shape[1] // taps
    columns = x.astype(dt.float64) if x.dtype.is_integer else working(x)
    columns = f.reshape(columns, (n * channels, taps, *counts))
    kernel = f.reshape(f.eye(taps, dtype=columns.dtype), (taps, 1, *block))
    whole = transposed(columns, kernel, window, 1, image)
    return f.reshape(whole, (n, channels, *image)).astype(x.dtype)
