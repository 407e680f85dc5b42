"""A chunk of the rows of a tile times the same chunk of some columns, for products by weights in
blocks (blocks.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..expression import Expression
from . import tiles
from .rounding import SCALE, START

Push = Callable[[], None]


@dataclass(frozen=True)
class Layout:
    """How operands lie in memory: the bytes from a rounded row to the next, and from a column to
    the next. bits: as in ops/blocks.py. parts: the blocks of a chunk, if it has several. zero:
    whether sums begin with something else than 0. mask: the local with the lowest 4 bits of 16."""

    stride: int
    column: int
    bits: int
    parts: int
    zero: bool
    mask: int


class Chunk:
    """A chunk of a tile's rows. rows: the local with the address of the first; at: where the chunk
    begins, in bytes. What a single row has is loaded once for all columns."""

    def __init__(
        self, body: Expression, layout: Layout, sums: tiles.Tile, rows: int, at: int
    ) -> None:
        self._body, self._layout, self._sums, self._rows, self._at = body, layout, sums, rows, at
        self._kept: dict[int, int] = {}
        self._loaded: set[int] = set()
        if len(sums) == 1:
            own = (0, 16, 32, 48, SCALE, START, START + 4)
            self._kept = {offset: body.function.local("v128") for offset in own}

    def add(self, panel: int, code: int, pushes: Sequence[Sequence[Push]]) -> None:
        """Adds it times the same chunk of each column. code: where that of the first begins behind
        the address in `panel`. pushes: of the factors of the sums of each column's blocks."""
        for across, some in enumerate(pushes):
            with self._body.function.scope():
                offset = code + across * self._layout.column
                vectors = self._unpacked(panel, offset)
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
        if not self._layout.zero:
            return None
        both = groups == 1 and self._layout.parts > 1
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
            emit("local.get", vector)
            emit("i32x4.dot_i16x8_s")
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
        emit(load, down * self._layout.stride + self._at + offset)
        if kept is not None:
            emit("local.tee", kept)
            self._loaded.add(offset)

    def _unpacked(self, panel: int, offset: int) -> list[int]:
        """Locals with the elements of a column, in 16 bits each; of four bits, every fourth."""
        emit, bits = self._body.emit, self._layout.bits
        sign, found = "s" if bits < 0 else "u", []
        if abs(bits) == 8:
            for number in range(4):
                emit("local.get", panel)
                emit(f"v128.load8x8_{sign}", offset + 8 * number)
                found.append(self._body.keep("v128"))
            return found
        emit("local.get", panel)
        emit("v128.load", offset)
        word = self._body.keep("v128")
        for number in range(4):
            emit("local.get", word)
            if bits < 0 and number < 3:
                emit("i32.const", 12 - 4 * number)
                emit("i16x8.shl")
            shift = 12 if bits < 0 else 4 * number
            if shift:
                emit("i32.const", shift)
                emit(f"i16x8.shr_{sign}")
            if bits > 0 and number < 3:
                emit("local.get", self._layout.mask)
                emit("v128.and")
            found.append(self._body.keep("v128"))
        return found
