"""Pooling of sequences (n, c, l), images (n, c, h, w) and volumes (n, c, d, h, w)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import functions as f
from ..core.hostarray import from_values
from ..core.shape import positions_inside, size_of
from ..errors import OptionError, ShapeError
from ..functions.reduction import root
from ..graph import constant, make
from ..ops import window
from ..ops.kinds import Window
from ..tensor import Tensor
from .pool_indices import largest, sliding
from .windows import (
    Padding,
    Pads,
    Size,
    batched,
    ceil_pads,
    channels_first,
    channels_last,
    check_window,
    numbers,
    pads_of,
    unbatched,
)


def max_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window; padding is never the largest.

    input: numbers, (n, c, l) or (c, l).
    kernel_size: the length of a window.
    stride: how far apart windows are; None is kernel_size.
    padding: how many elements are added on each side, at most half of the kernel.
    dilation: how far apart the elements of a window are.
    ceil_mode: a last window that only begins inside counts too.
    return_indices: gives (values, indices), the int32 positions of the values along the axis, for
      `max_unpool1d`.
    Returns: (n, c, windows), without n if input has none, or a pair of such tensors.
    Raises: ShapeError for shapes that do not fit, OptionError for more padding.
    Source: PyTorch, `torch.nn.functional.max_pool1d`.
    """
    return _max_pool(
        "max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window; padding is never the largest.

    input: numbers, (n, c, h, w) or (c, h, w).
    kernel_size: the height and width of a window; one number is both.
    stride: how far apart windows are, one number or one for each axis; None is kernel_size.
    padding: how many elements are added on each side, at most half of the kernel; also ((top,
      bottom), (left, right)).
    dilation: how far apart the elements of a window are, one number or one for each axis.
    ceil_mode: a last window that only begins inside counts too.
    return_indices: gives (values, indices), the int32 positions of the values in the flattened
      image, for `max_unpool2d`.
    Returns: (n, c, height, width), without n if input has none, or a pair of such tensors.
    Raises: ShapeError for shapes that do not fit, OptionError for more padding.
    Source: PyTorch, `torch.nn.functional.max_pool2d`.
    """
    return _max_pool(
        "max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window; padding is never the largest.

    input: numbers, (n, c, d, h, w) or (c, d, h, w).
    kernel_size: the depth, height and width of a window; one number is all three.
    stride: how far apart windows are, one number or one for each axis; None is kernel_size.
    padding: how many elements are added on each side, at most half of the kernel.
    dilation: how far apart the elements of a window are, one number or one for each axis.
    ceil_mode: a last window that only begins inside counts too.
    return_indices: gives (values, indices), the int32 positions of the values in the flattened
      volume, for `max_unpool3d`.
    Returns: (n, c, depth, height, width), without n if input has none, or a pair of such tensors.
    Raises: ShapeError for shapes that do not fit, OptionError for more padding.
    Source: PyTorch, `torch.nn.functional.max_pool3d`.
    """
    return _max_pool(
        "max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def _max_pool(
    name: str,
    axes: int,
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Padding,
    dilation: Size,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    x, single = batched(input, axes, name)
    kernel, dilations = numbers(kernel_size, axes, name), numbers(dilation, axes, name)
    strides = kernel if stride is None else numbers(stride, axes, f"{name} stride")
    pads = pads_of(padding, axes, name)
    _check_pads(name, padding, kernel, dilations)
    check_window(name, x.shape, kernel, strides, pads, dilations)
    if ceil_mode:
        pads = ceil_pads(x.shape, kernel, strides, pads, dilations)
    if return_indices:
        settings = zip(x.shape[2:], kernel, strides, pads, dilations, strict=True)
        found = largest(x, [sliding(*each) for each in settings])
        return unbatched(found[0], single), unbatched(found[1], single)
    return unbatched(pooled(window.max_pool2d, x, kernel, strides, pads, dilations), single)


def _check_pads(
    name: str, padding: Padding, kernel: Sequence[int], dilation: Sequence[int]
) -> None:
    """OptionError for padding that PyTorch refuses: more than half of a window, so that one could
    lie beyond the input. Pairs, which PyTorch does not have, may be longer."""
    sides = [padding] * len(kernel) if isinstance(padding, int) else padding
    for side, size, step in zip(sides, kernel, dilation, strict=False):
        reach = step * (size - 1) + 1
        if isinstance(side, int) and side > reach // 2:
            raise OptionError(
                f"{name}: the padding {side} is more than half of the kernel, {reach} elements"
            )


def pooled(
    op: Window,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    pads: Pads,
    dilation: Sequence[int],
) -> Tensor:
    """The op, `max_pool2d` or `sum_pool2d`, over all spatial axes of x (n, c, *spatial): over the
    last two, then over each other axis, with the axes behind it merged."""
    axes = len(kernel)
    x = channels_last(x)
    if axes == 1:
        x = f.expand_dims(x, 1)
        x = _over_two(op, x, (1, *kernel), (1, *stride), ((0, 0), *pads), (1, *dilation))
        return channels_first(f.squeeze(x, 1))
    x = _over_two(op, x, kernel[-2:], stride[-2:], pads[-2:], dilation[-2:])
    for axis in range(axes - 2):
        before, after, channels = x.shape[: 1 + axis], x.shape[2 + axis : -1], x.shape[-1]
        image = f.reshape(x, (size_of(before), x.shape[1 + axis], size_of(after), channels))
        line = ((0, 0),)
        image = _over_two(
            op, image, (kernel[axis], 1), (stride[axis], 1), (pads[axis], *line),
            (dilation[axis], 1),
        )  # fmt: skip
        x = f.reshape(image, (*before, image.shape[1], *after, channels))
    return channels_first(x)


def _over_two(
    op: Window,
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    pads: Pads,
    dilation: Sequence[int],
) -> Tensor:
    """The op over the two axes before the last one of x (..., h, w, c)."""
    lead = x.shape[:-3]
    image = x if len(lead) == 1 else f.reshape(x, (size_of(lead), *x.shape[-3:]))
    attrs = {
        "kernel": tuple(kernel),
        "stride": tuple(stride),
        "padding": tuple(pads),
        "dilation": tuple(dilation),
    }
    result = Tensor(make(op, image.node, **attrs))
    return result if len(lead) == 1 else f.reshape(result, (*lead, *result.shape[1:]))


def sum_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    dilation: Size = 1,
) -> Tensor:
    """The sum of each window; padding counts as 0.

    input: numbers, (n, c, h, w) or (c, h, w).
    kernel_size: the height and width of a window; one number is both.
    stride: how far apart windows are, one number or one for each axis; None is kernel_size.
    padding: how many zeros go on each side; also ((top, bottom), (left, right)).
    dilation: how far apart the elements of a window are, one number or one for each axis.
    Returns: (n, c, height, width), without n if input has none.
    Raises: ShapeError for shapes that do not fit.
    """
    x, single = batched(input, 2, "sum_pool2d")
    kernel, dilations = numbers(kernel_size, 2, "sum_pool2d"), numbers(dilation, 2, "sum_pool2d")
    strides = kernel if stride is None else numbers(stride, 2, "sum_pool2d stride")
    pads = pads_of(padding, 2, "sum_pool2d")
    check_window("sum_pool2d", x.shape, kernel, strides, pads, dilations)
    return unbatched(pooled(window.sum_pool2d, x, kernel, strides, pads, dilations), single)


# ---- means --------------------------------------------------------------------------------------


def avg_pool1d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window.

    input: numbers, (n, c, l) or (c, l).
    kernel_size: the length of a window.
    stride: how far apart windows are; None is kernel_size.
    padding: how many zeros go on each side, at most half of the kernel.
    ceil_mode: a last window that only begins inside counts too.
    count_include_pad: padding counts as zeros (but never what ceil_mode adds beyond it); otherwise
      it doesn't count.
    Returns: (n, c, windows), without n if input has none.
    Raises: ShapeError for shapes that do not fit, OptionError for more padding.
    Source: PyTorch, `torch.nn.functional.avg_pool1d`.
    """
    return _avg_pool(
        "avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None
    )


def avg_pool2d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window.

    input: numbers, (n, c, h, w) or (c, h, w).
    kernel_size: the height and width of a window; one number is both.
    stride: how far apart windows are, one number or one for each axis; None is kernel_size.
    padding: how many zeros go on each side, at most half of the kernel; also ((top, bottom), (left,
      right)).
    ceil_mode: a last window that only begins inside counts too.
    count_include_pad: padding counts as zeros (but never what ceil_mode adds beyond it); otherwise
      it doesn't count.
    divisor_override: what sums are divided by instead of the number of elements.
    Returns: (n, c, height, width), without n if input has none.
    Raises: ShapeError for shapes that do not fit, OptionError for more padding and for a divisor of
      0.
    Source: PyTorch, `torch.nn.functional.avg_pool2d`.
    """
    return _avg_pool(
        "avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override,
    )  # fmt: skip


def avg_pool3d(
    input: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window.

    input: numbers, (n, c, d, h, w) or (c, d, h, w).
    kernel_size: the depth, height and width of a window; one number is all three.
    stride: how far apart windows are, one number or one for each axis; None is kernel_size.
    padding: how many zeros go on each side, at most half of the kernel.
    ceil_mode: a last window that only begins inside counts too.
    count_include_pad: padding counts as zeros (but never what ceil_mode adds beyond it); otherwise
      it doesn't count.
    divisor_override: what sums are divided by instead of the number of elements.
    Returns: (n, c, depth, height, width), without n if input has none.
    Raises: ShapeError for shapes that do not fit, OptionError for more padding and for a divisor of
      0.
    Source: PyTorch, `torch.nn.functional.avg_pool3d`.
    """
    return _avg_pool(
        "avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override,
    )  # fmt: skip


def _avg_pool(
    name: str,
    axes: int,
    input: Tensor,
    kernel_size: Size,
    stride: Size | None,
    padding: Padding,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    if divisor_override == 0:
        raise OptionError(f"{name}: divisor_override must not be 0")
    x, single = batched(input, axes, name)
    kernel, ones = numbers(kernel_size, axes, name), (1,) * axes
    strides = kernel if stride is None else numbers(stride, axes, f"{name} stride")
    pads = given = pads_of(padding, axes, name)
    _check_pads(name, padding, kernel, ones)
    check_window(name, x.shape, kernel, strides, pads, ones)
    if ceil_mode:
        pads = ceil_pads(x.shape, kernel, strides, pads, ones)
    total = pooled(window.sum_pool2d, x, kernel, strides, pads, ones)
    if divisor_override is not None:
        return unbatched(total * (1.0 / divisor_override), single)
    starts = [
        range(-low, -low + count * step, step)
        for (low, _), count, step in zip(pads, total.shape[2:], strides, strict=True)
    ]
    counted = given if count_include_pad else ((0, 0),) * axes
    return unbatched(total * shares(x, kernel, ones, starts, counted), single)


def shares(
    x: Tensor,
    kernel: Sequence[int],
    dilation: Sequence[int],
    starts: Sequence[range],
    counted: Pads,
) -> Tensor | float:
    """What a sum over each window is multiplied by to be a mean, one over the number of elements
    in it: of those of x (n, c, *spatial) and of the padding that is `counted`. starts: of the
    windows, along each axis."""
    factor, tables = 1.0, []
    for axis, (low, high) in enumerate(counted):
        first, last = -low, x.shape[2 + axis] + high
        counts = [positions_inside(at, kernel[axis], dilation[axis], first, last)
                  for at in starts[axis]]  # fmt: skip
        # A window that covers only padding has no mean.
        parts = [1.0 / n if n else math.nan for n in counts]
        if len(set(counts)) == 1:
            factor *= parts[0]
            continue
        line = [1] * len(counted)
        line[axis] = len(parts)
        tables.append(Tensor(constant(from_values(parts, tuple(line), x.dtype))))
    if not tables:
        return factor
    share = tables[0]
    for table in tables[1:]:
        share = share * table
    return share * factor if factor != 1.0 else share


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The p-norm of each window: the sum of the elements to the power of p, to the power of 1 / p.

    input: numbers, (n, c, l) or (c, l).
    norm_type: p.
    kernel_size: the length of a window.
    stride: how far apart windows are; None is kernel_size.
    ceil_mode: a last window that only begins inside counts too.
    Returns: (n, c, windows), without n if input has none.
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch, `torch.nn.functional.lp_pool1d`.
    """
    return _lp_pool(avg_pool1d, 1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The p-norm of each window: the sum of the elements to the power of p, to the power of 1 / p.

    input: numbers, (n, c, h, w) or (c, h, w).
    norm_type: p.
    kernel_size: the height and width of a window; one number is both.
    stride: how far apart windows are, one number or one for each axis; None is kernel_size.
    ceil_mode: a last window that only begins inside counts too.
    Returns: (n, c, height, width), without n if input has none.
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch, `torch.nn.functional.lp_pool2d`.
    """
    return _lp_pool(avg_pool2d, 2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The p-norm of each window: the sum of the elements to the power of p, to the power of 1 / p.

    input: numbers, (n, c, d, h, w) or (c, d, h, w).
    norm_type: p.
    kernel_size: the depth, height and width of a window; one number is all three.
    stride: how far apart windows are, one number or one for each axis; None is kernel_size.
    ceil_mode: a last window that only begins inside counts too.
    Returns: (n, c, depth, height, width), without n if input has none.
    Raises: ShapeError for shapes that do not fit.
    Source: PyTorch, `torch.nn.functional.lp_pool3d`.
    """
    return _lp_pool(avg_pool3d, 3, input, norm_type, kernel_size, stride, ceil_mode)


def _lp_pool(
    mean: Any,
    axes: int,
    input: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None,
    ceil_mode: bool,
) -> Tensor:
    count = math.prod(numbers(kernel_size, axes, f"lp_pool{axes}d"))
    means = mean(f.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return root(means * count, norm_type)


def global_avg_pool(input: Tensor) -> Tensor:
    """The mean over all axes after the first two, which are kept with length 1.

    input: numbers, (n, c, ...).
    Returns: (n, c, 1, ...).
    Source: ONNX, GlobalAveragePool.
    """
    return f.mean(input, axis=tuple(range(2, input.ndim)), keepdims=True)


def output_sizes(
    name: str, x: Tensor, axes: int, output_size: int | Sequence[int | None] | None
) -> tuple[int, ...]:
    """The lengths that adaptive pooling gives; None keeps that of x (n, c, *spatial)."""
    if output_size is None or isinstance(output_size, int):
        wanted: list[int | None] = [output_size] * axes
    else:
        wanted = list(output_size) * (axes if len(output_size) == 1 else 1)
    if len(wanted) != axes or any(size is not None and size < 1 for size in wanted):
        raise ShapeError(f"{name}: expected {axes} positive lengths, got {output_size}")
    if 0 in x.shape[2:]:
        raise ShapeError(f"{name}: there is nothing to pool in {x.shape}")
    return tuple(old if new is None else new for old, new in zip(x.shape[2:], wanted, strict=True))
