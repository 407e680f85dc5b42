"""Rows of float32 as integers of 16 bits, in chunks with a scale each, for products by weights in
blocks (blocks.py)."""

from __future__ import annotations

from collections.abc import Sequence

from .....codegen.index import Coord
from .....core.dtype import float32
from .....graph import Node
from ..expression import Expression
from ..values import constant

CHUNK = 32
"""Elements that have a scale in common."""

CHUNK_BYTES, SCALE, START = 80, 64, 68
"""Of a chunk: its elements, then its scale, then what the sums of a block, or of two, begin with:
minus the zero point times the elements' sum."""

_MOST = 32767
"""The largest element, rounded."""

_QUARTERS = (0, 4, 8, 12)  # of two vectors, every fourth lane


class Rounder:
    """Rounds rows of a product's left operand.

    node: the block_matmul. own: the local with the address of memory for a chunk, where elements
    are read one by one, as `width` says. After its chunks a row has the sum of each block, if there
    are minima to be multiplied by it.
    """

    def __init__(self, body: Expression, node: Node, own: int, width: int) -> None:
        self._body, self._view, self._own, self._width = body, node.inputs[0], own, width
        self._block, self._blocks = int(node.attrs["block"]), node.inputs[1].shape[1]
        self._zero, self._few = int(node.attrs["zero"]), abs(node.attrs["bits"]) == 4
        self._sums = len(node.inputs) > 3
        self._chunks = node.inputs[0].shape[2] // CHUNK
        self.sums_at = self._chunks * CHUNK_BYTES
        self.stride = self.sums_at + (16 * -(-self._blocks // 4) if self._sums else 0)

    def row(self, row: Coord, into: int) -> None:
        """Writes a row. into: the local with the address for it."""
        body, each = self._body, self._block // CHUNK
        sums = body.result_of("i32.add", into, number=self.sums_at)
        if self._sums and each > 1:
            body.loop(self._blocks, lambda block: self._clear(sums, block))

        def chunk(at: Coord) -> None:
            values = self._values(row, at)
            body.push_sum(into, at * CHUNK_BYTES)
            self._chunk(values, body.keep("i32"))
            if self._sums and each > 1:
                self._sum(sums, at // each, values, again=True)
            elif self._sums:
                parts = self._parts(values)
                for number, part in enumerate(parts):
                    self._sum(sums, at * len(parts) + number, part)

        body.loop(self._chunks, chunk)

    def _parts(self, vectors: list[int]) -> list[list[int]]:
        """The vectors of each of a chunk's blocks."""
        half = len(vectors) // 2
        return [vectors] if self._block >= CHUNK else [vectors[:half], vectors[half:]]

    def _values(self, row: Coord, at: Coord) -> list[int]:
        """Locals with the elements of a chunk, as vectors."""
        body, numbers = self._body, range(CHUNK // 4)
        if self._width == 4:
            starts = [at * CHUNK + 4 * number for number in numbers]
            return [body.value(self._view, (0, row, k), 4) for k in starts]

        def one(k: Coord) -> None:
            value = body.value(self._view, (0, row, at * CHUNK + k))
            offset = body.push_address(self._own, float32, k)
            body.apply("f32.store", value, offset=offset)

        body.loop(CHUNK, one)
        found = []
        for number in numbers:
            found.append(body.result_of("v128.load", self._own, offset=16 * number))
        return found

    def _chunk(self, values: list[int], into: int) -> None:
        body, emit = self._body, self._body.emit
        most = self._across(values, "f32x4.max", "f32x4.abs")
        emit("local.get", into)
        emit("local.get", most)
        emit("f32x4.extract_lane", 0)
        body.apply("f32.mul", number=1 / _MOST)
        emit("f32.store", SCALE)
        constant(body.function, _MOST, float32, 4)
        body.apply("f32x4.div", most)
        inverse = body.keep("v128")  # of 0 it is infinite; 0 times that is no number, and becomes 0
        whole = []
        for pair in zip(values[::2], values[1::2], strict=True):
            for value in pair:
                body.apply("f32x4.mul", value, inverse)
                emit("f32x4.nearest")
                emit("i32x4.trunc_sat_f32x4_s")
            emit("i16x8.narrow_i32x4_s")
            whole.append(body.keep("v128"))
        if self._zero:
            self._starts(whole, into)
        for number, vector in enumerate(self._by_quarters(whole) if self._few else whole):
            body.apply("v128.store", into, vector, offset=16 * number)

    def _starts(self, whole: list[int], into: int) -> None:
        """Writes what the sums of a chunk's blocks begin with."""
        emit = self._body.emit
        emit("i32.const", 1)
        emit("i16x8.splat")
        ones = self._body.keep("v128")
        for number, part in enumerate(self._parts(whole)):
            dots = []
            for vector in part:
                dots.append(self._body.result_of("i32x4.dot_i16x8_s", vector, ones))
            total = self._across(dots, "i32x4.add")
            emit("local.get", into)
            emit("local.get", total)
            emit("i32x4.extract_lane", 0)
            self._body.apply("i32.mul", number=-self._zero)
            emit("i32.store", START + 4 * number)

    def _by_quarters(self, whole: list[int]) -> list[int]:
        """The first vector has every fourth element of the chunk, from the first on; the others
        those after them. So lie the elements of 4 bits in words of 16."""
        emit, found = self._body.emit, []
        for first in (0, 2):
            halves = []
            for low, high in (whole[:2], whole[2:]):
                emit("local.get", low)
                emit("local.get", high)
                lanes = [lane + part for part in (first, first + 1) for lane in _QUARTERS]
                emit("i8x16.shuffle", *_bytes(lanes))
                halves.append(self._body.keep("v128"))
            for lane in (0, 4):
                for half in halves:
                    emit("local.get", half)
                emit(
                    "i8x16.shuffle", *_bytes([*range(lane, lane + 4), *range(lane + 8, lane + 12)])
                )
                found.append(self._body.keep("v128"))
        return found

    def _clear(self, sums: int, block: Coord) -> None:
        offset = self._body.push_address(sums, float32, block)
        self._body.apply("f32.store", number=0.0, offset=offset)

    def _sum(self, sums: int, block: Coord, values: list[int], again: bool = False) -> None:
        """Writes the sum of vectors as that of a block, or adds it to that."""
        body, emit = self._body, self._body.emit
        total = self._across(values, "f32x4.add")
        into = body.push_address(sums, float32, block)
        emit("local.get", total)
        emit("f32x4.extract_lane", 0)
        if again:
            emit("f32.load", body.push_address(sums, float32, block))
            emit("f32.add")
        emit("f32.store", into)

    def _across(self, vectors: Sequence[int], join: str, each: str = "") -> int:
        """A local with what all lanes give, joined, in every lane."""
        emit, total = self._body.emit, self._body.function.local("v128")
        for number, vector in enumerate(vectors):
            emit("local.get", vector)
            if each:
                emit(each)
            if number:
                emit("local.get", total)
                emit(join)
            emit("local.set", total)
        self._body.across(total, join)
        return total


def _bytes(lanes: Sequence[int]) -> list[int]:
    """The bytes of lanes of 16 bits."""
    return [byte for lane in lanes for byte in (2 * lane, 2 * lane + 1)]
