"""Deformable convolution (Dai et al. 2017; Zhu et al. 2019): samples at computed positions,
multiplied by the weight.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import functions as f
from ..core.shape import size_of, window_size
from ..errors import ShapeError
from ..tensor import Tensor
from .sampling import gathered, linear_taps
from .windows import Pads, Size, batched, check_window, numbers, pads_of


def deform_conv2d(
    input: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = (1, 1),
    padding: Size = (0, 0),
    dilation: Size = (1, 1),
    mask: Tensor | None = None,
) -> Tensor:
    """Convolution of images, with windows whose elements are moved by offsets.

    What lies beyond the image is 0. Each of `parts` neighbouring groups of channels has offsets of
    its own.

    input: numbers, (n, c, h, w).
    offset: how far elements are moved, the vertical distance first, (n, 2 * parts * kh * kw, oh,
      ow).
    weight: (o, c / groups, kh, kw), which also says how many groups of channels there are.
    bias: added to each channel of the result, (o,); None adds nothing.
    stride: how far apart windows are, one number or one for each axis.
    padding: how many zeros go on each side, one number or one for each axis.
    dilation: how far apart the elements of a window are, one number or one for each axis.
    mask: factors of the elements, (n, parts * kh * kw, oh, ow); None is 1.
    Returns: (n, o, oh, ow).
    Raises: ShapeError for shapes that do not fit.
    Source: Dai et al. 2017; Zhu et al. 2019, for the mask; `torchvision.ops.deform_conv2d`.
    """
    name = "deform_conv2d"
    if input.ndim != 4 or weight.ndim != 4 or 0 in input.shape[1:]:
        raise ShapeError(
            f"{name}: expected input (n, c, h, w) and weight (o, c / groups, kh, kw), got "
            f"{input.shape} and {weight.shape}"
        )
    x, _ = batched(input, 2, name)
    kernel, (n, channels) = weight.shape[2:], x.shape[:2]
    steps, apart = numbers(stride, 2, f"{name} stride"), numbers(dilation, 2, f"{name} dilation")
    pads = pads_of(padding, 2, name)
    check_window(name, x.shape, kernel, steps, pads, apart)
    groups = channels // max(weight.shape[1], 1)
    if channels != groups * weight.shape[1] or weight.shape[0] % max(groups, 1):
        raise ShapeError(f"{name}: weight {weight.shape} for an input {input.shape}")
    counts = counted(x.shape[2:], kernel, steps, pads, apart)
    taps = size_of(kernel)
    parts = offset.shape[1] // (2 * taps) if offset.ndim == 4 else 0
    if not parts or channels % parts or offset.shape != (n, parts * taps * 2, *counts):
        raise ShapeError(
            f"{name}: offset {offset.shape} for {taps} taps at {counts} positions and {channels} "
            "channels"
        )
    if mask is not None and mask.shape != (n, parts * taps, *counts):
        raise ShapeError(f"{name}: mask {mask.shape} beside offset {offset.shape}")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ShapeError(f"{name}: bias {bias.shape} beside weight {weight.shape}")
    result = deformed(x, weight, offset, mask, steps, pads, apart, groups, parts)
    return result if bias is None else result + f.reshape(bias, (-1, 1, 1))


def counted(
    sizes: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    pads: Pads,
    dilation: Sequence[int],
) -> tuple[int, ...]:
    """The number of windows along each axis."""
    rows = zip(sizes, kernel, stride, pads, dilation, strict=True)
    return tuple(window_size(size + sum(pad), k, s, d) for size, k, s, pad, d in rows)


def deformed(
    x: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor | None,
    stride: Sequence[int],
    pads: Pads,
    dilation: Sequence[int],
    groups: int,
    parts: int,
) -> Tensor:
    """`deform_conv2d` over any number of axes, of operands that fit: x (n, c, *spatial), weight
    (o, c / groups, *kernel), offset (n, parts * taps * axes, *counts)."""
    (n, channels), kernel, axes = x.shape[:2], weight.shape[2:], x.ndim - 2
    counts, taps = counted(x.shape[2:], kernel, stride, pads, dilation), size_of(kernel)
    spread = size_of(counts)
    moved = f.reshape(offset, (n * parts, *kernel, axes, *counts))
    found = []
    for axis in range(axes):
        line = [1] * (2 * axes)
        line[axis] = kernel[axis]
        inside = f.reshape(f.arange(kernel[axis]) * dilation[axis], line)
        line = [1] * (2 * axes)
        line[axes + axis] = counts[axis]
        start = f.arange(counts[axis]) * stride[axis] - pads[axis][0]
        at = (inside + f.reshape(start, line)).astype(moved.dtype)
        index = (*[slice(None)] * (1 + axes), axis)
        points = f.reshape(moved[index] + at, (n * parts, taps * spread))
        invalid = f.logical_or(f.isnan(points), f.isinf(points))
        found.append(linear_taps(f.where(invalid, -2.0, points)))  # outside, where samples are 0
    pictures = f.reshape(x, (n * parts, channels // parts, *x.shape[2:]))
    samples = gathered(pictures, found)
    if mask is not None:
        samples = samples * f.reshape(mask.astype(samples.dtype), (n * parts, 1, taps * spread))
    columns = f.reshape(samples, (n, groups, channels // groups * taps, spread))
    rows = f.reshape(
        weight.astype(samples.dtype), (groups, weight.shape[0] // groups, size_of(weight.shape[1:]))
    )
    return f.reshape(f.matmul(rows, columns), (n, weight.shape[0], *counts))
