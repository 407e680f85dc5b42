"""Products by weights in blocks (ops/blocks.py), which are read as they lie in their file.

Rows of the left operand become integers of 16 bits first (rounding.py). One instruction multiplies
eight of them by eight of a column, and adds up neighbours; the sums of a chunk are exact in int32.
They are scaled in float32. Of few rows, the lanes of a sum are added up at the end of a column;
block_panels.py has many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial

from .....codegen.index import Coord
from .....graph import Node
from ..expression import Expression
from ..values import UnsupportedError
from . import tiles
from .block_operands import Operands, moved
from .block_panels import Panels
from .products import behind
from .rounding import CHUNK, CHUNK_BYTES, SCALE, START
from .unpacked import Store

_HEIGHT = 4
"""Rows of a tile: their sums and the elements of a column stay in V8's registers."""

_FAR = 512
"""Bytes of a column from which on a processor fetches one column after the other ahead of time,
but not two that are read side by side."""

Push = Callable[[], None]


def block_product(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes a block_matmul, and what is fused behind it, as `product` does (products.py)."""
    if any(each not in body.addresses for each in node.inputs[1:]):
        raise UnsupportedError("a product by blocks that are not in memory")
    _, rows, columns = node.shape
    # To unpack a panel takes as long as 1.3 rows do here, and each of its rows 0.65 of that.
    tall = Panels.tall * -(-rows // Panels.tall)
    many = columns >= Panels.wide and 0.65 * tall + 1.3 < rows
    return (Panels if many else _Rows)(body, node, store, width, scratch).write()


class _Rows(Operands):
    """A product of few rows. across: the columns that are computed together, of four; more rows
    share what one column is unpacked to."""

    wide = 4

    def __init__(
        self, body: Expression, node: Node, store: Store, width: int, scratch: int
    ) -> None:
        super().__init__(body, node, store, width, scratch)
        rows = node.shape[1]
        # To unpack a column takes nearly as long as to multiply it by a row.
        self.height = min(
            range(1, min(_HEIGHT, rows) + 1),
            key=lambda height: (-(-rows // height) * (4 * height + 3), -height),
        )
        self.across = 2 if self.height == 1 and self.column_bytes < _FAR else 1

    @cached_property
    def waiting_at(self) -> int:
        """Where a tile waits."""
        return self.factors_end

    @cached_property
    def rows_at(self) -> int:
        """Where the rows begin; a chunk ends there."""
        return self.waiting_at + 16 * self.wide * self.height + 4 * CHUNK

    def bring(self, column: Coord) -> list[int]:
        """The addresses of the columns' elements, scales and minima."""
        return [self.codes(column), *self.factors(column)]

    def tile(self, row: Coord, left: int, column: Coord, brought: list[int]) -> None:
        """Computes and stores a tile."""
        body = self.body
        waiting = behind(body, self.scratch, self.waiting_at)
        codes, *factors = brought

        def some(at: Coord) -> None:
            panel = moved(body, codes, at * self.column_bytes)
            numbers = [moved(body, each, at * self.factor_bytes) for each in factors]
            sums = self._sums(left, panel, numbers)
            into = moved(body, waiting, at * 16)
            for down, vectors in enumerate(sums):
                for across, vector in enumerate(vectors):
                    body.apply("v128.store", into, vector, offset=16 * (down * self.wide + across))

        def keep(down: Coord) -> None:
            vector = self._joined(moved(body, waiting, down * (16 * self.wide)))
            self.store_four(vector, row + down, column)

        body.loop(self.wide, some, self.across)
        body.loop(self.height, keep)

    def _joined(self, address: int) -> int:
        """A local with the sums of the lanes of each of four vectors."""
        parts = [
            self.body.result_of("v128.load", address, offset=16 * number)
            for number in range(self.wide)
        ]
        while len(parts) > 1:
            pairs = list(zip(parts[::2], parts[1::2], strict=True))
            parts = []
            for pair in pairs:
                for lanes in ((0, 2, 4, 6), (1, 3, 5, 7)):
                    self.body.push_lanes(*pair, lanes)
                self.body.emit("f32x4.add")
                parts.append(self.body.keep("v128"))
        return parts[0]

    def _sums(self, left: int, panel: int, factors: list[int]) -> tiles.Tile:
        """The sums of some columns by the tile's rows, in four lanes each. panel, factors: locals
        with the addresses of the columns' elements, scales and minima, which are moved."""
        body = self.body
        sums = [tiles.zeros(body, self.across) for _ in range(self.height)]
        rows, scale = moved(body, left, 0), factors[0]

        def block(_: Coord) -> None:
            pushes = self._scales(scale)
            body.loop(self.together, partial(chunk, pushes))
            tiles.advance(body, scale, 4 * self.parts)

        def chunk(pushes: list[list[Push]], _: Coord) -> None:
            _Chunk(self, sums, rows).add(panel, pushes)
            tiles.advance(body, rows, CHUNK_BYTES)
            tiles.advance(body, panel, self.code_bytes)

        body.loop(self.blocks // self.parts, block)
        for minima in factors[1:]:
            self._add_minima(sums, moved(body, left, self.rounder.sums_at), minima)
        return sums

    def _scales(self, scale: int) -> list[list[Push]]:
        """What pushes the factors of a chunk's sums, for each column: one, or one for each of two
        blocks, if their sums are apart."""
        emit = self.body.emit

        def splat(at: int) -> None:
            self.body.apply("v128.load32_splat", scale, offset=at)

        def halves(at: int) -> None:
            both = self.body.result_of("v128.load64_splat", scale, offset=at)
            for _ in range(2):
                emit("local.get", both)
            emit("i8x16.shuffle", *range(4), *range(4), *range(4, 8), *range(4, 8))

        starts = [self.factor_bytes * column for column in range(self.across)]
        if self.block >= CHUNK:
            return [[partial(splat, at)] for at in starts]
        if abs(self.bits) == 4:
            return [[partial(halves, at)] for at in starts]
        return [[partial(splat, at), partial(splat, at + 4)] for at in starts]

    def _add_minima(self, sums: tiles.Tile, left: int, minima: int) -> None:
        """Adds the minima of blocks, times the sums of what they are multiplied by."""
        body, emit = self.body, self.body.emit

        def some(load: str, offset: int = 0) -> None:
            for across in range(self.across):
                emit("local.get", minima)
                emit(load, offset + across * self.factor_bytes)
                least = body.keep("v128")
                for down, totals in enumerate(sums):
                    emit("local.get", left)
                    emit(load, offset + down * self.rounder.stride)
                    tiles.multiply_add(body, totals[across], body.keep("v128"), least)

        def four(_: Coord) -> None:
            some("v128.load")
            tiles.advance(body, left, 16)
            tiles.advance(body, minima, 16)

        body.loop(self.blocks // 4, four)
        rest = self.blocks % 4
        if rest > 1:
            some("v128.load64_zero")
        if rest % 2:
            some("v128.load32_zero", 4 * (rest - 1))


class _Chunk:
    """A chunk of a tile's rows. rows: the local with the address of the first. What a single row
    has is loaded once for all columns."""

    def __init__(self, product: _Rows, sums: tiles.Tile, rows: int) -> None:
        self._product, self._sums, self._rows = product, sums, rows
        self._body = body = product.body
        self._kept: dict[int, int] = {}
        self._loaded: set[int] = set()
        if len(sums) == 1:
            own = (0, 16, 32, 48, SCALE, START, START + 4)
            self._kept = {offset: body.function.local("v128") for offset in own}

    def add(self, panel: int, pushes: Sequence[Sequence[Push]]) -> None:
        """Adds it times the same chunk of each column. panel: the local with the address of the
        first one's. pushes: of the factors of the sums of each column's blocks."""
        for across, some in enumerate(pushes):
            with self._body.function.scope():
                offset = across * self._product.column_bytes
                vectors = self._product.unpacked(panel, offset)
                part = 4 // len(some)
                for group, push in enumerate(some):
                    push()
                    factor = self._body.keep("v128")
                    begin = self._begin(group, len(some))
                    numbers = range(group * part, (group + 1) * part)
                    for down, totals in enumerate(self._sums):
                        self._dot(down, begin, [(n, vectors[n]) for n in numbers])
                        value = self._body.keep("v128")
                        tiles.multiply_add(self._body, totals[across], value, factor)

    def _begin(self, group: int, groups: int) -> tuple[int, str] | None:
        """Where a sum begins, and how that is loaded; None for 0."""
        if not self._product.node.attrs["zero"]:
            return None
        both = groups == 1 and self._product.parts > 1
        return (START, "v128.load32x2_u") if both else (START + 4 * group, "v128.load32_zero")

    def _dot(
        self, down: int, begin: tuple[int, str] | None, vectors: Sequence[tuple[int, int]]
    ) -> None:
        """Pushes the sums of a row's products, times the row's scale."""
        emit = self._body.emit
        if begin is not None:
            self._element(down, *begin)
        for number, vector in vectors:
            self._element(down, 16 * number, "v128.load")
            self._body.apply("i32x4.dot_i16x8_s", vector)
            if begin is not None or number != vectors[0][0]:
                emit("i32x4.add")
        emit("f32x4.convert_i32x4_s")
        self._element(down, SCALE, "v128.load32_splat")
        emit("f32x4.mul")

    def _element(self, down: int, offset: int, load: str) -> None:
        """Pushes something of a row."""
        emit, kept = self._body.emit, self._kept.get(offset)
        if offset in self._loaded and kept is not None:
            emit("local.get", kept)
            return
        emit("local.get", self._rows)
        emit(load, down * self._product.rounder.stride + offset)
        if kept is not None:
            emit("local.tee", kept)
            self._loaded.add(offset)
