"""Products by weights in blocks (ops/blocks.py), which are read as they lie in their file.

Rows of the left operand become integers of 16 bits first (rounding.py). One instruction multiplies
eight of them by eight of a column, and adds up neighbours; the sums of a chunk are exact in int32.
They are scaled in float32, in four lanes that are added up at the end of the column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

from .....codegen.index import Coord
from .....core.dtype import float16, float32, int32
from .....graph import Node
from .. import storage
from ..expression import Expression
from ..values import UnsupportedError, constant
from . import tiles
from .chunks import Chunk, Layout, Push
from .products import Location, Span, behind, store_vector
from .rounding import CHUNK, CHUNK_BYTES, Rounder
from .unpacked import Store

_COLUMNS = 4
"""That are computed one after the other, or together, before a vector is stored."""

_ROWS_BYTES = 256 << 10
"""Bytes of rows that stay in a near cache while the columns pass by, once for all."""

_HEIGHT = 6
"""Rows of a tile: their sums and the elements of a column stay in V8's registers."""

_UNITS = 16
"""Tiles one below the other from which on threads share them, and not the columns."""


def block_product(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes a block_matmul, and what is fused behind it, as `product` does (products.py)."""
    if any(each not in body.addresses for each in node.inputs[1:]):
        raise UnsupportedError("a product by blocks that are not in memory")
    product = _Blocks(body, node, store, width, scratch)
    return product.write()


@dataclass(frozen=True)
class _Factors:
    """Locals with the addresses of numbers in float32, one for each block of some columns."""

    scales: int
    minima: int | None

    def behind(self, body: Expression, offset: Coord) -> _Factors:
        """Those of columns so many bytes behind."""
        minima = None if self.minima is None else _moved(body, self.minima, offset)
        return _Factors(_moved(body, self.scales, offset), minima)


def _moved(body: Expression, address: int, offset: Coord) -> int:
    """A local with the address so many bytes behind one."""
    body.emit("local.get", address)
    body.push_index(offset)
    body.emit("i32.add")
    return body.keep("i32")


@dataclass(frozen=True)
class _Blocks:
    """Fields as in Tiled (products.py). Memory of the kernel's own has the scales and minima of
    some columns as float32, then a tile that waits to be stored, a chunk, and rows."""

    body: Expression
    node: Node
    store: Store
    width: int
    scratch: int

    # ---- sizes ---------------------------------------------------------------------------------

    @cached_property
    def _rounder(self) -> Rounder:
        chunk = behind(self.body, self.scratch, self._rows_at - 4 * CHUNK)
        return Rounder(self.body, self.node, chunk, self.width)

    @cached_property
    def _block(self) -> int:
        """Elements of a block."""
        return int(self.node.attrs["block"])

    @cached_property
    def _bits(self) -> int:
        return int(self.node.attrs["bits"])

    @cached_property
    def _blocks(self) -> int:
        """Of a column."""
        return self.node.inputs[1].shape[1]

    @cached_property
    def _factor_bytes(self) -> int:
        """Of a column's numbers in float32, one for each block."""
        return 4 * self._blocks

    @cached_property
    def _column_bytes(self) -> int:
        """Of a column's elements."""
        return self._blocks * self.node.inputs[1].shape[2]

    @cached_property
    def _height(self) -> int:
        """Rows of a tile. To unpack a column takes nearly as long as to multiply it by a row."""
        rows = self.node.shape[1]
        return min(
            range(1, min(_HEIGHT, rows) + 1),
            key=lambda height: (-(-rows // height) * (4 * height + 3), -height),
        )

    @cached_property
    def _together(self) -> int:
        """Columns that are computed together."""
        return {1: 4, 2: 2}.get(self._height, 1)

    @cached_property
    def _waiting(self) -> int:
        """Where a tile waits, in bytes."""
        return 16 * -(-_COLUMNS * self._factor_bytes * (len(self.node.inputs) - 2) // 16)

    @cached_property
    def _rows_at(self) -> int:
        """Where the rows begin, in bytes."""
        return self._waiting + 16 * self._height * _COLUMNS + 4 * CHUNK

    # ---- the product ---------------------------------------------------------------------------

    def write(self) -> int:
        """Writes it, and returns how many bytes of memory it uses."""
        height, (_, rows, columns) = self._height, self.node.shape
        high, wide = -(-rows // height), -(-columns // _COLUMNS)
        stride = self._rounder.stride
        at_once = min(max(_ROWS_BYTES // (stride * height), 1), high)
        constant(self.body.function, 0x000F000F, int32, 4)
        part = partial(self._part, at_once=at_once, layout=self._layout(self.body.keep("v128")))
        if high < min(_UNITS, wide):
            # Each thread rounds the rows for itself.
            self.body.parallel_spans(1, wide, lambda _, first, end: part((0, high), (first, end)))
        else:
            self.body.parallel_spans(1, high, lambda _, first, end: part((first, end), (0, wide)))
        return self._rows_at + stride * height * at_once

    def _layout(self, mask: int) -> Layout:
        attrs, parts = self.node.attrs, max(CHUNK // self._block, 1)
        stride, zero = self._rounder.stride, bool(attrs["zero"])
        return Layout(stride, self._column_bytes, self._bits, parts, zero, mask)

    def _part(self, rows: Span, across: Span, *, at_once: int, layout: Layout) -> None:
        """rows, across: the beginning and end of a part of the result, in tiles."""
        body, height = self.body, self._height
        _, most, columns = self.node.shape

        def start(tile: Coord) -> Coord:
            return body.at_most(tile * height, most - height)

        def block(begin: Coord, end: Coord) -> None:
            first = start(begin)
            body.span(
                first,
                start(end - 1) + height,
                lambda row: self._rounder.row(row, self._row(row - first)),
            )

            def down(column: Coord) -> None:
                factors = self._brought(column)
                body.span(
                    begin, end, lambda tile: self._tile(start(tile), first, column, factors, layout)
                )

            body.span(*across, lambda tile: down(body.at_most(tile * _COLUMNS, columns - _COLUMNS)))

        body.blocks(*rows, at_once, block)

    def _row(self, number: Coord) -> int:
        """A local with the address of one of the rows in memory."""
        return _moved(self.body, self.scratch, number * self._rounder.stride + self._rows_at)

    def _brought(self, column: Coord) -> _Factors:
        """The scales and minima of a tile's columns. Those that are narrower are copied."""
        found = []
        for number, factors in enumerate(self.node.inputs[2:]):
            address = self.body.addresses[factors]
            offset = column * (self._blocks * factors.dtype.size)
            source = _moved(self.body, address, offset)
            if factors.dtype == float16:
                to = behind(self.body, self.scratch, number * _COLUMNS * self._factor_bytes)
                self.body.loop(self._blocks, partial(self._widen, source, to))
                source = to
            found.append(source)
        return _Factors(found[0], found[1] if len(found) > 1 else None)

    def _widen(self, source: int, target: int, at: Coord) -> None:
        """Copies four numbers."""
        body = self.body
        into = body.push_address(target, float32, at * 4)
        offset = body.push_address(source, float16, at * 4)
        storage.load(body.function, float16, offset, 4)
        body.emit("v128.store", into)

    # ---- tiles ---------------------------------------------------------------------------------

    def _tile(
        self, row: Coord, first: Coord, column: Coord, factors: _Factors, layout: Layout
    ) -> None:
        """A tile of four columns. first: the first row in memory."""
        body, left = self.body, self._row(row - first)
        waiting = behind(body, self.scratch, self._waiting)
        codes = body.addresses[self.node.inputs[1]]

        def some(at: Coord) -> None:
            panel = _moved(body, codes, (column + at) * self._column_bytes)
            sums = self._sums(left, panel, factors.behind(body, at * self._factor_bytes), layout)
            into = _moved(body, waiting, at * 16)
            for down, vectors in enumerate(sums):
                for across, vector in enumerate(vectors):
                    body.emit("local.get", into)
                    body.emit("local.get", vector)
                    body.emit("v128.store", 16 * (down * _COLUMNS + across))

        body.loop(_COLUMNS, some, self._together)

        def keep(down: Coord) -> None:
            vector = self._joined(_moved(body, waiting, down * (16 * _COLUMNS)))

            def locate(lane: int) -> Location:
                line, at = row + down, column + lane
                return self.node.shape, (0, line, at), line * self.node.shape[2] + at

            store_vector(body, self.node, self.store, vector, _COLUMNS, locate, self.width)

        body.loop(self._height, keep)

    def _joined(self, address: int) -> int:
        """A local with the sums of the lanes of each of four vectors."""
        emit, parts = self.body.emit, []
        for number in range(_COLUMNS):
            emit("local.get", address)
            emit("v128.load", 16 * number)
            parts.append(self.body.keep("v128"))
        while len(parts) > 1:
            pairs = list(zip(parts[::2], parts[1::2], strict=True))
            parts = []
            for pair in pairs:
                for lanes in ((0, 2, 4, 6), (1, 3, 5, 7)):
                    for vector in pair:
                        emit("local.get", vector)
                    emit("i8x16.shuffle", *(4 * lane + byte for lane in lanes for byte in range(4)))
                emit("f32x4.add")
                parts.append(self.body.keep("v128"))
        return parts[0]

    def _sums(self, left: int, panel: int, factors: _Factors, layout: Layout) -> tiles.Tile:
        """The sums of some columns by the tile's rows, in four lanes each. panel: the local with
        the address of the columns' elements, which is moved, like those of the factors."""
        body = self.body
        sums = [tiles.zeros(body, self._together) for _ in range(self._height)]
        rows = _moved(body, left, 0)
        code = CHUNK * abs(self._bits) // 8
        each, blocks = max(self._block // CHUNK, 1), max(CHUNK // self._block, 1)
        turns = self._blocks // blocks
        unrolled = 2 if each == 1 and turns % 2 == 0 else 1

        def turn(_: Coord) -> None:
            for number in range(unrolled):
                pushes = self._scales(factors.scales, 4 * blocks * number)
                body.loop(each, partial(chunk, pushes, number))
            tiles.advance(body, factors.scales, 4 * blocks * unrolled)
            if each == 1:
                move(unrolled)

        def chunk(pushes: list[list[Push]], number: int, _: Coord) -> None:
            at, code_at = CHUNK_BYTES * number, code * number
            Chunk(body, layout, sums, rows, at).add(panel, code_at, pushes)
            if each > 1:
                move(1)

        def move(chunks: int) -> None:
            tiles.advance(body, rows, CHUNK_BYTES * chunks)
            tiles.advance(body, panel, code * chunks)

        body.loop(turns // unrolled, turn)
        if factors.minima is not None:
            self._add_minima(sums, _moved(body, left, self._rounder.sums_at), factors.minima)
        return sums

    def _scales(self, scale: int, offset: int) -> list[list[Push]]:
        """What pushes the factors of a chunk's sums, for each column: one, or one for each of two
        blocks, if their sums are apart."""
        emit = self.body.emit

        def splat(at: int) -> None:
            emit("local.get", scale)
            emit("v128.load32_splat", at)

        def halves(at: int) -> None:
            emit("local.get", scale)
            emit("v128.load64_splat", at)
            both = self.body.keep("v128")
            for _ in range(2):
                emit("local.get", both)
            emit("i8x16.shuffle", *range(4), *range(4), *range(4, 8), *range(4, 8))

        starts = [offset + self._factor_bytes * column for column in range(self._together)]
        if self._block >= CHUNK:
            return [[partial(splat, at)] for at in starts]
        if abs(self._bits) == 4:
            return [[partial(halves, at)] for at in starts]
        return [[partial(splat, at), partial(splat, at + 4)] for at in starts]

    def _add_minima(self, sums: tiles.Tile, left: int, minima: int) -> None:
        """Adds the minima of blocks, times the sums of what they are multiplied by."""
        body, emit = self.body, self.body.emit

        def some(load: str, offset: int = 0) -> None:
            for across in range(self._together):
                emit("local.get", minima)
                emit(load, offset + across * self._factor_bytes)
                least = body.keep("v128")
                for down, totals in enumerate(sums):
                    emit("local.get", left)
                    emit(load, offset + down * self._rounder.stride)
                    tiles.multiply_add(body, totals[across], body.keep("v128"), least)

        def four(_: Coord) -> None:
            some("v128.load")
            tiles.advance(body, left, 16)
            tiles.advance(body, minima, 16)

        body.loop(self._blocks // 4, four)
        rest = self._blocks % 4
        if rest > 1:
            some("v128.load64_zero")
        if rest % 2:
            some("v128.load32_zero", 4 * (rest - 1))
