"""Rows of 8-bit integers that are copied next to each other in 16 bits, as vectors."""

from __future__ import annotations

from collections.abc import Callable

from .....codegen.index import Coord
from .....core.dtype import DType, int32
from ..expression import Expression
from ..values import constant
from .tiles import advance

_UNROLLED = 4  # vectors that are widened one after the other, without a loop around each
_STRAIGHT = 16  # vectors that are widened without any


class Widener:
    """Writes 16-bit integers from an address on, which is the value of a local at first.

    dtype: of the elements that are widened. zero: the local with eight times their zero point, or
    None for 0.
    """

    def __init__(self, body: Expression, address: int, dtype: DType, zero: int | None) -> None:
        self._body, self._zero = body, zero
        self._sign = "s" if dtype.kind == "i" else "u"
        body.emit("local.get", address)
        self._into = body.keep("i32")

    def copy(self, count: int) -> None:
        """Widens so many elements from the address on the stack on."""
        emit, source = self._body.emit, self._body.keep("i32")

        def eight(offset: int) -> None:
            emit("local.get", self._into)
            self._body.apply(f"v128.load8x8_{self._sign}", source, offset=offset)
            if self._zero is not None:
                self._body.apply("i16x8.sub", self._zero)
            emit("v128.store", 2 * offset)

        def one(offset: int) -> None:
            local = self._body.result_of(f"i32.load8_{self._sign}", source, offset=offset)
            self._write(local, 2 * offset)

        self._runs(count, eight, one, source)

    def clear(self, count: int) -> None:
        """Writes so many zeros."""
        emit = self._body.emit

        def eight(offset: int) -> None:
            emit("local.get", self._into)
            constant(self._body.function, 0, int32, 4)
            emit("v128.store", 2 * offset)

        def one(offset: int) -> None:
            self._body.apply("i32.store16", self._into, number=0, offset=2 * offset)

        self._runs(count, eight, one, None)

    def value(self, local: int) -> None:
        """Writes what a local holds."""
        self._write(local, 0)
        advance(self._body, self._into, 2)

    def _write(self, local: int, offset: int) -> None:
        emit = self._body.emit
        emit("local.get", self._into)
        emit("local.get", local)
        if self._zero is not None:
            emit("local.get", self._zero)
            emit("i32x4.extract_lane", 0)  # of whose 32 bits the lower half is stored
            emit("i32.sub")
        emit("i32.store16", offset)

    def _runs(
        self,
        count: int,
        eight: Callable[[int], None],
        one: Callable[[int], None],
        source: int | None,
    ) -> None:
        vectors, rest = divmod(count, 8)

        def move(elements: int) -> None:
            advance(self._body, self._into, 2 * elements)
            if source is not None:
                advance(self._body, source, elements)

        if vectors > _STRAIGHT:

            def turn(_: Coord) -> None:
                for vector in range(_UNROLLED):
                    eight(8 * vector)
                move(8 * _UNROLLED)

            self._body.loop(vectors // _UNROLLED, turn)
            vectors %= _UNROLLED
        for vector in range(vectors):
            eight(8 * vector)
        for element in range(8 * vectors, 8 * vectors + rest):
            one(element)
        if vectors or rest:
            move(8 * vectors + rest)
