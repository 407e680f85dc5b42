"""What the kernels of products by weights in blocks have in common (blocks.py, block_panels.py):
the walk over tiles, rounded rows, scales and minima."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

from .....codegen.index import Coord
from .....core.dtype import float16, float32, int32
from .....graph import Node
from .. import storage
from ..expression import Expression
from ..values import constant
from .products import Location, behind, store_vector
from .rounding import CHUNK, Rounder
from .tiles import Span
from .unpacked import Store

_ROWS_BYTES = 384 << 10
"""Bytes of rows that stay in a near cache while the columns pass by, once for all."""

_UNITS = 16
"""Tiles one below the other from which on threads share them, and not the columns."""


def moved(body: Expression, address: int, offset: Coord) -> int:
    """A local with the address so many bytes behind one."""
    return body.pointer(address, offset)


class Operands(ABC):
    """The operands of a block_matmul; the arguments are those of `block_product`.

    wide: the columns of a tile. height: its rows. Memory of the kernel's own has first the scales
    and minima of a tile's columns as float32, then what a kernel brings, then a tile that waits to
    be stored, a chunk, and rows. mask: the local with the lowest 4 bits of 16.
    """

    wide: int
    height: int
    mask: int

    def __init__(
        self, body: Expression, node: Node, store: Store, width: int, scratch: int
    ) -> None:
        self.body, self.node, self.store = body, node, store
        self.width, self.scratch = width, scratch
        self.block, self.bits = int(node.attrs["block"]), int(node.attrs["bits"])
        self.blocks = node.inputs[1].shape[1]
        self.chunks = node.inputs[0].shape[2] // CHUNK
        self.column_bytes = self.blocks * node.inputs[1].shape[2]
        self.code_bytes = CHUNK * abs(self.bits) // 8
        self.factor_bytes = 4 * self.blocks
        self.parts = max(CHUNK // self.block, 1)  # blocks of a chunk
        self.together = max(self.block // CHUNK, 1)  # chunks of a block

    # ---- of its own memory, in bytes -----------------------------------------------------------

    @property
    def factors_end(self) -> int:
        """Where what a kernel brings begins."""
        return 16 * -(-self.wide * self.factor_bytes * (len(self.node.inputs) - 2) // 16)

    @property
    @abstractmethod
    def waiting_at(self) -> int:
        """Where a tile waits."""

    @property
    @abstractmethod
    def rows_at(self) -> int:
        """Where the rows begin; a chunk ends there."""

    # ---- the walk ------------------------------------------------------------------------------

    @abstractmethod
    def bring(self, column: Coord) -> Any:
        """Readies the columns of a tile; what it returns is for `tile`."""

    @abstractmethod
    def tile(self, row: Coord, left: int, column: Coord, brought: Any) -> None:
        """Computes and stores a tile. left: the local with the address of its rounded rows."""

    def write(self) -> int:
        """Writes the product, and returns how many bytes of memory it uses."""
        body, (_, rows, columns) = self.body, self.node.shape
        chunk = behind(body, self.scratch, self.rows_at - 4 * CHUNK)
        self.rounder = Rounder(body, self.node, chunk, self.width)
        constant(body.function, 0x000F000F, int32, 4)
        self.mask = body.keep("v128")
        high, wide = -(-rows // self.height), -(-columns // self.wide)
        bytes_of_tile = self.rounder.stride * self.height
        at_once = min(max(_ROWS_BYTES // bytes_of_tile, 1), high)
        part = partial(self._part, at_once=at_once)
        if high < min(_UNITS, wide):
            # Each thread rounds the rows for itself.
            body.parallel_spans(1, wide, lambda _, first, end: part((0, high), (first, end)))
        else:
            body.parallel_spans(1, high, lambda _, first, end: part((first, end), (0, wide)))
        return self.rows_at + bytes_of_tile * at_once

    def _part(self, rows: Span, across: Span, *, at_once: int) -> None:
        """rows, across: the beginning and end of a part of the result, in tiles."""
        body, height = self.body, self.height
        _, most, columns = self.node.shape

        def start(tile: Coord) -> Coord:
            return body.at_most(tile * height, most - height)

        def block(begin: Coord, end: Coord) -> None:
            first = start(begin)

            def address(row: Coord) -> int:
                return moved(body, self.scratch, (row - first) * self.rounder.stride + self.rows_at)

            body.span(
                first, start(end - 1) + height, lambda row: self.rounder.row(row, address(row))
            )

            def one(row: Coord, column: Coord, brought: Any) -> None:
                self.tile(row, address(row), column, brought)

            def down(column: Coord) -> None:
                brought = self.bring(column)
                body.span(begin, end, lambda tile: one(start(tile), column, brought))

            last = columns - self.wide
            body.span(*across, lambda tile: down(body.at_most(tile * self.wide, last)))

        body.blocks(*rows, at_once, block)

    # ---- what tiles need -----------------------------------------------------------------------

    def factors(self, column: Coord) -> list[int]:
        """Locals with the addresses of the scales and minima of a tile's columns, as float32.
        Those that are narrower are copied."""
        found = []
        for number, node in enumerate(self.node.inputs[2:]):
            offset = column * (self.blocks * node.dtype.size)
            source = moved(self.body, self.body.addresses[node], offset)
            if node.dtype == float16:
                target = behind(self.body, self.scratch, number * self.wide * self.factor_bytes)
                four = partial(self._widen, source, target)
                self.body.loop(self.wide * self.blocks // 4, four)
                source = target
            found.append(source)
        return found

    def _widen(self, source: int, target: int, at: Coord) -> None:
        """Copies four numbers."""
        body = self.body
        into = body.push_address(target, float32, at * 4)
        offset = body.push_address(source, float16, at * 4)
        storage.load(body.function, float16, offset, 4)
        body.emit("v128.store", into)

    def codes(self, column: Coord) -> int:
        """A local with the address of a column's elements."""
        address = self.body.addresses[self.node.inputs[1]]
        return moved(self.body, address, column * self.column_bytes)

    def unpacked(self, codes: int, offset: int) -> list[int]:
        """Locals with a chunk of a column, in 16 bits each; of four bits, every fourth element.
        offset: where it begins behind the address in `codes`."""
        emit, bits = self.body.emit, self.bits
        sign, found = "s" if bits < 0 else "u", []
        if abs(bits) == 8:
            for number in range(4):
                emit("local.get", codes)
                emit(f"v128.load8x8_{sign}", offset + 8 * number)
                found.append(self.body.keep("v128"))
            return found
        word = self.body.result_of("v128.load", codes, offset=offset)
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
                self.body.apply("v128.and", self.mask)
            found.append(self.body.keep("v128"))
        return found

    def store_four(self, vector: int, row: Coord, column: Coord) -> None:
        """Stores four results of a row, and what is fused behind them."""

        def locate(lane: int) -> Location:
            at = column + lane
            return self.node.shape, (0, row, at), row * self.node.shape[2] + at

        store_vector(self.body, self.node, self.store, vector, 4, locate, self.width)
