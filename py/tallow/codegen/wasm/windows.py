"""Convolutions and poolings over channels-last images.

A convolution computes tiles of pixels by channels in registers. What a filter meets outside of the
image is read from address 0, where memory holds ZEROS bytes of zeros, so that no element is tested
in the innermost loop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...dtype import float32
from ...graph import Node
from ...ops import window
from ...shape import Shape, size_of
from ..index import Coord, Coords
from .arithmetic import UnsupportedError, constant, kind_of
from .expression import Expression

Store = Callable[[Shape, Coords, Coord, int], None]

ZEROS = 65536
"""Bytes at the beginning of every memory that hold zeros, and stay so."""

_PIXELS, _VECTORS = 6, 2  # of a tile: see products.py


def convolution(body: Expression, node: Node, store: Store) -> None:
    """Writes a conv2d, and what is fused behind it: `store` computes that, given a shape,
    coordinates in it, their flat index and how many elements."""
    x, w = node.inputs
    groups, channels = node.attrs["groups"], x.shape[3]
    if w not in body.addresses:
        raise UnsupportedError("a convolution by weights that are not in memory")
    if node.dtype != float32 or 4 * channels > ZEROS:
        raise UnsupportedError(f"convolutions of {node.dtype.name} with {channels} channels")
    if groups == 1:
        _Dense(body, node, store).write()
    elif groups == channels == node.shape[3] and channels % 4 == 0 and x in body.addresses:
        _Depthwise(body, node, store).write()
    else:
        raise UnsupportedError(f"{groups} groups of {channels} channels")


class _Window:
    """What convolutions have in common: tiles along the rows of the result."""

    def __init__(self, body: Expression, node: Node, store: Store) -> None:
        self.body, self.node, self.store = body, node, store
        self.emit = body.emit
        self.x, self.w = node.inputs
        self.n, self.height, self.width, self.channels = self.x.shape
        self.shape = node.shape
        self.kernel = self.w.shape[:2]
        unpadded = not any(side for pair in node.attrs["padding"] for side in pair)
        plain = self.x in body.addresses and tuple(node.attrs["stride"]) == (1, 1)
        if self.kernel == (1, 1) and plain and unpadded:
            # A product of pixels by channels: all pixels are one row.
            self.n, self.height, self.width = 1, 1, size_of(self.x.shape[:3])
            self.shape = (1, 1, self.width, node.shape[3])

    def write(self) -> None:
        """Everything."""
        n, height, width, _ = self.shape
        whole = width - width % _PIXELS

        def row(image: Coord, y: Coord) -> None:
            self.body.loop(whole, lambda x: self.tiles((image, y, x), _PIXELS), _PIXELS)
            self.body.loop(width - whole, lambda x: self.tiles((image, y, x + whole), 1))

        self.body.loop(n, lambda image: self.body.loop(height, lambda y: row(image, y)))

    def tiles(self, first: tuple[Coord, Coord, Coord], pixels: int) -> None:
        """All channels of some pixels that begin at `first`."""
        raise NotImplementedError

    def taps(
        self,
        first: tuple[Coord, Coord, Coord],
        pixels: int,
        step: Callable[[Coord, Coord, list[_Pixel]], None],
    ) -> None:
        """Loops over the elements of the filter; `step` is given their coordinates, and the pixels
        that they meet."""
        image, y, x = first
        (top, _), (left, _) = self.node.attrs["padding"]
        (down, across), (far_down, far) = self.node.attrs["stride"], self.node.attrs["dilation"]

        def one(ky: Coord, kx: Coord) -> None:
            line = y * down + ky * far_down - top
            columns = [(x + pixel) * across + kx * far - left for pixel in range(pixels)]
            step(ky, kx, [_Pixel(self, image, line, column) for column in columns])

        rows, columns = self.kernel
        self.body.loop(rows, lambda ky: self.body.loop(columns, lambda kx: one(ky, kx)))

    def totals(self, count: int, lanes: int) -> list[int]:
        """Locals that are 0."""
        made = [self.body.function.local(kind_of(float32, lanes)) for _ in range(count)]
        for local in made:
            constant(self.body.function, 0, float32, lanes)
            self.emit("local.set", local)
        return made

    def weight(self, index: Coord, lanes: int) -> int:
        """The local with weights from a flat index on."""
        offset = self.body.push_address(self.body.addresses[self.w], float32, index)
        self.emit("v128.load" if lanes == 4 else "f32.load", offset)
        local = self.body.function.local(kind_of(float32, lanes))
        self.emit("local.set", local)
        return local

    def accumulate(self, total: int, x: int, w: int, lanes: int) -> None:
        """total += x * w"""
        kind = "f32x4" if lanes == 4 else "f32"
        fused = lanes == 4 and self.body.relaxed
        for local in (x, w, total) if fused else (total, x, w):
            self.emit("local.get", local)
        if fused:
            self.emit("f32x4.relaxed_madd")
        else:
            self.emit(f"{kind}.mul")
            self.emit(f"{kind}.add")
        self.emit("local.set", total)

    def keep(
        self, first: tuple[Coord, Coord, Coord], channel: Coord, total: int, lanes: int
    ) -> None:
        """Stores a total and what is fused behind it."""
        image, y, x = first
        _, height, width, channels = self.shape
        linear = ((image * height + y) * width + x) * channels + channel
        self.body.give(self.node, total)
        self.body.scope(lambda: self.store(self.shape, (image, y, x, channel), linear, lanes))


class _Pixel:
    """A pixel of the image that an element of the filter meets, or zeros outside of it.

    Of an image in memory a local has its address. Any other is a view, such as channels-first data,
    whose elements are computed one by one.
    """

    def __init__(self, window: _Window, image: Coord, line: Coord, column: Coord) -> None:
        self.window, self.coords = window, (image, line, column)
        self._local: int | None = None
        tests = [(line, window.height), (column, window.width)]
        self._open = [pair for pair in tests if not _is_inside(*pair)]
        body = window.body
        if window.x in body.addresses:
            index = ((image * window.height + line) * window.width + column) * window.channels
            window.emit("local.get", body.addresses[window.x])
            body.push_index(index * 4)
            window.emit("i32.add")
            if self._open:
                window.emit("i32.const", 0)
                _push_tests(body, self._open)
                window.emit("select")
            self._local = body.function.local("i32")
            window.emit("local.set", self._local)

    def load(self, channel: Coord, lanes: int, splat: bool, into: int) -> None:
        """Brings the element of a channel, or four of them, into a local. splat: in all lanes."""
        window, body = self.window, self.window.body
        if self._local is not None:
            offset = body.push_address(self._local, float32, channel)
            vector = "v128.load32_splat" if splat else "v128.load"
            window.emit(vector if lanes == 4 else "f32.load", offset)
            window.emit("local.set", into)
            return

        def compute() -> None:
            window.emit("local.get", body.value(window.x, (*self.coords, channel)))
            if lanes == 4:
                window.emit("f32x4.splat")
            window.emit("local.set", into)

        if not self._open:
            compute()
            return
        constant(body.function, 0, float32, lanes)
        window.emit("local.set", into)
        _push_tests(body, self._open)
        window.emit("if")
        body.scope(compute)
        window.emit("end")


def _push_tests(body: Expression, tests: list[tuple[Coord, int]]) -> None:
    """Pushes whether coordinates are inside."""
    for number, (coord, size) in enumerate(tests):
        body.push_index(coord)
        body.emit("i32.const", size)
        body.emit("i32.lt_u")  # a negative one is a very large unsigned number
        if number:
            body.emit("i32.and")


class _Dense(_Window):
    """Each channel of the result is a sum over all channels of the image."""

    def tiles(self, first: tuple[Coord, Coord, Coord], pixels: int) -> None:
        out = self.shape[3]
        across = 4 * _VECTORS
        wide = out - out % across
        rest = [(wide, 1)] if out - wide >= 4 else []
        rest += [(channel, 0) for channel in range(wide + 4 * len(rest), out)]
        self.body.loop(wide, lambda o: self._tile(first, pixels, o, _VECTORS), across)
        for channel, vectors in rest:
            self.body.scope(partial(self._tile, first, pixels, channel, vectors))

    def _tile(
        self, first: tuple[Coord, Coord, Coord], pixels: int, channel: Coord, vectors: int
    ) -> None:
        lanes, count = (4, vectors) if vectors else (1, 1)
        totals = self.totals(pixels * count, lanes)
        out = self.shape[3]

        def tap(ky: Coord, kx: Coord, met: list[_Pixel]) -> None:
            def step(c: Coord) -> None:
                row = (ky * self.kernel[1] + kx) * self.channels + c
                weights = [
                    self.weight(row * out + channel + lanes * number, lanes)
                    for number in range(count)
                ]
                value = self.body.function.local(kind_of(float32, lanes))
                for pixel, each in enumerate(met):
                    each.load(c, lanes, True, value)
                    for number, weight in enumerate(weights):
                        self.accumulate(totals[pixel * count + number], value, weight, lanes)

            self.body.loop(self.channels, step)

        self.taps(first, pixels, tap)
        image, y, x = first
        for pixel in range(pixels):
            for number in range(count):
                total = totals[pixel * count + number]
                self.keep((image, y, x + pixel), channel + lanes * number, total, lanes)


class _Depthwise(_Window):
    """Each channel has one filter of its own."""

    def tiles(self, first: tuple[Coord, Coord, Coord], pixels: int) -> None:
        self.body.loop(self.channels, lambda c: self._tile(first, pixels, c), 4)

    def _tile(self, first: tuple[Coord, Coord, Coord], pixels: int, channel: Coord) -> None:
        totals = self.totals(pixels, 4)

        def tap(ky: Coord, kx: Coord, met: list[_Pixel]) -> None:
            row = ky * self.kernel[1] + kx
            weight = self.weight(row * self.channels + channel, 4)
            value = self.body.function.local("v128")
            for pixel, total in zip(met, totals, strict=True):
                pixel.load(channel, 4, False, value)
                self.accumulate(total, value, weight, 4)

        self.taps(first, pixels, tap)
        image, y, x = first
        for pixel, total in enumerate(totals):
            self.keep((image, y, x + pixel), channel, total, 4)


def _is_inside(coord: Coord, size: int) -> bool:
    """Whether a coordinate is certainly not negative and below a size."""
    if isinstance(coord, int):
        return 0 <= coord < size
    return coord.least >= 0 and coord.bound <= size


def pooling(body: Expression, node: Node, store: Store, width: int) -> None:
    """Writes a max_pool2d or sum_pool2d, and what is fused behind it."""
    (x,) = node.inputs
    if x not in body.addresses:
        raise UnsupportedError("a pooling of what is not in memory")
    if node.dtype != float32 or (width == 4 and node.shape[3] % 4):
        raise UnsupportedError(f"poolings of {node.shape[3]} channels of {node.dtype.name}")
    is_max = node.op is window.max_pool2d
    (top, _), (left, _) = node.attrs["padding"]
    (down, across), (far_down, far) = node.attrs["stride"], node.attrs["dilation"]
    _, height, columns, channels = x.shape
    shape = "f32x4" if width == 4 else "f32"

    def pixel(n: Coord, y: Coord, at: Coord, c: Coord) -> None:
        total = body.function.local(kind_of(float32, width))
        constant(body.function, float("-inf") if is_max else 0, float32, width)
        body.emit("local.set", total)

        def tap(ky: Coord, kx: Coord) -> None:
            line = y * down + ky * far_down - top
            column = at * across + kx * far - left
            tests = [(line, height), (column, columns)]
            tests = [pair for pair in tests if not _is_inside(*pair)]
            _push_tests(body, tests)
            if tests:
                body.emit("if")
            body.emit("local.get", total)
            index = ((n * height + line) * columns + column) * channels + c
            offset = body.push_address(body.addresses[x], float32, index)
            body.emit("v128.load" if width == 4 else "f32.load", offset)
            body.emit(f"{shape}.{'max' if is_max else 'add'}")
            body.emit("local.set", total)
            if tests:
                body.emit("end")

        rows, wide = node.attrs["kernel"]
        body.loop(rows, lambda ky: body.loop(wide, lambda kx: body.scope(lambda: tap(ky, kx))))
        _, out_height, out_width, _ = node.shape
        linear = ((n * out_height + y) * out_width + at) * channels + c
        body.give(node, total)
        body.scope(lambda: store(node.shape, (n, y, at, c), linear, width))

    n, out_height, out_width, _ = node.shape

    def row(image: Coord, y: Coord) -> None:
        body.loop(
            out_width,
            lambda at: body.loop(channels, lambda c: pixel(image, y, at, c), width),
        )

    body.loop(n, lambda image: body.loop(out_height, lambda y: row(image, y)))
