"""The body of a WebAssembly function while it is written: its loops, its branches, its indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ....codegen.index import Atom, Coord, Coords, variable
from ....core.dtype import DType
from ....graph import Node
from .assembler import Function
from .values import UnsupportedError

Key = tuple[Node, Coords, int]

_WORDS = 1 << 32


class Body:
    """A function's body, growing. What has been computed is remembered per scope, in locals.

    turns: the params with the first turn of the parallel loop that a call makes and the one behind
    its last; None for a function that makes all of them. units: how many turns that loop has.
    """

    def __init__(self, function: Function, turns: tuple[int, int] | None = None) -> None:
        self.function = function
        self.emit, self.apply = function.emit, function.apply
        self.turns = turns
        self.units = 1
        self._variables: dict[str, int] = {}
        # What was computed: values, parts of indices, positions along axes of so many elements.
        self._values: dict[Key, int] = {}
        self._parts: dict[Atom, int] = {}
        self._positions: dict[Key, Coord] = {}
        self._computed: list[tuple[dict[Any, Any], Any]] = []  # the keys, in their order

    # ---- control -------------------------------------------------------------------------------

    def scope(self, write: Callable[[], None]) -> None:
        """Writes something that may not run, or runs again and again."""
        before = len(self._computed)
        with self.function.scope():
            write()
        for known, key in self._computed[before:]:
            del known[key]
        del self._computed[before:]

    def _remember(self, known: dict[Any, Any], key: Any, value: Any) -> None:
        """Records what was computed, until the scope ends."""
        known[key] = value
        self._computed.append((known, key))

    def loop(self, count: int, write: Callable[[Coord], None], step: int = 1) -> None:
        """Calls `write` with the numbers 0, step, 2 * step ... below `count`, as the code of a
        loop, or directly if there is only one."""
        turns = -(-count // step)
        if turns <= 0:
            return
        if turns == 1:
            self.scope(lambda: write(0))
            return
        if turns >= _WORDS:
            raise UnsupportedError(f"a loop of {turns} turns")
        local = self.function.local("i32")
        coord = self._variable(local, turns)
        self.emit("i32.const", 0)
        self.emit("local.set", local)
        self._repeat(local, lambda: write(coord * step), lambda: self._push_word(turns))

    def span(self, first: Coord, end: Coord, write: Callable[[Coord], None]) -> None:
        """Calls `write` with the numbers from `first` to the one before `end`, as the code of a
        loop. There is at least one."""
        count = end - first
        if isinstance(count, int):
            self.loop(count, lambda number: write(first + number))
            return
        local = self.keep_index(first)
        coord = self._variable(local, _bound(end) - 1)
        self._repeat(local, lambda: write(coord), lambda: self.push_index(end))

    def up_to(self, end: Coord, write: Callable[[Coord], None]) -> None:
        """Calls `write` with the numbers below `end`, if there are any, as the code of a loop."""
        if isinstance(end, int):
            self.loop(end, write)
            return
        self.push_index(end)
        self.branch(lambda: self.span(0, end, write))

    def _repeat(
        self,
        local: int,
        write: Callable[[], None],
        push_end: Callable[[], object],
        step: int = 1,
    ) -> None:
        """Writes something that runs at least once, and again while `local`, which it increases, is
        less than what `push_end` pushes."""
        self.emit("loop")
        self.scope(write)
        self.apply("i32.add", local, number=step)
        self.emit("local.tee", local)
        push_end()
        self.emit("i32.lt_u")
        self.emit("br_if", 0)
        self.emit("end")

    def blocks(
        self, begin: Coord, end: Coord, size: int, write: Callable[[Coord, Coord], None]
    ) -> None:
        """Calls `write` with the beginnings and ends of parts of a span, `size` each but for the
        last."""
        if isinstance(begin, int) and isinstance(end, int):
            number, most = -(-(end - begin) // size), end
            if number == 1:
                self.scope(lambda: write(begin, most))
                return

            def one(part: Coord) -> None:
                first = begin + part * size
                write(first, self.at_most(first + size, most))

            self.loop(number, one)
            return
        local = self.keep_index(begin)
        first = self._variable(local, _bound(end) - 1)
        self._repeat(
            local,
            lambda: write(first, self.at_most(first + size, end)),
            lambda: self.push_index(end),
            size,
        )

    def at_most(self, coord: Coord, limit: Coord) -> Coord:
        """The smaller one of two coordinates."""
        if isinstance(limit, int) and _bound(coord) <= limit + 1:
            return coord
        local = self.keep_index(coord)
        self.push_index(limit)
        self.emit("local.get", local)
        self.push_index(limit)
        self.apply("i32.lt_u", local)
        self.apply("select", into=local)
        return self._variable(local, _bound(limit))

    # ---- parallel loops ------------------------------------------------------------------------

    def parallel(self, counts: Sequence[int], write: Callable[[Coords], None]) -> None:
        """As loops over `counts`, one within the other, whose turns threads may share: none reads
        what another one writes. A function has one parallel loop at most."""
        self.units = max(math.prod(counts), 1)
        if self.turns is None or math.prod(counts) <= 1:
            self._nested(counts, (), write)
            return
        local, turn = self._first_turn()

        def one() -> None:
            rest, coords = turn, []
            for count in reversed(counts):
                coords.append(self._kept(rest % count, count))
                rest = rest // count
            write(tuple(reversed(coords)))

        self._repeat(local, one, self._push_end)

    def parallel_spans(
        self, outer: int, inner: int, write: Callable[[Coord, Coord, Coord], None]
    ) -> None:
        """As `parallel((outer, inner), ...)`, but calls `write` once for all turns that have the
        outer coordinate in common: with that, and with a span of the inner one."""
        if self.turns is None or inner == 1:
            self.parallel((outer,), lambda at: write(at[0], 0, inner))
            return
        self.units = outer * inner
        begin, end = self.turns
        if outer == 1:
            write(0, self._variable(begin, inner), self._variable(end, inner + 1))
            return
        local, turn = self._first_turn()
        behind = self._variable(end, self.units + 1)

        def one() -> None:
            number = self._kept(turn // inner, outer)
            first = self._kept(turn % inner, inner)
            stop = self.at_most(behind - number * inner, inner)
            write(number, first, stop)
            self.push_index(number * inner + stop - 1)
            self.emit("local.set", local)

        self._repeat(local, one, self._push_end)

    def after_last(self, write: Callable[[], None]) -> None:
        """Writes what only the call that makes the last turn of the parallel loop does."""
        if self.turns is None:
            self.scope(write)
            return
        self._push_end()
        self._push_word(self.units)
        self.emit("i32.eq")
        self.branch(write)

    def _nested(
        self, counts: Sequence[int], coords: Coords, write: Callable[[Coords], None]
    ) -> None:
        if len(coords) == len(counts):
            write(coords)
            return
        count = counts[len(coords)]
        self.loop(count, lambda coord: self._nested(counts, (*coords, coord), write))

    def _first_turn(self) -> tuple[int, Coord]:
        """A local that is the first turn, and as a coordinate."""
        assert self.turns is not None
        self.emit("local.get", self.turns[0])
        local = self.keep("i32")
        return local, self._variable(local, self.units)

    def _push_end(self) -> None:
        assert self.turns is not None
        self.emit("local.get", self.turns[1])

    def _kept(self, coord: Coord, bound: int) -> Coord:
        """The same, computed once."""
        if isinstance(coord, int):
            return coord
        return self._variable(self.keep_index(coord), bound)

    # ---- branches ------------------------------------------------------------------------------

    def choose(
        self,
        tests: Sequence[tuple[Coord, int]],
        inside: Callable[[], None],
        outside: Callable[[], None],
    ) -> None:
        """Writes `inside` for coordinates that are not negative and below a bound, or else
        `outside`."""
        if not tests:
            self.scope(inside)
            return
        for number, (coord, bound) in enumerate(tests):
            self.push_index(coord)
            self.apply("i32.lt_u", number=bound)  # a negative one is a very large unsigned number
            if number:
                self.emit("i32.and")
        self.branch(inside, outside)

    def branch(
        self, write: Callable[[], None], otherwise: Callable[[], None] | None = None
    ) -> None:
        """Writes what runs where the number on the stack is not 0, and what does where it is."""
        self.emit("if")
        self.scope(write)
        if otherwise:
            self.emit("else")
            self.scope(otherwise)
        self.emit("end")

    def keep_index(self, coord: Coord) -> int:
        """The local with a coordinate."""
        self.push_index(coord)
        return self.keep("i32")

    def keep(self, kind: str) -> int:
        """A local with what is on the stack."""
        local = self.function.local(kind)
        self.emit("local.set", local)
        return local

    def limit(self, local: int, test: str, number: int, kind: str = "i32") -> None:
        """Keeps a local that passes a test against a number, else the number."""
        self.emit("local.get", local)
        self.emit(f"{kind}.const", number)
        self.apply(f"{kind}.{test}", local, number=number)
        self.apply("select", into=local)

    def push_lanes(self, x: int, y: int, lanes: Sequence[int]) -> None:
        """Pushes four 32-bit lanes of two vectors, which are numbered from 0 to 7."""
        self.emit("local.get", x)
        self.emit("local.get", y)
        self.emit("i8x16.shuffle", *(4 * lane + byte for lane in lanes for byte in range(4)))

    def across(self, vector: int, join: str) -> None:
        """Joins the four lanes of a local, in all of them."""
        for shift in (2, 1):
            self.emit("local.get", vector)
            self.push_lanes(vector, vector, [(lane + shift) % 4 for lane in range(4)])
            self.apply(join, into=vector)

    def result_of(
        self, name: str, *operands: int, number: float | None = None, offset: int | None = None
    ) -> int:
        """A local with what an instruction (see `Function.apply`) gives, of the type that its name
        begins with."""
        self.apply(name, *operands, number=number, offset=offset)
        return self.keep(name[:3] if name[3] == "." else "v128")

    def coordinate(self, local: int, bound: int) -> Coord:
        """A local, which is not negative and below a bound, as a coordinate."""
        return self._variable(local, max(bound, 2))

    def _variable(self, local: int, bound: int) -> Coord:
        """A local as a coordinate. Its name is used once, unlike the local."""
        name = f"i{len(self._variables)}"
        self._variables[name] = local
        return variable(name, bound)

    def _push_word(self, value: int) -> None:
        """Pushes the low 32 bits of a number."""
        low = value % _WORDS
        self.emit("i32.const", low - _WORDS if low >= _WORDS // 2 else low)

    # ---- indices -------------------------------------------------------------------------------

    def push_index(self, coord: Coord) -> None:
        """Pushes a coordinate as an i32."""
        if isinstance(coord, int):
            self._push_word(coord)
            return
        for number, (coefficient, atom) in enumerate(coord.terms):
            self._push_atom(atom)
            if coefficient != 1:
                self._push_word(coefficient)
                self.emit("i32.mul")
            if number:
                self.emit("i32.add")
        if coord.const:
            self._push_word(coord.const)
            self.emit("i32.add")

    def push_sum(self, local: int, coord: Coord) -> None:
        """Pushes a local plus a coordinate."""
        self.emit("local.get", local)
        self.push_index(coord)
        self.emit("i32.add")

    def pointer(self, base: int, offset: Coord) -> int:
        """A local with the address so many bytes behind that in another local."""
        self.push_sum(base, offset)
        return self.keep("i32")

    def _push_atom(self, atom: Atom) -> None:
        if atom.kind == "variable":
            self.emit("local.get", self._variables[atom.name])
            return
        known = self._parts.get(atom)
        if known is not None:
            self.emit("local.get", known)
            return
        self.push_index(atom.index)
        self._push_word(atom.divisor)
        self.emit("i32.div_u" if atom.kind == "quotient" else "i32.rem_u")
        local = self.function.local("i32")
        self.emit("local.tee", local)
        self._remember(self._parts, atom, local)

    def push_address(self, base: int, dtype: DType, linear: Coord) -> int:
        """Pushes the address of an element, but for the offset that is returned."""
        self.emit("local.get", base)
        if isinstance(linear, int) and 0 <= linear * dtype.size < _WORDS // 2:
            return linear * dtype.size
        if isinstance(linear, int):
            self._push_word(linear * dtype.size)
            self.emit("i32.add")
            return 0
        # An offset is added without wrapping: what is left must not be negative.
        const = linear.const if linear.const > 0 and linear.least >= linear.const else 0
        rest = linear - const
        self.push_index(rest)
        if dtype.size > 1:
            self.apply("i32.shl", number=dtype.size.bit_length() - 1)
        self.emit("i32.add")
        return const * dtype.size


def is_inside(coord: Coord, size: int) -> bool:
    """Whether a coordinate is certainly not negative and below a size."""
    if isinstance(coord, int):
        return 0 <= coord < size
    return coord.least >= 0 and coord.bound <= size


def _bound(coord: Coord) -> int:
    return coord + 1 if isinstance(coord, int) else coord.bound
