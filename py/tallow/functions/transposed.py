"""Transposed convolution of channels-last images. It is the derivative of convolution by its image
as well, so it stands where both derivatives and functional/ can use it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import make
from ..ops import window
from ..shape import Shape
from ..tensor import Tensor
from .manipulation import expand_dims, flip, pad, permute_dims, reshape

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

    gradient: of the result (n, oh, ow, o). weight (kh, kw, c / groups, o). It is a convolution of
    the gradient, its pixels `stride` apart, with the weight turned round.
    """
    kh, kw, per_group, filters = weight.shape
    grouped = reshape(weight, (kh, kw, per_group, groups, filters // groups))
    turned = permute_dims(flip(grouped, (0, 1)), (0, 1, 4, 3, 2))
    turned = reshape(turned, (kh, kw, filters // groups, groups * per_group))
    options = {"stride": (1, 1), "dilation": dilation, "groups": groups}
    if (kh, kw) == (1, 1):  # the pixels stay apart, so that none of the zeros is multiplied
        none = ((0, 0), (0, 0))
        node = make(window.conv2d, gradient.node, turned.node, padding=none, **options)
        return _placed(Tensor(node), shape, stride, padding)
    pads: list[Pair] = []
    for axis, size in enumerate((kh, kw)):
        gradient = dilated(gradient, 1 + axis, stride[axis])
        reach = dilation[axis] * (size - 1)
        low = reach - padding[axis][0]
        pads.append((low, shape[1 + axis] - gradient.shape[1 + axis] - low + reach))
    # What only padding saw is cut off.
    cut = [(0, 0), *((min(low, 0), min(high, 0)) for low, high in pads), (0, 0)]
    if any(map(any, cut)):
        gradient = _bordered(gradient, cut)
    inner = tuple((max(low, 0), max(high, 0)) for low, high in pads)
    return Tensor(make(window.conv2d, gradient.node, turned.node, padding=inner, **options))


def _placed(x: Tensor, shape: Shape, stride: Pair, padding: Pads) -> Tensor:
    """Pixels that are `stride` apart in an image of this shape, with zeros elsewhere."""
    pads = [(0, 0)]
    for axis in (0, 1):
        x = dilated(x, 1 + axis, stride[axis])
        low = -padding[axis][0]
        pads.append((low, shape[1 + axis] - x.shape[1 + axis] - low))
    return _bordered(x, [*pads, (0, 0)])


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
