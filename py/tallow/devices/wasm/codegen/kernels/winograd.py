"""Winograd convolutions F(4x4, 3x3) (ops/winograd4.py), some tiles of the result at a time.

For each block of tiles: the patches that they are made of are transformed; for each panel of the
weight, 36 products of tiles by channels follow, one for each position in a patch (tiles.py); these
are transformed back, and stored with what is fused behind. What lies between stays in the second
cache, in memory of the kernel's own:

    patches     (36, tiles, channels), transformed
    products    (36, tiles, 8)
    patch       (6, 6, channels), of a tile at the border, with zeros outside of the image
"""

from __future__ import annotations

from functools import partial

from .....codegen.index import Coord
from .....core.dtype import float32
from .....graph import Node
from .....ops import panels
from .....ops.winograd4 import PATCH, POSITIONS, TILE, tiles_of
from ..body import is_inside
from ..expression import Expression
from ..values import UnsupportedError, constant
from . import tiles
from .copying import Copier
from .products import Location, store_vector
from .unpacked import Store

_PATCHES_BYTES = 320 << 10
_MOST_AT_ONCE = 2
"""Tiles of tiles: as many products wait to be transformed back."""


def winograd_convolution(
    body: Expression, node: Node, store: Store, width: int, scratch: int
) -> int:
    """Writes a winograd_conv2d, and what is fused behind it, as `product` does (products.py)."""
    x, weight = node.inputs
    if weight.op is not panels.unpack_panels or weight.inputs[0] not in body.addresses:
        raise UnsupportedError("a transformed weight that is not packed")
    if x not in body.addresses or x.shape[3] % 4 or node.shape[3] % panels.COLUMNS:
        raise UnsupportedError("channels that are no multiples of four")
    return _Winograd(body, node, store, width, scratch).write()


def winograd_filters(body: Expression, node: Node, store: Store, width: int) -> None:
    """Writes a winograd_weight, and what is fused behind it, as `product` does (products.py)."""
    (weight,) = node.inputs
    _, channels, filters = node.shape
    if weight not in body.addresses or filters % 4:
        raise UnsupportedError("filters that are no multiple of four")
    address = body.addresses[weight]

    def four(channel: Coord, first: Coord) -> None:
        columns = []
        for column in range(3):
            values = []
            for row in range(3):
                index = ((row * 3 + column) * channels + channel) * filters + first
                offset = body.push_address(address, float32, index)
                values.append(body.result_of("v128.load", offset=offset))
            columns.append(_filtered(body, values))
        for row in range(PATCH):
            for column, local in enumerate(_filtered(body, [each[row] for each in columns])):
                position = row * PATCH + column

                def locate(lane: int, position: int = position) -> Location:
                    coords = position, channel, first + lane
                    return node.shape, coords, (position * channels + channel) * filters + coords[2]

                put = partial(store_vector, body, node, store, local, 4, locate, width)
                body.scope(put)

    def one(channel: Coord) -> None:
        body.loop(filters, lambda first: four(channel, first), 4)

    body.parallel((channels,), lambda at: one(*at))


class _Winograd:
    def __init__(
        self, body: Expression, node: Node, store: Store, width: int, scratch: int
    ) -> None:
        self.body, self.node, self.store, self.lanes = body, node, store, width
        self.x, weight = node.inputs
        self.images, self.height, self.width, self.channels = self.x.shape
        self.weight, self.patches = body.addresses[weight.inputs[0]], scratch
        self.down, self.across = tiles_of(node.shape[1:3])
        self.count = self.images * self.down * self.across
        self.stride, self.step = 4 * self.channels, 4

    def write(self) -> int:
        body = self.body
        self.high = tiles.height_of(self.count, tiles.most_rows(body))
        fitting = _PATCHES_BYTES // (POSITIONS * self.high * self.stride)
        at_once = max(min(fitting, _MOST_AT_ONCE), 1)
        self.most = at_once * self.high  # tiles of a block
        sizes = [POSITIONS * self.most * size for size in (self.stride, 4 * panels.COLUMNS)]
        self.products, self.patch = (body.function.local("i32") for _ in range(2))
        for local, size in ((self.products, sizes[0]), (self.patch, sum(sizes))):
            body.apply("i32.add", self.patches, number=size, into=local)
        body.parallel_spans(
            1,
            -(-self.count // self.high),
            lambda _, begin, end: body.blocks(begin, end, at_once, self._block),
        )
        return sum(sizes) + POSITIONS * self.stride

    def _block(self, begin: Coord, end: Coord) -> None:
        """Some times as many tiles as are multiplied at once; the last ones may be among others."""
        body, last = self.body, self.count - self.high

        def start(several: Coord) -> Coord:
            return body.at_most(several * self.high, last)

        first, behind = start(begin), start(end - 1) + self.high
        body.span(first, behind, lambda tile: self._transform(tile, tile - first))

        def panel(number: Coord) -> None:
            def position(at: Coord) -> None:
                body.span(begin, end, lambda n: self._multiply(at, number, start(n) - first))

            def finish(tile: Coord) -> None:
                body.loop(
                    tiles.VECTORS,
                    lambda vector: self._finish(tile, tile - first, number, vector),
                )

            body.loop(POSITIONS, position)
            body.span(first, behind, finish)

        body.loop(self.node.shape[3] // panels.COLUMNS, panel)

    def _tile_coordinates(self, tile: Coord) -> tuple[Coord, Coord, Coord]:
        """The image of a tile, and its row and column there, counted in tiles."""
        rest = tile % (self.down * self.across)
        return tile // (self.down * self.across), rest // self.across, rest % self.across

    # ---- the image -----------------------------------------------------------------------------

    def _transform(self, tile: Coord, number: Coord) -> None:
        """Transforms the patch of a tile, the `number`-th of its block."""
        body = self.body
        image, y, x = self._tile_coordinates(tile)
        (top, _), (left, _) = self.node.attrs["padding"]
        line, column = y * TILE - top, x * TILE - left
        source, distance = (body.function.local("i32") for _ in range(2))

        def in_image() -> None:
            self._address(image, line, column)
            body.emit("local.set", source)
            body.emit("i32.const", self.width * self.stride)
            body.emit("local.set", distance)

        def at_border() -> None:
            self._copy(image, line, column)
            body.emit("local.get", self.patch)
            body.emit("local.set", source)
            body.emit("i32.const", PATCH * self.stride)
            body.emit("local.set", distance)

        tests = [(line, self.height - PATCH + 1), (column, self.width - PATCH + 1)]
        if min(bound for _, bound in tests) < 1:
            body.scope(at_border)
        else:
            tests = [pair for pair in tests if not is_inside(*pair)]
            body.choose(tests, in_image, at_border)
        lines = [source]
        for _ in range(PATCH - 1):
            lines.append(body.result_of("i32.add", lines[-1], distance))
        target = body.pointer(self.patches, number * self.stride)

        def channels(_: Coord) -> None:
            rows = []
            for pointer in lines:
                values = [
                    body.result_of("v128.load", pointer, offset=column * self.stride)
                    for column in range(PATCH)
                ]
                rows.append(_into(body, values))
                tiles.advance(body, pointer, 16)
            for column in range(PATCH):
                for row, value in enumerate(_into(body, [each[column] for each in rows])):
                    position = row * PATCH + column
                    offset = position * self.most * self.stride
                    body.apply("v128.store", target, value, offset=offset)
            tiles.advance(body, target, 16)

        body.loop(self.channels // 4, channels)

    def _address(self, image: Coord, line: Coord, column: Coord) -> None:
        body = self.body
        body.push_sum(
            body.addresses[self.x],
            ((image * self.height + line) * self.width + column) * self.stride,
        )

    def _copy(self, image: Coord, line: Coord, column: Coord) -> None:
        """Copies a patch, with zeros for what is outside of the image."""
        body = self.body
        copier = Copier(body, self.patch)

        def pixel(row: Coord, at: Coord) -> None:
            pixel_coordinates = line + row, column + at
            pairs = zip(pixel_coordinates, (self.height, self.width), strict=True)
            tests = [pair for pair in pairs if not is_inside(*pair)]

            def copy() -> None:
                self._address(image, *pixel_coordinates)
                copier.copy(self.channels)

            body.choose(tests, copy, partial(copier.clear, self.channels))

        body.loop(PATCH, lambda row: body.loop(PATCH, lambda at: pixel(row, at)))

    # ---- products ------------------------------------------------------------------------------

    def _multiply(self, position: Coord, panel: Coord, first: Coord) -> None:
        """The products of some tiles at a position, from the `first` of the block on."""
        body = self.body
        left = body.pointer(self.patches, (position * self.most + first) * self.stride)
        count = self.node.shape[3] // panels.COLUMNS
        right = body.pointer(
            self.weight, (position * count + panel) * (self.channels * 4 * panels.COLUMNS)
        )
        sums = tiles.multiplied(body, left, self, right, self.channels, self.high, tiles.VECTORS)
        target = body.pointer(self.products, (position * self.most + first) * (4 * panels.COLUMNS))
        tiles.lay_down(body, sums, target)

    # ---- the result ----------------------------------------------------------------------------

    def _finish(self, tile: Coord, number: Coord, panel: Coord, vector: Coord) -> None:
        """Transforms four channels of a tile back, and stores them."""
        body = self.body
        source = body.pointer(self.products, number * (4 * panels.COLUMNS) + vector * 16)
        columns = []
        for column in range(PATCH):
            positions = [row * PATCH + column for row in range(PATCH)]
            values = [
                body.result_of("v128.load", source, offset=at * self.most * 4 * panels.COLUMNS)
                for at in positions
            ]
            columns.append(_out(body, values))
        results = [_out(body, [each[down] for each in columns]) for down in range(TILE)]
        tiles.lay_down(body, results, self.patch)  # which is free by now
        image, y, x = self._tile_coordinates(tile)
        channel = panel * panels.COLUMNS + vector * 4
        shape = self.node.shape

        def keep(down: Coord, across: Coord) -> None:
            line, column = y * TILE + down, x * TILE + across
            local = tiles.taken_up(body, self.patch, (down * TILE + across) * 16)
            linear = ((image * shape[1] + line) * shape[2] + column) * shape[3] + channel

            def locate(lane: int) -> Location:
                return shape, (image, line, column, channel + lane), linear + lane

            pairs = zip((line, column), shape[1:3], strict=True)
            tests = [pair for pair in pairs if not is_inside(*pair)]
            put = partial(store_vector, body, self.node, self.store, local, 4, locate, self.lanes)
            body.choose(tests, put, lambda: None)

        body.loop(TILE, lambda down: body.loop(TILE, lambda across: keep(down, across)))


def _sum(body: Expression, x: int, y: int, minus: bool = False) -> int:
    """x + y, or x - y."""
    return body.result_of("f32x4.sub" if minus else "f32x4.add", x, y)


def _plus(body: Expression, x: int, factor: float, y: int) -> int:
    """x + factor * y"""
    body.emit("local.get", x)
    total = body.keep("v128")
    constant_ = body.function.local("v128")
    constant(body.function, factor, float32, 4)
    body.emit("local.set", constant_)
    tiles.multiply_add(body, total, constant_, y)
    return total


def _into(body: Expression, d: list[int]) -> list[int]:
    """B^T d of six locals."""
    even, odd = _plus(body, d[4], -4, d[2]), _plus(body, d[3], -4, d[1])
    near, far = _sum(body, d[4], d[2], minus=True), _sum(body, d[3], d[1], minus=True)
    return [
        _plus(body, _plus(body, d[4], -5, d[2]), 4, d[0]),
        _sum(body, even, odd),
        _sum(body, even, odd, minus=True),
        _plus(body, near, 2, far),
        _plus(body, near, -2, far),
        _plus(body, _plus(body, d[5], -5, d[3]), 4, d[1]),
    ]


def _out(body: Expression, m: list[int]) -> list[int]:
    """A^T m of six locals."""
    sums = _sum(body, m[1], m[2]), _sum(body, m[3], m[4])
    less = _sum(body, m[1], m[2], minus=True), _sum(body, m[3], m[4], minus=True)
    return [
        _sum(body, _sum(body, m[0], sums[0]), sums[1]),
        _plus(body, less[0], 2, less[1]),
        _plus(body, sums[0], 4, sums[1]),
        _plus(body, _sum(body, less[0], m[5]), 8, less[1]),
    ]


def _filtered(body: Expression, g: list[int]) -> list[int]:
    """G g of three locals."""
    ends, far = _sum(body, g[0], g[2]), _plus(body, g[0], 4, g[2])
    return [
        _scaled(body, g[0], 1 / 4),
        _scaled(body, _sum(body, ends, g[1]), -1 / 6),
        _scaled(body, _sum(body, ends, g[1], minus=True), -1 / 6),
        _scaled(body, _plus(body, far, 2, g[1]), 1 / 24),
        _scaled(body, _plus(body, far, -2, g[1]), 1 / 24),
        g[2],
    ]


def _scaled(body: Expression, x: int, factor: float) -> int:
    """factor * x"""
    body.emit("local.get", x)
    constant(body.function, factor, float32, 4)
    return body.result_of("f32x4.mul")
