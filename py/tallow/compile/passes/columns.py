"""Images of one or two channels, several columns at a time.

Kernels read four channels at once, and compute as many filters as fill the lanes of a device. Of an
image of one channel three of four would be idle, and so would most lanes for a handful of filters,
as first layers have them. Seen with b columns as b channels, b * stride columns of such an image
give b columns of the result, with a weight in which each filter stands b times, shifted. What lies
beside a filter is 0: an infinite pixel can make the result beside it NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ... import functions as f
from ...core.shape import Shape, size_of
from ...graph import make
from ...ops import window
from ...tensor import Tensor

_CHANNELS = 4  # that kernels read at once

_WORTH = 1 << 21
"""Multiply-adds of a convolution from which on it pays for the kernels that rearrange operands."""


@dataclass(frozen=True)
class Columns:
    """A convolution of one group by columns.

    together: columns of the result that are one. block: columns of the image that are one. taps:
    blocks that a filter meets. attrs: of the convolution of blocks.
    """

    together: int
    block: int
    taps: int
    attrs: dict[str, Any]

    def image(self, x: Tensor, padding: tuple[int, int], width: int) -> Tensor:
        """x (n, h, w, c) as (n, h, blocks, block * c), with its padding left and right; `width` is
        that of the result."""
        n, h, w, c = x.shape
        blocks = width // self.together - 1 + self.taps
        left, wide = padding[0], blocks * self.block
        padded = f.pad(x, [(0, 0), (0, 0), (left, wide - left - w), (0, 0)])
        return f.reshape(padded, (n, h, blocks, self.block * c))

    def weight(self, weight: Tensor) -> Tensor:
        """weight (kh, kw, c, o) as (kh, taps, block * c, together * o)."""
        kh, kw, c, o = weight.shape
        reach, shift = self.taps * self.block, self.block // self.together
        # Rows that are longer by `shift` than the next ones begin shifts it from one to the next.
        rows = f.pad(weight, [(0, 0), (0, reach + shift - kw), (0, 0), (0, 0)])
        rows = f.broadcast_to(f.expand_dims(rows, 1), (kh, self.together, *rows.shape[1:]))
        line = f.reshape(rows, (kh, self.together * (reach + shift), c, o))
        line = line[:, : self.together * reach]
        shifted = f.reshape(line, (kh, self.together, reach, c, o))
        shifted = f.permute_dims(shifted, (0, 2, 3, 1, 4))
        return f.reshape(shifted, (kh, self.taps, self.block * c, self.together * o))

    def weight_gradient(self, gradient: Tensor, shape: Shape) -> Tensor:
        """The gradient of what `weight` gave as that of the weight of `shape`."""
        kh, kw, c, o = shape
        reach, shift = self.taps * self.block, self.block // self.together
        shifted = f.reshape(gradient, (kh, reach, c, self.together, o))
        shifted = f.permute_dims(shifted, (0, 3, 1, 2, 4))
        line = f.reshape(shifted, (kh, self.together * reach, c, o))
        line = f.pad(line, [(0, 0), (0, self.together * shift), (0, 0), (0, 0)])
        rows = f.reshape(line, (kh, self.together, reach + shift, c, o))
        return f.sum(rows[:, :, :kw], axis=1)


# Why: docs/decisions/webgpu.md, "Images of one or two channels are convolved several columns at a
# time"
def columns_of(block: int, x: Shape, weight: Shape, result: Shape, **attrs: Any) -> Columns | None:
    """How a convolution is computed with `block` columns of its image as one, by its shapes and
    attributes; None where it is not worth it or results do not fill blocks."""
    stride = attrs["stride"][1]
    if block < 2 or block % stride or size_of(result) * size_of(weight[:3]) < _WORTH:
        return None
    together = block // stride
    if attrs["groups"] > 1 or attrs["dilation"][1] > 1 or weight[1] == 1 or result[2] % together:
        return None
    taps = -(-((together - 1) * stride + weight[1]) // block)
    changed = {
        "stride": (attrs["stride"][0], 1),
        "padding": (attrs["padding"][0], (0, 0)),
        "dilation": attrs["dilation"],
        "groups": 1,
    }
    return Columns(together, block, taps, changed)


def conv2d_by_columns(x: Tensor, weight: Tensor, **attrs: Any) -> Tensor:
    """The convolution, by columns where that pays."""
    plain = make(window.conv2d, x.node, weight.node, **attrs)
    if not x.size:
        return Tensor(plain)
    columns = columns_of(_CHANNELS // x.shape[3], x.shape, weight.shape, plain.shape, **attrs)
    if columns is None:
        return Tensor(plain)
    image = columns.image(x, attrs["padding"][1], plain.shape[2])
    wide = make(window.conv2d, image.node, columns.weight(weight).node, **columns.attrs)
    return f.reshape(Tensor(wide), plain.shape)
