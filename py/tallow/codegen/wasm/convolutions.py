"""Convolutions over channels-last images, as products of the result's pixels with the filters.

A row of the left operand is what the filters meet at one pixel: kh * kw * c elements. Where these
do not lie in memory as they are, some rows at a time are copied next to each other, with zeros for
what is outside of the image ("im2col").
"""

from __future__ import annotations

from functools import cache, partial

from ...graph import Node
from ...ops import movement, panels
from ...shape import size_of
from ..index import Coord, Coords
from .body import is_inside
from .copying import Copier
from .expression import Expression
from .products import Left, Place, Tiled
from .unpacked import Store
from .values import UnsupportedError


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
    left: Left = Pixels(body, x, node.inputs[1].shape[2])
    if not _is_pointwise(node):
        left = Windows(body, node, scratch)
    pixel_of = cache(partial(_pixel, node))

    def place(group: Coord, row: Coord, column: Coord) -> Place:
        channel = group * columns + column
        return node.shape, (*pixel_of(row), channel), row * out + channel

    depth = size_of(node.inputs[1].shape[:3])
    address = body.addresses[weight.inputs[0]]
    tiled = Tiled(body, node, left, address, groups, rows, depth, columns, place, store, width)
    return tiled.write()


def _is_pointwise(node: Node) -> bool:
    """Whether a row is the channels of a pixel, as they lie in memory."""
    unpadded = not any(side for pair in node.attrs["padding"] for side in pair)
    plain = node.inputs[1].shape[:2] == tuple(node.attrs["stride"]) == (1, 1)
    return bool(plain and unpadded)


def _pixel(node: Node, row: Coord) -> tuple[Coord, Coord, Coord]:
    """Image, line and column of a pixel of the result, all of which are counted in one row."""
    _, lines, columns, _ = node.shape
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
        body = self._body
        body.emit("local.get", body.addresses[self._x])
        body.push_index(row * self.stride + n * (4 * self._channels))
        body.emit("i32.add")
        return body.keep("i32")


class Windows:
    """What filters meet, copied to memory of the kernel's own."""

    brought = True

    def __init__(self, body: Expression, node: Node, scratch: int) -> None:
        self.body, self.node, self.scratch = body, node, scratch
        self.x = node.inputs[0]
        self.kernel = node.inputs[1].shape[:2]
        self.channels = node.inputs[1].shape[2]
        self.depth = size_of(node.inputs[1].shape[:3])
        self.stride, self.step = 4 * self.depth, 4

    def point(self, n: Coord, row: Coord, first: Coord) -> int:
        body = self.body
        body.emit("local.get", self.scratch)
        body.push_index((row - first) * self.stride)
        body.emit("i32.add")
        return body.keep("i32")

    def bring(self, n: Coord, first: Coord, end: Coord) -> None:
        body = self.body
        copier = Copier(body, self.scratch)
        body.span(first, end, lambda row: self._row(n, row, copier))

    def _row(self, group: Coord, row: Coord, copier: Copier) -> None:
        """Copies what the filters meet at a pixel."""
        body, attrs = self.body, self.node.attrs
        (top, _), (left, _) = attrs["padding"]
        (down, across), (far_down, far) = attrs["stride"], attrs["dilation"]
        height, width = self.x.shape[1:3]
        image, y, x = _pixel(self.node, row)
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

    def _copy(self, group: Coord, at: Coords, count: int, copier: Copier) -> None:
        """Copies elements from the first channel of a pixel on."""
        body, first = self.body, group * self.channels
        address, linear = body.locate(self.x, (*at, first))
        body.emit("local.get", address)
        body.push_index(linear * 4)
        body.emit("i32.add")
        copier.copy(count)
