"""Convolutions over channels-last images, as products of the result's pixels with the filters.

A row of the left operand is what the filters meet at one pixel: kh * kw * c elements. Where these
do not lie in memory as they are, some rows at a time are copied next to each other, with zeros for
what is outside of the image ("im2col").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

from .....codegen.index import Coord, Coords
from .....core.shape import Shape, size_of
from .....graph import Node
from .....ops import movement, panels
from ..body import is_inside
from ..expression import Expression
from ..values import UnsupportedError
from .copying import Copier
from .products import Left, Location, Panels, Tiled
from .unpacked import Store


def convolution(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes a conv2d, and what is fused behind it, as `product` does (products.py)."""
    x, weight = node.inputs
    while weight.op in (movement.permute, movement.reshape):
        weight = weight.inputs[0]
    if weight.op is not panels.unpack_panels or weight.inputs[0] not in body.addresses:
        raise UnsupportedError("a convolution by weights that are not packed")
    if x not in body.addresses:
        raise UnsupportedError("a convolution of what is not in memory")
    groups, out = node.attrs["groups"], node.shape[3]
    rows, columns = size_of(node.shape[:3]), out // groups
    filters = Filters.of(node)
    left: Left = Pixels(body, x, filters.channels)
    if not filters.is_pointwise:
        left = Windows(filters, body, scratch)
    pixel_of = cache(partial(pixel, node.shape))

    def locate(group: Coord, row: Coord, column: Coord) -> Location:
        channel = group * columns + column
        return node.shape, (*pixel_of(row), channel), row * out + channel

    depth = filters.depth
    right = Panels(body, body.addresses[weight.inputs[0]], depth, columns)
    tiled = Tiled(
        body, node, left, right, groups, rows, depth, columns, locate, store, width, scratch, depth
    )
    return tiled.write()


def pixel(shape: Shape, row: Coord) -> tuple[Coord, Coord, Coord]:
    """Image, line and column of a pixel of a result, all of which are counted in one row."""
    _, lines, columns, _ = shape
    rest = row % (lines * columns)
    return row // (lines * columns), rest // columns, rest % columns


class Pixels:
    """The channels of pixels, or of each group of them, as rows of a left operand."""

    brought = False

    def __init__(self, body: Expression, x: Node, channels: int) -> None:
        self._body, self._x, self._channels = body, x, channels
        self.stride, self.step = 4 * x.shape[3], 4

    def bring(self, n: Coord, first: Coord, end: Coord) -> None:
        """They are read where they are."""

    def point(self, n: Coord, row: Coord, first: Coord) -> int:
        """A local with the address of a row."""
        body = self._body
        return body.pointer(body.addresses[self._x], row * self.stride + n * (4 * self._channels))


@dataclass(frozen=True)
class Filters:
    """A convolution's image, its result's shape, its kernel, and the channels that filters meet."""

    x: Node
    shape: Shape
    kernel: Shape
    channels: int
    attrs: Mapping[str, Any]

    @staticmethod
    def of(node: Node) -> Filters:
        """Those of a convolution."""
        x, weight = node.inputs
        return Filters(x, node.shape, weight.shape[:2], weight.shape[2], node.attrs)

    @property
    def depth(self) -> int:
        """Elements that filters meet at a pixel."""
        return size_of(self.kernel) * self.channels

    @property
    def is_pointwise(self) -> bool:
        """Whether they are the channels of a pixel, as they lie in memory."""
        unpadded = not any(side for pair in self.attrs["padding"] for side in pair)
        plain = tuple(self.kernel) == tuple(self.attrs["stride"]) == (1, 1)
        return bool(plain and unpadded)


class Rows(Protocol):
    """What rows are copied with: see Copier."""

    def copy(self, count: int) -> None:
        """Copies so many elements."""

    def clear(self, count: int) -> None:
        """Writes so many zeros."""


class Windows:
    """What filters meet, copied to memory of the kernel's own."""

    brought = True

    def __init__(self, filters: Filters, body: Expression, scratch: int) -> None:
        self.body, self.filters, self.scratch = body, filters, scratch
        self.x, self.kernel, self.channels = filters.x, filters.kernel, filters.channels
        self.stride, self.step = 4 * filters.depth, 4

    def point(self, n: Coord, row: Coord, first: Coord) -> int:
        """A local with the address of a row."""
        body = self.body
        return body.pointer(self.scratch, (row - first) * self.stride)

    def bring(self, n: Coord, first: Coord, end: Coord) -> None:
        """Copies the rows from `first` to `end`."""
        body = self.body
        copier = Copier(body, self.scratch)
        body.span(first, end, lambda row: self.row(n, row, copier))

    def row(self, group: Coord, row: Coord, copier: Rows) -> None:
        """Copies what the filters meet at a pixel."""
        body, attrs = self.body, self.filters.attrs
        (top, _), (left, _) = attrs["padding"]
        (down, across), (far_down, far) = attrs["stride"], attrs["dilation"]
        height, width = self.x.shape[1:3]
        image, y, x = pixel(self.filters.shape, row)
        whole = self.kernel[1] * self.channels  # elements of a line of the filters
        together = far == 1 and self.channels == self.x.shape[3]  # in memory, too

        def tap(line: Coord, kx: Coord) -> None:
            column = x * across + kx * far - left
            tests = [] if is_inside(column, width) else [(column, width)]
            copy = partial(self._copy, group, (image, line, column), self.channels, copier)
            body.choose(tests, copy, partial(copier.clear, self.channels))

        def taps(line: Coord) -> None:
            body.loop(self.kernel[1], lambda kx: tap(line, kx))

        def one(ky: Coord) -> None:
            line = y * down + ky * far_down - top
            tests = [] if is_inside(line, height) else [(line, height)]

            def inside() -> None:
                end = width - self.kernel[1] + 1
                if not together or end < 1:
                    taps(line)
                    return
                start = x * across - left
                test = [] if is_inside(start, end) else [(start, end)]
                copy = partial(self._copy, group, (image, line, start), whole, copier)
                body.choose(test, copy, lambda: taps(line))

            body.choose(tests, inside, partial(copier.clear, whole))

        body.loop(self.kernel[0], one)

    def _copy(self, group: Coord, at: Coords, count: int, copier: Rows) -> None:
        """Copies elements from the first channel of a pixel on."""
        body, first = self.body, group * self.channels
        address, linear = body.locate(self.x, (*at, first))
        body.push_sum(address, linear * self.x.dtype.size)
        copier.copy(count)
