"""Products of many rows by weights in blocks (ops/blocks.py).

Eight columns are unpacked to 16 bits at a time, as a panel in which pairs of elements stand side by
side, for all rows that are multiplied by it. A lane of a sum is a column.
"""

from __future__ import annotations

from functools import cached_property, partial

from .....codegen.index import Coord
from .....core.dtype import int32
from .....graph import Node
from ..expression import Expression
from . import tiles
from .block_operands import Operands, moved
from .products import behind
from .rounding import CHUNK, CHUNK_BYTES, SCALE, START
from .unpacked import Store

_WORDS = CHUNK // 2
"""Pairs of a chunk."""

_TURN = 2
"""Pairs that are multiplied without a loop around each. Engines move all loads of a longer run to
its beginning, for which there are not enough registers."""


class Panels(Operands):
    """A product by panels. After the scales and minima its own memory has the same by block, and
    the panel."""

    wide, tall = 8, 4

    def __init__(
        self, body: Expression, node: Node, store: Store, width: int, scratch: int
    ) -> None:
        super().__init__(body, node, store, width, scratch)
        self.height = self.tall

    @cached_property
    def _panel_at(self) -> int:
        return self.factors_end + (len(self.node.inputs) - 2) * self.wide * self.factor_bytes

    @cached_property
    def waiting_at(self) -> int:
        """Where a tile waits."""
        return self._panel_at + self.chunks * _WORDS * self.wide * 4

    @cached_property
    def rows_at(self) -> int:
        """Where the rows begin; a chunk ends there."""
        return self.waiting_at + 4 * self.wide * self.height + 4 * CHUNK

    # ---- panels --------------------------------------------------------------------------------

    def bring(self, column: Coord) -> list[int]:
        """Unpacks eight columns. The addresses of the panel, and of its scales and minima."""
        body = self.body
        codes = self.codes(column)
        panel = behind(body, self.scratch, self._panel_at)
        found = [panel]
        for number, source in enumerate(self.factors(column)):
            offset = self.factors_end + number * self.wide * self.factor_bytes
            target = behind(body, self.scratch, offset)
            self._by_block(source, target)
            found.append(target)

        def chunk(at: Coord) -> None:
            source = moved(body, codes, at * self.code_bytes)
            target = moved(body, panel, at * (_WORDS * self.wide * 4))
            for half in range(2):
                body.scope(lambda half=half: self._unpack(source, target, half))  # type: ignore[misc]

        body.loop(self.chunks, chunk)
        return found

    def _by_block(self, source: int, target: int) -> None:
        """Copies numbers of each column's blocks as those of each block's columns."""
        body = self.body

        def block(at: Coord) -> None:
            low, into = moved(body, source, at * 4), moved(body, target, at * (4 * self.wide))
            for column in range(self.wide):
                body.emit("local.get", into)
                body.apply("f32.load", low, offset=column * self.factor_bytes)
                body.emit("f32.store", 4 * column)

        body.loop(self.blocks, block)

    def _unpack(self, source: int, target: int, half: int) -> None:
        """Unpacks a chunk of four columns."""
        columns = [
            self.unpacked(source, column * self.column_bytes)
            for column in range(4 * half, 4 * half + 4)
        ]
        for number in range(4):
            pairs = tiles.turned(self.body, [column[number] for column in columns])
            for word, vector in enumerate(pairs, 4 * number):
                self.body.apply("v128.store", target, vector, offset=16 * (2 * word + half))

    # ---- tiles ---------------------------------------------------------------------------------

    def tile(self, row: Coord, left: int, column: Coord, brought: list[int]) -> None:
        """Computes and stores a tile. It grows in memory: what registers hold is a chunk's sums."""
        body, size = self.body, 4 * self.wide
        waiting = behind(body, self.scratch, self.waiting_at)
        tiles.lay_down(body, [tiles.zeros(body, 1) * (2 * self.height)], waiting)
        self._add(waiting, left, brought)

        def keep(down: Coord) -> None:
            for vector in range(2):
                local = tiles.taken_up(body, waiting, down * size + 16 * vector)
                body.scope(partial(self.store_four, local, row + down, column + 4 * vector))

        body.loop(self.height, keep)

    def _add(self, waiting: int, left: int, brought: list[int]) -> None:
        """Adds up all blocks."""
        body, size = self.body, 4 * self.wide
        rows, of_blocks = moved(body, left, 0), moved(body, left, self.rounder.sums_at)
        panel, scales, *minima = [moved(body, address, 0) for address in brought]
        apart = self.together > 1  # the minima are added once a block, and not with a chunk

        def update(down: int, vector: int, part: int, sums: tiles.Tile | None) -> None:
            """Moves a vector of the tile by the sums of a chunk, or by a minimum, or by both."""
            total = tiles.taken_up(body, waiting, down * size + 16 * vector)
            if sums is not None:
                factor = tiles.taken_up(body, scales, part * size + 16 * vector)
                tiles.multiply_add(body, total, sums[down][vector], factor)
            for least in minima if sums is None or not apart else ():
                factor = tiles.taken_up(body, least, part * size + 16 * vector)
                body.apply(
                    "v128.load32_splat", of_blocks, offset=4 * part + down * self.rounder.stride
                )
                tiles.multiply_add(body, total, body.keep("v128"), factor)
            body.apply("v128.store", waiting, total, offset=down * size + 16 * vector)

        def updated(part: int, sums: tiles.Tile | None) -> None:
            for down in range(self.height):
                for vector in range(2):
                    body.scope(partial(update, down, vector, part, sums))

        def chunk(_: Coord) -> None:
            for part in range(self.parts):
                body.scope(lambda part=part: updated(part, self._chunk(rows, panel, part)))  # type: ignore[misc]
            tiles.advance(body, rows, CHUNK_BYTES)
            tiles.advance(body, panel, size * _WORDS)

        def block(_: Coord) -> None:
            body.loop(self.together, chunk)
            if apart and minima:
                updated(0, None)
            for address in (scales, *minima):
                tiles.advance(body, address, size * self.parts)
            tiles.advance(body, of_blocks, 4 * self.parts)

        body.loop(self.blocks // self.parts, block)

    def _chunk(self, rows: int, panel: int, part: int) -> tiles.Tile:
        """The sums of a chunk, or of its pairs that belong to one of its blocks."""
        body, emit, stride = self.body, self.body.emit, self.rounder.stride
        sums = [self._begun(rows, down * stride + START + 4 * part) for down in range(self.height)]
        right = [body.function.local("v128") for _ in range(2)]
        value = body.function.local("v128")
        # Of 4 bits, each four pairs have two of either block (rounding.py).
        mixed = self.parts > 1 and abs(self.bits) == 4
        step = 2 * _TURN if mixed else _TURN
        first = _TURN * part if mixed else _WORDS // self.parts * part
        turns = _WORDS // self.parts // _TURN
        left, column = moved(body, rows, 4 * first), moved(body, panel, 4 * self.wide * first)

        def turn(_: Coord) -> None:
            for word in range(_TURN):
                for vector, local in enumerate(right):
                    body.apply(
                        "v128.load", column, offset=4 * self.wide * word + 16 * vector, into=local
                    )
                for down, locals_ in enumerate(sums):
                    body.apply(
                        "v128.load32_splat", left, offset=down * stride + 4 * word, into=value
                    )
                    for total, local in zip(locals_, right, strict=True):
                        emit("local.get", total)
                        body.apply("i32x4.dot_i16x8_s", value, local)
                        body.apply("i32x4.add", into=total)
            tiles.advance(body, left, 4 * step)
            tiles.advance(body, column, 4 * self.wide * step)

        body.loop(turns, turn)
        for down, locals_ in enumerate(sums):
            body.apply("v128.load32_splat", rows, offset=down * stride + SCALE, into=value)
            for total in locals_:
                body.apply("f32x4.convert_i32x4_s", total)
                body.apply("f32x4.mul", value, into=total)
        return sums

    def _begun(self, rows: int, offset: int) -> list[int]:
        """Locals with what a row's sums begin with."""
        if not self.node.attrs["zero"]:
            return tiles.zeros(self.body, 2, 4, int32)
        begun = []
        for _ in range(2):
            begun.append(self.body.result_of("v128.load32_splat", rows, offset=offset))
        return begun
