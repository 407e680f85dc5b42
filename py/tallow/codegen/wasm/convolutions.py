"""Convolutions over channels-last images, as products of the result's pixels with the filters.

A row of the left operand is what the filters meet at one pixel: kh * kw * c elements. Where these
do not lie in memory as they are, some rows at a time are copied next to each other, with zeros for
what is outside of the image ("im2col").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...dtype import float32
from ...graph import Node
from ...ops import movement, panels
from ...shape import Shape, size_of
from ..index import Coord, Coords
from . import tiles
from .arithmetic import UnsupportedError, constant
from .expression import Expression, is_inside
from .products import Left, Tiled
from .unpacked import Store

_UNROLLED = 8  # vectors that are copied one after the other without a loop around them
_STRAIGHT = 32  # vectors that are copied without any


def convolution(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes a conv2d, and what is fused behind it, as `product` does (products.py)."""
    x, weight = node.inputs
    while weight.op in (movement.permute, movement.reshape):
        weight = weight.inputs[0]
    if weight.op is not panels.unpack_panels or weight.inputs[0] not in body.addresses:
        raise UnsupportedError("a convolution by weights that are not packed")
    groups, out = node.attrs["groups"], node.shape[3]
    rows, columns = size_of(node.shape[:3]), out // groups
    left: Left = Pixels(body, x, node.inputs[1].shape[2])
    if not _is_pointwise(node, body):
        left = Windows(body, node, scratch)
    shape = (1, 1, rows, out)

    def place(group: Coord, row: Coord, column: Coord) -> tuple[Shape, Coords, Coord]:
        channel = group * columns + column
        return shape, (0, 0, row, channel), row * out + channel

    depth = size_of(node.inputs[1].shape[:3])
    address = body.addresses[weight.inputs[0]]
    tiled = Tiled(body, node, left, address, groups, rows, depth, columns, place, store, width)
    tiled.write()
    return tiled.scratch


def _is_pointwise(node: Node, body: Expression) -> bool:
    """Whether a row is the channels of a pixel, as they lie in memory."""
    unpadded = not any(side for pair in node.attrs["padding"] for side in pair)
    plain = node.inputs[0] in body.addresses and tuple(node.attrs["stride"]) == (1, 1)
    return plain and unpadded and node.inputs[1].shape[:2] == (1, 1)


class Pixels:
    """The channels of pixels, or of each group of them, as rows of a left operand."""

    brought = False

    def __init__(self, body: Expression, x: Node, channels: int) -> None:
        self._body, self._x, self._channels = body, x, channels
        self.stride, self.step = 4 * x.shape[3], 4

    def bring(self, n: Coord, first: Coord, end: Coord) -> None:
        raise NotImplementedError

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
        body.emit("local.get", self.scratch)
        into = body.keep("i32")
        body.span(first, end, lambda row: self._row(n, row, into))

    def _row(self, group: Coord, row: Coord, into: int) -> None:
        """Copies what the filters meet at a pixel, and moves `into` behind it."""
        body, attrs = self.body, self.node.attrs
        (top, _), (left, _) = attrs["padding"]
        (down, across), (far_down, far) = attrs["stride"], attrs["dilation"]
        _, rows, columns, _ = self.node.shape
        height, width = self.x.shape[1:3]
        image, pixel = row // (rows * columns), row % (rows * columns)
        y, x = pixel // columns, pixel % columns
        whole = self.kernel[1] * self.channels  # elements of a line of the filters
        # Those lie together in an image in memory.
        together = far == 1 and self.channels == self.x.shape[3] and self.x in body.addresses

        def tap(line: Coord, kx: Coord) -> None:
            column = x * across + kx * far - left
            tests = [] if is_inside(column, width) else [(column, width)]
            copy = partial(self._copy, group, (image, line, column), self.channels, into)
            body.choose(tests, copy, partial(self._clear, self.channels, into))

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
                copy = partial(self._copy, group, (image, line, start), whole, into)
                body.choose(test, copy, lambda: taps(line))

            body.choose(tests, inside, partial(self._clear, whole, into))

        body.loop(self.kernel[0], one)

    def _copy(self, group: Coord, at: Coords, count: int, into: int) -> None:
        """Copies elements from the first channel of a pixel on."""
        body, first = self.body, group * self.channels
        if self.x not in body.addresses:

            def one(channel: Coord) -> None:
                value = body.value(self.x, (*at, first + channel))
                body.emit("local.get", into)
                body.emit("local.get", value)
                body.emit("f32.store", 0)
                tiles.advance(body, into, 4)

            body.loop(count, one)
            return
        address, linear = body.locate(self.x, (*at, first))
        body.emit("local.get", address)
        body.push_index(linear * 4)
        body.emit("i32.add")
        source = body.keep("i32")

        def some(kind: str, offset: int) -> None:
            body.emit("local.get", into)
            body.emit("local.get", source)
            body.emit(f"{kind}.load", offset)
            body.emit(f"{kind}.store", offset)

        self._vectors(count, some, [into, source])

    def _clear(self, count: int, into: int) -> None:
        """Writes zeros."""
        body = self.body

        def some(kind: str, offset: int) -> None:
            body.emit("local.get", into)
            constant(body.function, 0, float32, 4 if kind == "v128" else 1)
            body.emit(f"{kind}.store", offset)

        self._vectors(count, some, [into])

    def _vectors(self, count: int, some: Callable[[str, int], None], moved: list[int]) -> None:
        """Calls `some` for each vector of so many elements, and for each element that is left over,
        with its offset; then moves pointers behind them."""
        vectors, rest = divmod(count, 4)
        if vectors > _STRAIGHT:

            def turn(_: Coord) -> None:
                for vector in range(_UNROLLED):
                    some("v128", 16 * vector)
                for pointer in moved:
                    tiles.advance(self.body, pointer, 16 * _UNROLLED)

            self.body.loop(vectors // _UNROLLED, turn)
            vectors %= _UNROLLED
        for vector in range(vectors):
            some("v128", 16 * vector)
        for element in range(rest):
            some("f32", 16 * vectors + 4 * element)
        for pointer in moved:
            tiles.advance(self.body, pointer, 16 * vectors + 4 * rest)
