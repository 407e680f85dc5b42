"""Elements that are copied next to each other, as vectors."""

from __future__ import annotations

from collections.abc import Callable

from .....codegen.index import Coord
from .....core.dtype import float32
from ..expression import Expression
from ..values import constant
from .tiles import advance

_UNROLLED = 8  # vectors that are copied one after the other, without a loop around each
_STRAIGHT = 32  # vectors that are copied without any


class Copier:
    """Writes float32 from an address on, which is the value of a local at first."""

    def __init__(self, body: Expression, address: int) -> None:
        self._body = body
        body.emit("local.get", address)
        self._into = body.keep("i32")

    def value(self, local: int) -> None:
        """Writes what a local holds."""
        self._body.apply("f32.store", self._into, local, offset=0)
        advance(self._body, self._into, 4)

    def copy(self, count: int) -> None:
        """Copies so many elements from the address on the stack on."""
        source = self._body.keep("i32")

        def some(kind: str, offset: int) -> None:
            self._body.emit("local.get", self._into)
            self._body.apply(f"{kind}.load", source, offset=offset)
            self._body.emit(f"{kind}.store", offset)

        self._vectors(count, some, [self._into, source])

    def clear(self, count: int) -> None:
        """Writes so many zeros."""

        def some(kind: str, offset: int) -> None:
            self._body.emit("local.get", self._into)
            constant(self._body.function, 0, float32, 4 if kind == "v128" else 1)
            self._body.emit(f"{kind}.store", offset)

        self._vectors(count, some, [self._into])

    def _vectors(self, count: int, some: Callable[[str, int], None], moved: list[int]) -> None:
        """Calls `some` for each vector of so many elements, and for each element that is left over,
        with its offset; then moves pointers behind them."""
        vectors, rest = divmod(count, 4)
        if vectors > _STRAIGHT:

            def turn(_: Coord) -> None:
                for vector in range(_UNROLLED):
                    some("v128", 16 * vector)
                for pointer in moved:
                    advance(self._body, pointer, 16 * _UNROLLED)

            self._body.loop(vectors // _UNROLLED, turn)
            vectors %= _UNROLLED
        for vector in range(vectors):
            some("v128", 16 * vector)
        for element in range(rest):
            some("f32", 16 * vectors + 4 * element)
        for pointer in moved:
            advance(self._body, pointer, 16 * vectors + 4 * rest)
