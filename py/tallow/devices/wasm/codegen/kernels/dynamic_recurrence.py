"""An LSTM with 8-bit weights (ops/dynamic_recurrence.py): the states of all sequences are rounded
at each step, and multiplied as integers.

What is rounded is widened to 16 bits, less its zero point, into memory of the kernel's own. One
instruction multiplies a pair of it by the pairs of all gates of an element; the sums are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from .....codegen.index import Coord, Coords
from .....core.dtype import float32, int32
from .....graph import Node
from .....ops.dynamic_recurrence import GATES, STATES, TILE, groups
from ..expression import Expression
from ..values import UnsupportedError, constant
from . import tiles
from .recurrence import RecurrentSteps, is_zero
from .unpacked import Store

_UNROLLED = 4  # pairs
_OWN = ("h", "c")


def dynamic_recurrence(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes dynamic_steps, and what is fused behind it, as `product` does (products.py)."""
    if any(each not in body.addresses for each in (node.inputs[1], node.inputs[3])):
        raise UnsupportedError("steps by weights that are not in memory")
    if node.inputs[1].dtype.size > 1 or len(node.inputs[1].shape) < 6 or width < 4:
        raise UnsupportedError("steps by weights that are not packed")
    steps = _DynamicSteps(body, node, store, width, scratch)
    directions = len(node.attrs["backward"])

    def one(direction: Coord) -> None:
        if directions == 1:
            steps.direction(0)
            return
        body.push_index(direction)
        body.branch(partial(steps.direction, 1), partial(steps.direction, 0))

    body.parallel((directions,), lambda at: one(at[0]))
    return steps.bytes


@dataclass(frozen=True)
class _DynamicSteps(RecurrentSteps):
    """A layer. Memory of the kernel's own has, for each element of a state, four sums; of each
    sequence, its states; and the rounded hidden state of one. Elements beyond the last are 0."""

    factor: int = 0
    """The local with the scale of the rounded states."""
    zero: int = 0
    """Their zero point."""

    @property
    def extra(self) -> Node:
        """The peepholes."""
        return self.node.inputs[5]

    @property
    def lengths(self) -> Node:
        return self.node.inputs[6]

    @property
    def wide(self) -> int:
        """Elements of a state, in whole tiles."""
        return groups(self.size) * TILE

    @property
    def sequences(self) -> int:
        return self.node.shape[2]

    @property
    def _rounded(self) -> int:
        """Where rounded states begin, in bytes."""
        return 4 * self.wide * (GATES + STATES * self.sequences)

    @property
    def bytes(self) -> int:
        return self._rounded + 2 * self.wide

    def _address(self, name: str, unit: Coord) -> int:
        row = self.batch * STATES + (GATES + _OWN.index(name))
        return self.body.push_address(self.scratch, float32, row * self.wide + unit)

    # ---- a direction ---------------------------------------------------------------------------

    def direction(self, direction: int) -> None:
        """All steps of all sequences."""
        body, attrs = self.body, self.node.attrs
        steps = self.node.shape[0] - STATES

        def each(write: Callable[[_DynamicSteps], None]) -> None:
            body.loop(self.sequences, lambda batch: write(replace(self, batch=batch)))

        def fetch(one: _DynamicSteps) -> None:
            one._clear()
            one._units(partial(one._fetch, direction))

        def hand_out(one: _DynamicSteps) -> None:
            one._units(partial(one._hand_out, direction))

        def turn(number: Coord) -> None:
            low, high = tiles.zeros(body, 2)
            each(lambda one: one.if_alive(number + -1, lambda: one._extend(low, high)))
            factor, zero = self._range(low, high)
            time = number * -1 + (steps - 1) if attrs["backward"][direction] else number

            def sequence(one: _DynamicSteps) -> None:
                one = replace(one, factor=factor, zero=zero)
                at = (time, one.batch, direction), (time, direction, one.batch)
                one.if_alive(
                    number,
                    lambda: one._step(*at),
                    lambda: one._units(partial(one._nothing, at[1])),
                )

            each(sequence)

        each(fetch)
        body.loop(steps, turn)
        each(hand_out)

    def _step(self, at: Coords, to: Coords) -> None:
        self._products(at[2], "h")
        self._units(partial(self._lstm, at, to))

    def _clear(self) -> None:
        def four(unit: Coord) -> None:
            for name in _OWN:
                offset = self._address(name, unit)
                constant(self.body.function, 0, float32, 4)
                self.body.emit("v128.store", offset)

        self.body.loop(self.wide, four, 4)

    def _fetch(self, direction: int, unit: Coord, lanes: int) -> None:
        for number, name in enumerate(_OWN):
            at = (number, direction, self.batch, unit)
            self._set(name, unit, lanes, self.body.value(self.node.inputs[4], at, lanes))

    def _hand_out(self, direction: int, unit: Coord, lanes: int) -> None:
        steps = self.node.shape[0] - STATES
        for number, name in enumerate(_OWN):
            at = (steps + number, direction, self.batch, unit)
            self._put(at, self._get(name, unit, lanes), lanes)

    # ---- rounding ------------------------------------------------------------------------------

    def _extend(self, low: int, high: int) -> None:
        """Extends a range, of four lanes each, by the hidden state."""

        def four(unit: Coord) -> None:
            offset = self._address("h", unit)
            value = self.body.result_of("v128.load", offset=offset)
            for local, test in ((low, "min"), (high, "max")):
                self.body.apply(f"f32x4.{test}", local, value, into=local)

        self.body.loop(self.wide, four, 4)

    def _range(self, low: int, high: int) -> tuple[int, int]:
        """The locals with the scale and the zero point of a range, in all lanes."""
        body, emit = self.body, self.body.emit
        for local, test in ((low, "min"), (high, "max")):
            body.across(local, f"f32x4.{test}")
        body.apply("f32x4.sub", high, low)
        constant(body.function, 255, float32, 4)
        emit("f32x4.div")
        constant(body.function, 1, float32, 4)
        body.apply("f32x4.ne", high, low)
        emit("v128.bitselect")
        factor = body.keep("v128")
        constant(body.function, 0, float32, 4)
        body.apply("f32x4.sub", low)
        body.apply("f32x4.div", factor)
        emit("f32x4.nearest")
        self._within(0, 255)
        return factor, body.keep("v128")

    def _within(self, low: int, high: int) -> None:
        constant(self.body.function, low, float32, 4)
        self.body.emit("f32x4.max")
        constant(self.body.function, high, float32, 4)
        self.body.emit("f32x4.min")

    def _round(self) -> int | None:
        """Rounds the hidden state; the local with the sum of all, if the weights have zero
        points."""
        body, emit = self.body, self.body.emit
        total = None if is_zero(self.node.inputs[2]) else tiles.zeros(body, 1, 4, int32)[0]

        def eight(unit: Coord) -> None:
            body.push_sum(self.scratch, unit * 2 + self._rounded)
            for part in range(2):
                offset = self._address("h", unit + 4 * part)
                emit("v128.load", offset)
                body.apply("f32x4.div", self.factor)
                emit("f32x4.nearest")
                body.apply("f32x4.add", self.zero)
                self._within(0, 255)
                body.apply("f32x4.sub", self.zero)
                emit("i32x4.trunc_sat_f32x4_s")
                if total is not None:
                    value = body.keep("v128")
                    for _ in range(2):
                        emit("local.get", value)
                    body.apply("i32x4.add", total, into=total)
            emit("i16x8.narrow_i32x4_s")
            emit("v128.store", 0)

        body.loop(self.wide, eight, 8)
        if total is not None:
            body.across(total, "i32x4.add")
        return total

    # ---- products ------------------------------------------------------------------------------

    def _products(self, direction: Coord, name: str) -> None:
        """The sums of all gates of all elements, for the rounded hidden state."""
        total = self._round()
        self.body.loop(self.wide, lambda unit: self._dots(direction, unit, total), TILE)

    def _dots(self, direction: Coord, unit: Coord, total: int | None) -> None:
        body, emit = self.body, self.body.emit
        weights = self.node.inputs[1]
        sign = "s" if weights.dtype.kind == "i" else "u"
        count = weights.shape[2]
        sums = tiles.zeros(body, TILE, 4, int32)
        left = body.pointer(self.scratch, self._rounded)
        right = body.pointer(
            body.addresses[weights], (direction * self.wide + unit) * (count * GATES * 2)
        )
        value = body.function.local("v128")

        def products(number: int) -> None:
            for pair in range(number):
                body.apply("v128.load32_splat", left, offset=4 * pair, into=value)
                for index, total in enumerate(sums):
                    offset = GATES * 2 * (TILE * pair + index)
                    body.apply(f"v128.load8x8_{sign}", right, offset=offset)
                    body.apply("i32x4.dot_i16x8_s", value)
                    body.apply("i32x4.add", total, into=total)
            tiles.advance(body, left, 4 * number)
            tiles.advance(body, right, GATES * 2 * TILE * number)

        body.loop(count // _UNROLLED, lambda _: products(_UNROLLED))
        if count % _UNROLLED:
            products(count % _UNROLLED)
        for index, each in enumerate(sums):
            offset = body.push_address(self.scratch, float32, (unit + index) * GATES)
            emit("local.get", each)
            at = direction, unit + index, 0
            if total is not None:
                body.apply("i32x4.mul", body.value(self.node.inputs[2], at, 4), total)
                emit("i32x4.sub")
            emit("f32x4.convert_i32x4_s")
            emit("local.get", self.factor)
            body.apply("f32x4.mul", body.value(self.node.inputs[3], at, 4))
            emit("f32x4.mul")
            emit("v128.store", offset)
