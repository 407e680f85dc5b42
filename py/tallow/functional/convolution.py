"""Convolutions of sequences (n, c, l), images (n, c, h, w) and volumes (n, c, d, h, w).

All are composed of one op, the convolution of channels-last images: a sequence is an image of
height 1, a volume a sum over the planes of the kernel. `conv2d` also takes ((top, bottom), (left,
right)) as padding.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import casting
from .. import functions as f
from ..core.shape import window_size
from ..errors import ShapeError
from ..functions.transposed import conv2d_input, dilated
from ..graph import make
from ..ops import window
from ..tensor import Tensor
from .windows import (
    NAMES,
    Padding,
    Pads,
    Size,
    batched,
    channels_first,
    channels_last,
    check_window,
    named_pads,
    numbers,
    pads_of,
    unbatched,
)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of sequences with weights.

    input: numbers, (n, c, l) or (c, l).
    weight: (o, c / groups, k).
    bias: added to each channel of the result, (o,); None adds nothing.
    stride: how far apart windows are.
    padding: how many zeros go on each side; "valid" is none, "same" as many as keep the length.
    dilation: how far apart the elements of a window are.
    groups: the number of groups of channels; each group of outputs sees one group of inputs.
    Returns: (n, o, length), without n if input has none.
    Raises: ShapeError for shapes that do not fit, OptionError for another name of padding and for
      "same" with a stride.
    Source: PyTorch, `torch.nn.functional.conv1d`.
    """
    return _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of images with weights.

    input: numbers, (n, c, h, w) or (c, h, w).
    weight: (o, c / groups, kh, kw).
    bias: added to each channel of the result, (o,); None adds nothing.
    stride: how far apart windows are, one number or one for each axis.
    padding: how many zeros surround the image: a number, (vertical, horizontal), or ((top, bottom),
      (left, right)); "valid" is none, "same" as many as keep the size.
    dilation: how far apart the elements of a window are, one number or one for each axis.
    groups: the number of groups of channels; each group of outputs sees one group of inputs.
    Returns: (n, o, oh, ow), without n if input has none.
    Raises: ShapeError, which names both shapes, where they do not fit; OptionError for another name
      of padding and for "same" with a stride.
    Source: PyTorch, `torch.nn.functional.conv2d`.
    """
    return _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of volumes with weights.

    input: numbers, (n, c, d, h, w) or (c, d, h, w).
    weight: (o, c / groups, kd, kh, kw).
    bias: added to each channel of the result, (o,); None adds nothing.
    stride: how far apart windows are, one number or one for each axis.
    padding: how many zeros go on each side, one number or one for each axis; "valid" is none,
      "same" as many as keep the size.
    dilation: how far apart the elements of a window are, one number or one for each axis.
    groups: the number of groups of channels; each group of outputs sees one group of inputs.
    Returns: (n, o, od, oh, ow), without n if input has none.
    Raises: ShapeError for shapes that do not fit, OptionError for another name of padding and for
      "same" with a stride.
    Source: PyTorch, `torch.nn.functional.conv3d`.
    """
    return _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _conv(
    name: str,
    axes: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Padding | str,
    dilation: Size,
    groups: int,
) -> Tensor:
    if input.ndim not in (axes + 1, axes + 2) or weight.ndim != axes + 2:
        kernel = ", ".join(f"k{axis}" for axis in NAMES[axes].split(", "))
        raise ShapeError(
            f"{name}: expected input (n, c, {NAMES[axes]}) and weight (o, c / groups, {kernel}), "
            f"got {input.shape} and {weight.shape}"
        )
    x, single = batched(input, axes, name)
    if groups < 1 or x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise ShapeError(
            f"{name}: input has {x.shape[1]} channels, weight expects {weight.shape[1] * groups}"
            f" in {groups} groups (input {input.shape}, weight {weight.shape})"
        )
    _check_bias(name, bias, weight.shape[0])
    kernel_size = weight.shape[2:]
    strides = numbers(stride, axes, f"{name} stride")
    dilations = numbers(dilation, axes, f"{name} dilation")
    pads = named_pads(padding, kernel_size, strides, dilations, name)
    check_window(name, x.shape, kernel_size, strides, pads, dilations)

    def compute(x: Tensor, weight: Tensor) -> Tensor:
        last = convolved(channels_last(x), weight, strides, pads, dilations, groups)
        return channels_first(last)

    result = casting.product(window.conv2d, compute, x, weight)
    return unbatched(_biased(result, bias), single)


def _check_bias(name: str, bias: Tensor | None, channels: int) -> None:
    if bias is not None and bias.shape != (channels,):
        raise ShapeError(f"{name}: bias {bias.shape} for {channels} channels of the output")


def _biased(result: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return result
    bias = casting.matched(bias, result)
    return result + f.reshape(bias, (-1, *(1,) * (result.ndim - 2)))


def convolved(
    x: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    pads: Pads,
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """x (n, *spatial, c), over any number of axes, convolved with weight (o, c / groups, *kernel);
    channels last, so that permutes of neighbouring layers cancel."""
    axes = len(stride)
    if axes == 1:
        image, filters = f.expand_dims(x, 1), f.expand_dims(weight, 2)
        row = convolved(
            image, filters, (1, *stride), ((0, 0), *pads), (1, *dilation), groups
        )  # fmt: skip
        return f.squeeze(row, 1)
    if axes == 2:
        node = make(
            window.conv2d,
            x.node,
            f.permute_dims(weight, (2, 3, 1, 0)).node,
            stride=tuple(stride),
            padding=pads,
            dilation=tuple(dilation),
            groups=groups,
        )
        return Tensor(node)
    sizes = [
        window_size(size + sum(pad), k, s, d)
        for size, pad, k, s, d in zip(
            x.shape[1:-1], pads, weight.shape[2:], stride, dilation, strict=True
        )
    ]
    count, depth, step, total = sizes[0], x.shape[1], stride[0], None
    for tap in range(weight.shape[2]):
        start = tap * dilation[0] - pads[0][0]
        first = min(max(0, -(start // step)), count)  # earlier planes are padding
        last = min(max(first, (depth - 1 - start) // step + 1), count)
        if first == last:
            continue
        planes = x[:, start + first * step : start + (last - 1) * step + 1 : step]
        planes = f.pad(planes, [(0, 0), (first, count - last), *[(0, 0)] * axes])
        folded = f.reshape(planes, (-1, *planes.shape[2:]))
        part = convolved(folded, weight[:, :, tap], stride[1:], pads[1:], dilation[1:], groups)
        total = part if total is None else total + part
    if total is None:  # all windows cover only padding
        return f.zeros((x.shape[0], *sizes, weight.shape[0]), x.dtype)
    return f.reshape(total, (x.shape[0], *sizes, weight.shape[0]))


# ---- transposed -------------------------------------------------------------------------------


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transpose of `conv1d`.

    input: numbers, (n, c, l) or (c, l).
    weight: (c, o / groups, k).
    bias: added to each channel of the result, (o,); None adds nothing.
    stride: that of `conv1d`: how far apart the input's elements are in the result.
    padding: that of `conv1d`: how many elements are cut off on each side.
    output_padding: how much longer the result is than the shortest one from which `conv1d` gives
      the input's length; less than the larger of stride and dilation.
    groups: the number of groups of channels; each group of outputs sees one group of inputs.
    dilation: how far apart the elements of a window are.
    Returns: (n, o, length), without n if input has none.
    Raises: ShapeError for shapes or options that do not fit.
    Source: PyTorch, `torch.nn.functional.conv_transpose1d`.
    """
    return _transposed(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups,
        dilation,
    )  # fmt: skip


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transpose of `conv2d`. Options are one number, or one for each axis.

    input: numbers, (n, c, h, w) or (c, h, w).
    weight: (c, o / groups, kh, kw).
    bias: added to each channel of the result, (o,); None adds nothing.
    stride: that of `conv2d`: how far apart the input's elements are in the result.
    padding: that of `conv2d`: how many elements are cut off on each side.
    output_padding: how much longer the result is than the shortest one from which `conv2d` gives
      the input's size; less than the larger of stride and dilation.
    groups: the number of groups of channels; each group of outputs sees one group of inputs.
    dilation: how far apart the elements of a window are.
    Returns: (n, o, oh, ow), without n if input has none.
    Raises: ShapeError for shapes or options that do not fit.
    Source: PyTorch, `torch.nn.functional.conv_transpose2d`.
    """
    return _transposed(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups,
        dilation,
    )  # fmt: skip


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """The transpose of `conv3d`. Options are one number, or one for each axis.

    input: numbers, (n, c, d, h, w) or (c, d, h, w).
    weight: (c, o / groups, kd, kh, kw).
    bias: added to each channel of the result, (o,); None adds nothing.
    stride: that of `conv3d`: how far apart the input's elements are in the result.
    padding: that of `conv3d`: how many elements are cut off on each side.
    output_padding: how much longer the result is than the shortest one from which `conv3d` gives
      the input's size; less than the larger of stride and dilation.
    groups: the number of groups of channels; each group of outputs sees one group of inputs.
    dilation: how far apart the elements of a window are.
    Returns: (n, o, od, oh, ow), without n if input has none.
    Raises: ShapeError for shapes or options that do not fit.
    Source: PyTorch, `torch.nn.functional.conv_transpose3d`.
    """
    return _transposed(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups,
        dilation,
    )  # fmt: skip


def _transposed(
    name: str,
    axes: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Size,
    output_padding: Size,
    groups: int,
    dilation: Size,
) -> Tensor:
    x, single = batched(input, axes, name)
    if weight.ndim != axes + 2 or groups < 1 or x.shape[1] != weight.shape[0]:
        raise ShapeError(
            f"{name}: input {input.shape} does not fit weight (c, o / groups, ...) {weight.shape}"
        )
    if x.shape[1] % groups:
        raise ShapeError(f"{name}: {x.shape[1]} channels of {input.shape} in {groups} groups")
    _check_bias(name, bias, weight.shape[1] * groups)
    strides = numbers(stride, axes, f"{name} stride")
    dilations = numbers(dilation, axes, f"{name} dilation")
    pads = pads_of(padding, axes, name)
    extra = numbers(output_padding, axes, f"{name} output_padding", 0)
    for more, step, apart in zip(extra, strides, dilations, strict=True):
        if more >= max(step, apart):
            raise ShapeError(
                f"{name}: output_padding {extra} must be less than the stride {strides} or the "
                f"dilation {dilations}"
            )
    sizes = [
        (size - 1) * s + d * (k - 1) + 1 + more - sum(pad)
        for size, s, d, k, more, pad in zip(
            x.shape[2:], strides, dilations, weight.shape[2:], extra, pads, strict=True
        )
    ]
    if min(sizes) < 1:
        raise ShapeError(
            f"{name}: input {input.shape} and weight {weight.shape} with padding {padding} give "
            f"an output of {tuple(sizes)}"
        )

    def compute(x: Tensor, weight: Tensor) -> Tensor:
        last = _spread(channels_last(x), weight, sizes, strides, pads, dilations, groups)
        return channels_first(last)

    whole = casting.product(window.conv2d, compute, x, weight)
    return unbatched(_biased(whole, bias), single)


def _spread(
    x: Tensor,
    weight: Tensor,
    sizes: Sequence[int],
    stride: Sequence[int],
    pads: Pads,
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """The transpose of `convolved`: x (n, *spatial, c), weight (c, o / groups, *kernel); the result
    is (n, *sizes, o)."""
    if len(stride) == 1:
        image = _spread(
            f.expand_dims(x, 1), f.expand_dims(weight, 2), (1, *sizes), (1, *stride),
            ((0, 0), *pads), (1, *dilation), groups,
        )  # fmt: skip
        return f.squeeze(image, 1)
    shape = (x.shape[0], *sizes, weight.shape[1] * groups)
    if len(stride) == 2:
        filters = f.permute_dims(weight, (2, 3, 1, 0))
        vertical, horizontal = pads
        return conv2d_input(
            x, filters, shape, (stride[0], stride[1]), (vertical, horizontal),
            (dilation[0], dilation[1]), groups,
        )  # fmt: skip
    total = None
    for tap in range(weight.shape[2]):
        low = tap * dilation[0] - pads[0][0]
        first = max(0, -(low // stride[0]))  # earlier planes land in the padding
        last = min(x.shape[1], (sizes[0] - 1 - low) // stride[0] + 1)
        if first >= last:
            continue
        planes = x[:, first:last]
        folded = f.reshape(planes, (-1, *planes.shape[2:]))
        part = _spread(
            folded, weight[:, :, tap], sizes[1:], stride[1:], pads[1:], dilation[1:], groups
        )
        part = dilated(f.reshape(part, (x.shape[0], last - first, *part.shape[1:])), 1, stride[0])
        before = first * stride[0] + low
        rest = [(0, 0)] * (part.ndim - 2)
        placed = f.pad(part, [(0, 0), (before, sizes[0] - before - part.shape[1]), *rest])
        total = placed if total is None else total + placed
    return f.zeros(shape, x.dtype) if total is None else total
