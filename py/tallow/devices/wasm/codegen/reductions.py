"""Reductions: of four rows at once, of one row by vectors along it, or element by element.

The order in which a row is added up follows from its shape alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ....codegen.index import Coord, Coords, lane_axis
from ....codegen.picks import ending
from ....core.dtype import DType, float64
from ....graph import Node
from ....ops.kinds import Reduce
from ....scalar import operand
from .arithmetic import Arithmetic
from .assembler import Function
from .body import Body
from .values import UnsupportedError, constant, kind_of, shape_of

_LONG = 1024
"""Elements of a sum that float32 adds up one by one without losing more than it must."""

_WAYS = 4  # vectors that are folded side by side: an addition takes several cycles
# Why: docs/decisions/webassembly.md, "Long sums of float32 are added up in float64, or in blocks"
_BLOCK = 64  # turns after which sums of float32 are added up in float64

Step = Callable[[Coords, int], None]
"""Folds so many elements from coordinates on."""


@dataclass(frozen=True)
class Fold:
    """One reduction, while it is written.

    value: of a node, the local that holds one element or four. end: where `fill_from` begins to
    fill. vectors: whether a row is folded by
    vectors along it. relaxed: whether the engine has relaxed SIMD.
    """

    body: Body
    node: Node
    value: Callable[[Node, Coords, int], int]
    end: Callable[[Node], Coord]
    stored: Callable[[Node], bool]
    vectors: bool
    relaxed: bool

    def local(self, coords: Coords, width: int) -> int:
        """The local with the result at coordinates; with those of four rows for a width of 4."""
        op, child = self._op, self._child
        axes = [axis for axis in self.node.attrs["axes"] if child.shape[axis] != 1]
        lanes = lane_axis(child.shape) if child.shape else -1
        if not child.size and isinstance(op.start, str):
            raise UnsupportedError(f"{op.name} of nothing")
        if width == 4:
            if op.indexed or lanes in axes:
                raise UnsupportedError("four reductions of rows at once")
            if child.size > _LONG * self.node.size and not isinstance(op.start, str):
                raise UnsupportedError("long sums in float32")
            return self._one_by_one(coords, axes, 4)
        if op.indexed:
            return self._winner(coords, axes)
        by_vectors = self.vectors and lanes in axes and lanes != self._ending
        if by_vectors and child.shape[lanes] >= 8 and child.dtype.size <= 4:
            return self._by_vectors(coords, [axis for axis in axes if axis != lanes], lanes)
        return self._one_by_one(coords, axes, 1)

    @property
    def _ending(self) -> int | None:
        """The axis along which it ends at a position that is read."""
        return None if self.stored(self.node.inputs[0]) else ending(self.node)

    @property
    def _child(self) -> Node:
        """What is folded: as far as a reduction goes that ends at a position, no filling is."""
        (child,) = self.node.inputs
        return child if self._ending is None else child.inputs[0]

    @property
    def _op(self) -> Reduce:
        assert isinstance(self.node.op, Reduce)
        return self.node.op

    def _nested(self, at: Coords, axes: Sequence[int], fold: Callable[[Coords], None]) -> None:
        """Calls `fold` in a loop for each axis."""
        if not axes:
            fold(at)
            return
        axis, shape = axes[0], self.node.inputs[0].shape

        def turn(coord: Coord) -> None:
            self._nested((*at[:axis], coord, *at[axis + 1 :]), axes[1:], fold)

        ends = axis == self._ending
        self.body.up_to(self.end(self.node.inputs[0]) if ends else shape[axis], turn)

    # ---- one by one ----------------------------------------------------------------------------

    def _one_by_one(self, coords: Coords, axes: Sequence[int], width: int) -> int:
        dtype = self._sum_type if width == 1 else self.node.inputs[0].dtype
        total = self._made(dtype, width)
        self._nested(coords, axes, lambda at: self._element(total, dtype, at, width))
        return self._rounded(total, dtype)

    @property
    def _sum_type(self) -> DType:
        """One by one, a long sum or product loses its last digits in float32."""
        dtype = self.node.inputs[0].dtype
        exact = dtype.kind == "f" and dtype.size <= 4 and not isinstance(self._op.start, str)
        return float64 if exact else dtype

    def _made(self, dtype: DType, width: int) -> int:
        """A local with the value before the first element."""
        local = self.body.function.local(kind_of(dtype, width))
        constant(self.body.function, start_of(self._op, dtype), dtype, width)
        self.body.emit("local.set", local)
        return local

    def _element(self, total: int, dtype: DType, at: Coords, width: int) -> None:
        """Folds what is at coordinates into a total of a type."""
        child = self._child
        item = self.value(child, at, width)

        def push() -> None:
            self.body.emit("local.get", item)
            if dtype == float64 and child.dtype != float64:
                self.body.emit("f64.promote_f32")

        self._combine(total, dtype, push, width)

    def _combine(self, total: int, dtype: DType, push: Callable[[], None], width: int) -> None:
        combined = self._op.combine(operand(0, dtype), operand(1, dtype))
        pushes = [lambda: self.body.emit("local.get", total), push]
        Arithmetic(self.body.function, width, self.relaxed).push(combined, pushes)
        self.body.emit("local.set", total)

    def _rounded(self, total: int, dtype: DType) -> int:
        """The local with a total in the type of the elements."""
        if dtype == self.node.inputs[0].dtype:
            return total
        self.body.apply("f32.demote_f64", total)
        return self.body.keep("f32")

    # ---- by vectors ----------------------------------------------------------------------------

    def _by_vectors(self, coords: Coords, others: Sequence[int], lanes: int) -> int:
        """Folds lines along an axis four elements at a time, and what is left one by one."""
        child = self._child
        length, exact = child.shape[lanes], self._sum_type
        lines = child.size // self.node.size // length
        turns = length // (4 * _WAYS)
        ways = _WAYS if turns else 1
        parts = [self._made(child.dtype, 4) for _ in range(ways)]
        total = self._made(exact, 1)
        # A sum of float32 that stays within one block is added up in float64 at its end.
        long = exact != child.dtype and lines * max(turns, 1) > _BLOCK

        def at(line: Coords, index: Coord) -> Coords:
            return (*line[:lanes], index, *line[lanes + 1 :])

        def some(line: Coords, first: Coord, count: int) -> None:
            for way in range(count):
                index = at(line, first + 4 * way)
                self._element(parts[way % ways], child.dtype, index, 4)

        def block(line: Coords, first: Coord, count: int) -> None:
            step = 4 * ways
            self.body.loop(count, lambda turn: some(line, first + turn * step, ways))
            if long and count:
                self._collect(total, exact, parts)

        def line(start: Coords) -> None:
            whole, rest = divmod(turns, _BLOCK) if long else (0, turns)
            step = 4 * _WAYS * _BLOCK
            self.body.loop(whole, lambda number: block(start, number * step, _BLOCK))
            self.body.scope(partial(block, start, whole * step, rest))
            done = 4 * _WAYS * turns
            left = (length - done) // 4
            self.body.scope(partial(some, start, done, left))
            for index in range(done + 4 * left, length):
                self.body.scope(partial(self._element, total, exact, at(start, index), 1))

        self._nested(coords, others, line)
        self._collect(total, exact, parts)
        return self._rounded(total, exact)

    def _collect(self, total: int, dtype: DType, parts: Sequence[int]) -> None:
        """Folds all lanes of vectors into a total, and resets the vectors."""
        child, first = self.node.inputs[0].dtype, parts[0]
        emit = self.body.emit
        for part in parts[1:]:
            self._combine(first, child, partial(emit, "local.get", part), 4)
        shape = shape_of(child, 4)
        for number in range(4):

            def lane(number: int = number) -> None:
                emit("local.get", first)
                emit(f"{shape}.extract_lane", number)
                if dtype != child:
                    emit("f64.promote_f32")

            self._combine(total, dtype, lane, 1)
        for part in parts:
            constant(self.body.function, start_of(self._op, child), child, 4)
            emit("local.set", part)

    # ---- positions -----------------------------------------------------------------------------

    def _winner(self, coords: Coords, axes: Sequence[int]) -> int:
        """The index of the first element that no other beats; the first NaN beats all."""
        (child,), emit = self.node.inputs, self.body.emit
        (axis,) = self.node.attrs["axes"]
        best = self._made(child.dtype, 1)
        index = self.body.function.local("i32")
        emit("i32.const", 0)
        emit("local.set", index)

        def step(at: Coords) -> None:
            item = self.value(child, at, 1)
            push_wins(self.body.function, self._op, child.dtype, best, item)
            emit("if")
            emit("local.get", item)
            emit("local.set", best)
            self.body.push_index(at[axis])
            emit("local.set", index)
            emit("end")

        self._nested(coords, axes, step)
        return index


def push_wins(function: Function, op: Reduce, dtype: DType, best: int, item: int) -> None:
    """Pushes whether an element beats the best one before it; the first NaN beats all."""
    wins = op.combine(operand(0, dtype), operand(1, dtype))
    pushes = [partial(function.emit, "local.get", local) for local in (best, item)]
    Arithmetic(function).push(wins, pushes)
    if dtype.kind == "f":
        for local, test, joined in ((item, "ne", "or"), (best, "eq", "and")):
            function.apply(f"{kind_of(dtype)}.{test}", local, local)
            function.emit(f"i32.{joined}")


def start_of(op: Reduce, dtype: DType) -> float:
    """The value before the first element."""
    if not isinstance(op.start, str):
        return op.start
    if dtype.kind == "f":
        return float("-inf") if op.start == "lowest" else float("inf")
    bits = 8 * dtype.size
    ends = (0, (1 << bits) - 1) if dtype.kind == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return ends[op.start == "highest"]
