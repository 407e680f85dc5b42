"""Windows that slide over each channel by itself: depthwise convolutions and poolings.

Images are channels-last. A tile is some neighbours in a line of the result by four channels, in
registers: an element of the image is read once for all of those whose windows it is in. Lines of a
window that are outside of the image are left out by the bounds of a loop, columns when the code is
written: at the ends of a line the code of a tile knows where it is.
"""

from __future__ import annotations

from itertools import groupby

from .....codegen.index import Coord, Coords
from .....core.dtype import float32
from .....graph import Node
from .....ops import window
from ..body import is_inside
from ..expression import Expression
from ..values import UnsupportedError, constant, kind_of
from . import tiles
from .unpacked import Store

_PIXELS = 7
"""Of a tile at most: with five weights and what is read they leave a register of V8's free."""
_REGISTERS = 13
_UNROLLED = 64
"""Operations of a tile that are written one after the other, about."""


_FEW = 4
"""So many operations behind a window are written for each neighbour. More of them take so long that
the way of the sums through memory, to a loop over the neighbours, hardly shows."""


def sliding(
    body: Expression, node: Node, store: Store, width: int, scratch: int, behind: int
) -> int:
    """Writes a depthwise conv2d, a max_pool2d or a sum_pool2d, and what is fused behind it, as
    `product` does (products.py). behind: how many operations that is."""
    x = node.inputs[0]
    if any(child not in body.addresses for child in node.inputs):
        raise UnsupportedError("a window over what is not in memory")
    if node.dtype != float32 or x.shape[3] % width:
        raise UnsupportedError(f"windows over {x.shape[3]} channels of {node.dtype.name}")
    waiting = scratch if behind > _FEW else None
    _Sliding(body, node, store, width, waiting).write()
    return 0 if waiting is None else 4 * width * _PIXELS


class _Sliding:
    """waiting: the local with the address of memory in which a tile waits until it is stored; None
    if it need not."""

    def __init__(
        self, body: Expression, node: Node, store: Store, lanes: int, waiting: int | None
    ) -> None:
        self.body, self.node, self.store, self.lanes = body, node, store, lanes
        self.waiting = waiting
        self.emit = body.emit
        self.x = body.addresses[node.inputs[0]]
        self.weight = body.addresses[node.inputs[1]] if len(node.inputs) > 1 else None
        self.kernel = node.inputs[1].shape[:2] if len(node.inputs) > 1 else node.attrs["kernel"]
        self.load = "v128.load" if lanes == 4 else "f32.load"
        _, self.height, self.width, self.channels = node.inputs[0].shape

    def write(self) -> None:
        images, lines, columns, _ = self.node.shape
        held = self.kernel[1] if self.weight is not None else 0
        most = max(min(_PIXELS, _REGISTERS - held, _UNROLLED // self.kernel[1]), 1)
        count = -(-columns // most)
        low, higher = divmod(columns, count)
        sizes = [low + 1] * higher + [low] * (count - higher)
        starts = [sum(sizes[:number]) for number in range(count)]
        parts = [
            list(alike)
            for _, alike in groupby(
                zip(starts, sizes, strict=True),
                lambda tile: (tile[1], None if self._is_inside(*tile) else tile[0]),
            )
        ]

        def line(image: Coord, y: Coord) -> None:
            self._line(image, y)
            for alike in parts:
                self._alike(image, y, alike)

        self.body.parallel((images, lines), lambda at: line(*at))

    def _alike(self, image: Coord, y: Coord, alike: list[tuple[int, int]]) -> None:
        """Neighbouring tiles of one size, given by the first of their pixels and their number."""
        first, size = alike[0]
        self.body.loop(
            len(alike), lambda number: self._tiles(image, y, number * size + first, size)
        )

    def _is_inside(self, first: int, size: int) -> bool:
        """Whether all columns that a tile meets are inside of the image."""
        left = self.node.attrs["padding"][1][0]
        across, far = self.node.attrs["stride"][1], self.node.attrs["dilation"][1]
        start = first * across - left
        end = start + (size - 1) * across + (self.kernel[1] - 1) * far
        return bool(start >= 0 and end < self.width)

    def _line(self, image: Coord, y: Coord) -> None:
        """Makes locals for a line of the result: how many lines of the windows are inside of the
        image, and the addresses of the first of them in the image and among the weights."""
        body, emit, lines = self.body, self.emit, self.kernel[0]
        down, far = self.node.attrs["stride"][0], self.node.attrs["dilation"][0]
        start = y * down - self.node.attrs["padding"][0][0]
        ends = start, start + (lines - 1) * far
        self.whole = all(is_inside(end, self.height) for end in ends)
        self.turns, self.source, self.filters = (body.function.local("i32") for _ in range(3))
        at = body.keep_index(start)
        first = body.function.local("i32")
        if not self.whole:
            # The first line that is not above the image, and behind it the first one below.
            emit("i32.const", far - 1)
            body.apply("i32.sub", at)
            body.apply("i32.div_s", number=far)
            emit("i32.const", 0)
            body.apply("i32.lt_s", at, number=0)
            body.apply("select", into=first)
            emit("i32.const", self.height + far - 1)
            body.apply("i32.sub", at)
            body.apply("i32.div_s", number=far)
            emit("local.tee", self.turns)
            emit("i32.const", lines)
            body.apply("i32.lt_s", self.turns, number=lines)
            emit("select")
            body.apply("i32.sub", first, into=self.turns)
            body.apply("i32.mul", first, number=far)
            body.apply("i32.add", at, into=at)
        self._point(self.source, self.x, at, image * self.height, 4 * self.width * self.channels)
        if self.weight is not None and not self.whole:
            self._point(self.filters, self.weight, first, 0, 4 * self.kernel[1] * self.channels)

    def _point(self, into: int, base: int, number: int, more: Coord, size: int) -> None:
        """into = base + (number + more) * size, of which all but the last two are locals."""
        self.body.push_sum(number, more)
        self.body.apply("i32.mul", number=size)
        self.body.apply("i32.add", base, into=into)

    def _tiles(self, image: Coord, y: Coord, x: Coord, size: int) -> None:
        """All channels of `size` neighbours."""
        left = self.node.attrs["padding"][1][0]
        across, far = self.node.attrs["stride"][1], self.node.attrs["dilation"][1]
        start = x * across - left
        # The columns that the tile meets, with the neighbours and the weights that meet there.
        meetings: dict[int, list[tuple[int, int]]] = {}
        for pixel in range(size):
            for tap in range(self.kernel[1]):
                column = pixel * across + tap * far
                if not isinstance(start, int) or 0 <= start + column < self.width:
                    meetings.setdefault(column, []).append((pixel, tap))
        begin = start + min(meetings, default=0)

        def channels(channel: Coord) -> None:
            totals = self._started(size)
            if meetings:
                columns = {at - min(meetings): met for at, met in sorted(meetings.items())}
                self._add(totals, columns, begin * self.channels + channel, channel)
            self._keep_all(totals, (image, y, x, channel))

        self.body.loop(self.channels, channels, self.lanes)

    def _started(self, count: int) -> list[int]:
        """Locals with the value of a window that meets nothing."""
        start = float("-inf") if self.node.op is window.max_pool2d else 0
        made = [self.body.function.local(kind_of(float32, self.lanes)) for _ in range(count)]
        for local in made:
            constant(self.body.function, start, float32, self.lanes)
            self.emit("local.set", local)
        return made

    def _add(
        self,
        totals: list[int],
        columns: dict[int, list[tuple[int, int]]],
        first: Coord,
        channel: Coord,
    ) -> None:
        """Adds what the windows meet. first: the flat index, in a line, of the first column."""
        body, emit, lines = self.body, self.emit, self.kernel[0]
        body.push_sum(self.source, first * 4)
        source, filters = body.keep("i32"), -1
        if self.weight is not None:
            filters = body.pointer(self.weight if self.whole else self.filters, channel * 4)
        left = body.function.local("i32")
        if self.whole:
            emit("i32.const", lines)
        else:
            emit("local.get", self.turns)
        emit("local.set", left)

        def line() -> None:
            weights: dict[int, int] = {}
            if self.weight is not None:
                for tap in sorted({tap for met in columns.values() for _, tap in met}):
                    offset = 4 * tap * self.channels
                    weights[tap] = body.result_of(self.load, filters, offset=offset)
            for column, met in columns.items():
                value = body.result_of(self.load, source, offset=4 * column * self.channels)
                for pixel, tap in met:
                    self._combine(totals[pixel], value, weights.get(tap))

        if self.whole and lines == 1:
            body.scope(line)
            return
        if not self.whole:
            body.apply("i32.gt_s", left, number=0)
            emit("if")
        emit("loop")
        body.scope(line)
        far = self.node.attrs["dilation"][0]
        tiles.advance(body, source, 4 * far * self.width * self.channels)
        if self.weight is not None:
            tiles.advance(body, filters, 4 * self.kernel[1] * self.channels)
        body.apply("i32.add", left, number=-1)
        emit("local.tee", left)
        emit("br_if", 0)
        emit("end")
        if not self.whole:
            emit("end")

    def _combine(self, total: int, value: int, weight: int | None) -> None:
        if weight is not None:
            tiles.multiply_add(self.body, total, value, weight, self.lanes)
            return
        shape = "f32x4" if self.lanes == 4 else "f32"
        fold = "max" if self.node.op is window.max_pool2d else "add"
        self.body.apply(f"{shape}.{fold}", total, value, into=total)

    def _keep_all(self, totals: list[int], at: Coords) -> None:
        """Stores neighbours from the first one's coordinates on."""
        body, waiting, (image, y, x, channel) = self.body, self.waiting, at
        if waiting is None or len(totals) == 1:
            for pixel, total in enumerate(totals):
                self._keep(total, image, y, x + pixel, channel)
            return
        tiles.lay_down(body, [totals], waiting, self.lanes)

        def one(pixel: Coord) -> None:
            total = tiles.taken_up(body, waiting, pixel * (4 * self.lanes), self.lanes)
            self._keep(total, image, y, x + pixel, channel)

        body.loop(len(totals), one)

    def _keep(self, total: int, image: Coord, y: Coord, x: Coord, channel: Coord) -> None:
        shape = self.node.shape
        linear = ((image * shape[1] + y) * shape[2] + x) * shape[3] + channel
        self.body.give(self.node, total)
        self.store(shape, (image, y, x, channel), linear, self.lanes)
