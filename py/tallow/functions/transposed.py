"""Transposed convolution of channels-last images. It is the derivative of convolution by its image
as well, so it stands where both derivatives and functional/ can use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from ..core.shape import Shape
from ..graph import make
from ..ops import window
from ..tensor import Tensor
from .creation import zeros
from .manipulation import concat, expand_dims, flip, pad, permute_dims, reshape

Pair = tuple[int, int]
Pads = tuple[Pair, Pair]


def dilated(x: Tensor, axis: int, step: int) -> Tensor:
    """x with step - 1 zeros between neighbours along an axis."""
    if step == 1 or x.shape[axis] < 2:
        return x
    length = x.shape[axis]
    apart = expand_dims(x, axis + 1)
    padded = pad(apart, [(0, step - 1 if a == axis + 1 else 0) for a in range(apart.ndim)])
    joined = reshape(padded, (*x.shape[:axis], length * step, *x.shape[axis + 1 :]))
    inside = slice(0, (length - 1) * step + 1)
    return joined[(*(slice(None),) * axis, inside)]


class _Span(NamedTuple):
    """Some neighbouring residues of positions along an axis, by the stride, that the same distance
    parts from the gradients they receive, through as many taps of the kernel.

    residues: how many they are. taps: of each the first one, of the kernel turned round. size,
    every: how many taps, and their distance in the kernel. pads: around the gradient. dilation:
    between the pixels of the gradient.
    """

    residues: int
    taps: list[int]
    size: int
    every: int
    pads: Pair
    dilation: int


def _spans(
    kernel: int,
    given: int,
    length: int,
    stride: int,
    padding: int,
    dilation: int,
    alone: bool,
) -> list[_Span]:
    """The spans of an axis, in the order of their residues. kernel, given, length: elements of the
    kernel, of the gradient, and of the image. alone: whether each residue is a span of its own, as
    in groups, whose kernels have a channel at a time."""
    turns, common = -(-length // stride), gcd(stride, dilation)
    every, apart = stride // common, dilation // common
    spans: list[_Span] = []
    for residue in range(min(stride, length)):
        before, phase = divmod(residue + padding, stride)
        taps = [tap for tap in range(kernel) if tap * dilation % stride == phase]
        size = len(taps)
        low = high = first = 0
        if taps:
            first = kernel - 1 - taps[-1]
            low = (size - 1) * apart + (taps[0] * dilation - phase) // stride - before
            high = turns + (size - 1) * apart - given - low
        span = _Span(1, [first], size, every, (low, high), apart)
        if not alone and spans and (spans[-1].size, spans[-1].pads) == (size, span.pads):
            last = spans.pop()
            span = span._replace(residues=last.residues + 1, taps=[*last.taps, first])
        spans.append(span)
    return spans


def conv2d_input(
    gradient: Tensor,
    weight: Tensor,
    shape: Shape,
    stride: Pair,
    padding: Pads,
    dilation: Pair,
    groups: int,
) -> Tensor:
    """The gradient of conv2d's image (n, h, w, c), also known as transposed convolution.

    gradient: of the result (n, oh, ow, o). weight (kh, kw, c / groups, o). A pixel receives
    gradients through every `stride`-th tap of the kernel, and which these are depends on the
    residue of its position. So the pixels of like residues are convolutions of stride 1 of the
    gradient, with a part of the kernel turned round each, and are put between each other.
    """
    kh, kw, per_group, filters = weight.shape
    grouped = reshape(weight, (kh, kw, per_group, groups, filters // groups))
    turned = permute_dims(flip(grouped, (0, 1)), (0, 1, 4, 3, 2))
    down, across = (
        _spans(
            weight.shape[axis],
            gradient.shape[1 + axis],
            shape[1 + axis],
            stride[axis],
            padding[axis][0],
            dilation[axis],
            alone=groups > 1,
        )
        for axis in (0, 1)
    )
    lines = [
        _joined([_block(gradient, turned, y, x, shape, stride) for x in across], across, 4)
        for y in down
    ]
    whole = _joined(lines, down, 2)
    if whole is None:
        return zeros(shape, gradient.dtype)
    n, high, of_high, wide, of_wide, channels = whole.shape
    pixels = reshape(whole, (n, high * of_high, wide * of_wide, channels))
    return pixels[:, : shape[1], : shape[2]]


def _joined(parts: Sequence[Tensor | None], spans: Sequence[_Span], axis: int) -> Tensor | None:
    """Blocks one behind the other; None stands for zeros."""
    known = [part for part in parts if part is not None]
    if len(known) == 1:
        at = next(number for number, part in enumerate(parts) if part is not None)
        before = sum(span.residues for span in spans[:at])
        behind = sum(span.residues for span in spans[at + 1 :])
        pads = [(0, 0)] * known[0].ndim
        pads[axis] = before, behind
        return pad(known[0], pads) if before or behind else known[0]
    if not known:
        return None
    shape = known[0].shape

    def filled(part: Tensor | None, span: _Span) -> Tensor:
        empty = (*shape[:axis], span.residues, *shape[axis + 1 :])
        return zeros(empty, known[0].dtype) if part is None else part

    return concat([filled(*pair) for pair in zip(parts, spans, strict=True)], axis)


def _block(
    gradient: Tensor, turned: Tensor, y: _Span, x: _Span, shape: Shape, stride: Pair
) -> Tensor | None:
    """The pixels of two spans: (n, lines of each residue, residues, columns, residues, c). None if
    no tap reaches them."""
    if not y.size or not x.size:
        return None
    n, length, width, channels = shape
    high, wide = -(-length // stride[0]), -(-width // stride[1])
    each, groups, per_group = turned.shape[2:]
    parts = [
        turned[
            top : top + (y.size - 1) * y.every + 1 : y.every,
            left : left + (x.size - 1) * x.every + 1 : x.every,
        ]
        for top in y.taps
        for left in x.taps
    ]
    kernel = concat([expand_dims(part, 4) for part in parts], 4)
    kernel = reshape(kernel, (y.size, x.size, each, len(parts) * groups * per_group))
    # What only padding saw is cut off.
    cut = [(0, 0), *((min(low, 0), min(high, 0)) for low, high in (y.pads, x.pads)), (0, 0)]
    if any(map(any, cut)):
        gradient = _bordered(gradient, cut)
    node = make(
        window.conv2d,
        gradient.node,
        kernel.node,
        stride=(1, 1),
        padding=tuple((max(low, 0), max(high, 0)) for low, high in (y.pads, x.pads)),
        dilation=(y.dilation, x.dilation),
        groups=groups,
    )
    apart = reshape(Tensor(node), (n, high, wide, groups, y.residues, x.residues, per_group))
    return reshape(
        permute_dims(apart, (0, 1, 4, 2, 5, 3, 6)),
        (n, high, y.residues, wide, x.residues, channels),
    )


def _bordered(x: Tensor, pads: Sequence[Pair]) -> Tensor:
    """As `pad`, where a border may also crop more than there is, and the other one make up for
    it."""
    found = []
    for size, (low, high) in zip(x.shape, pads, strict=True):
        if low < -size:
            low, high = -size, high + low + size
        elif high < -size:
            low, high = low + high + size, -size
        found.append((low, high))
    return pad(x, found)
