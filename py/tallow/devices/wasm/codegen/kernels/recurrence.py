"""Recurrent layers: the steps of a sequence one after the other (ops/recurrence.py).

The state times the weights of all gates is a product with one row, for eight elements of a state at
a time; the gates of an element stand side by side in the weights and in the sums. What follows is
computed for four elements at once, whose gates are sorted by shuffles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .....codegen.index import Coord, Coords
from .....core.dtype import float32
from .....graph import Node
from .....ops import movement
from .....ops.formulas import expm1, log1p
from .....ops.recurrence_training import kept_blocks, recurrence_kept
from .....scalar import Scalar, absolute, clamp, exp, maximum, minimum, operand, select, tanh
from ..arithmetic import Arithmetic
from ..expression import Expression
from ..values import UnsupportedError, constant
from . import tiles
from .unpacked import Store

TILES = {1: 8, 2: 4, 3: 2, 4: 2}
"""Elements of a state whose sums stay in registers, for so many sequences."""

_UNROLLED = 4

ACTIVATIONS: dict[str, Callable[[Scalar, float, float], Scalar]] = {
    "Affine": lambda x, a, b: x * a + b,
    "Elu": lambda x, a, b: select(x >= 0, x, expm1(minimum(x, 0)) * a),
    "HardSigmoid": lambda x, a, b: clamp(x * a + b, 0, 1),
    "LeakyRelu": lambda x, a, b: select(x >= 0, x, x * a),
    "Relu": lambda x, a, b: maximum(x, 0),
    "ScaledTanh": lambda x, a, b: tanh(x * b) * a,
    "Sigmoid": lambda x, a, b: 1 / (exp(-x) + 1),
    "Softplus": lambda x, a, b: maximum(x, 0) + log1p(exp(-absolute(x))),
    "Softsign": lambda x, a, b: x / (absolute(x) + 1),
    "Tanh": lambda x, a, b: tanh(x),
    "ThresholdedRelu": lambda x, a, b: select(x >= a, x, 0),
}

# Lanes of two vectors, the second one's from 4 on: the lower and the upper halves of both, mixed,
# and the lower and the upper half of each, side by side.
_MIXED = (0, 4, 1, 5), (2, 6, 3, 7)
_BESIDE = (0, 1, 4, 5), (2, 3, 6, 7)


_TOGETHER = 4
"""Sequences that take their steps together: a weight that has been loaded serves all of them."""

_SHARES = 4
"""Groups of sequences at least, if threads share them."""


def together(body: Expression, batch: int) -> int:
    """How many sequences take their steps together."""
    most = min(_TOGETHER, batch if body.turns is None else batch // _SHARES)
    return min(range(1, max(most, 1) + 1), key=lambda n: (-(-batch // n) * n, -n))


def for_groups(
    body: Expression,
    directions: int,
    batch: int,
    rows: int,
    write: Callable[[int, Coord], None],
) -> None:
    """Calls `write` with each direction and the first sequence of each group of `rows`, which
    threads may share. The last group may begin within the one before it."""

    def group(turn: Coord, direction: int) -> None:
        write(direction, body.at_most(turn * rows, batch - rows))

    def one(direction: Coord, turn: Coord) -> None:
        if directions == 1:
            group(turn, 0)
            return
        body.push_index(direction)
        body.branch(partial(group, turn, 1), partial(group, turn, 0))

    body.parallel((directions, -(-batch // rows)), lambda at: one(*at))


def recurrent_steps(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes recurrence_steps or recurrence_kept, and what is fused behind it, as `product` does
    (products.py)."""
    if node.dtype != float32 or node.inputs[1] not in body.addresses:
        raise UnsupportedError("steps of what is not float32, by weights that are not in memory")
    directions, batch = node.shape[1:3]
    rows = together(body, batch)
    steps = RecurrentSteps(body, node, store, width, scratch, rows)
    for_groups(body, directions, batch, rows, steps.group)
    return steps.bytes


@dataclass(frozen=True)
class RecurrentSteps:
    """A layer. Memory of the kernel's own has, for each sequence of a group and each element of a
    state, four sums and each of `_OWN`.

    rows: sequences of a group. row, batch: the index of one of them in the group and in the batch.
    """

    body: Expression
    node: Node
    store: Store
    width: int
    scratch: int
    rows: int = 1
    row: Coord = 0
    batch: Coord = 0

    @property
    def size(self) -> int:
        """Elements of a state."""
        return self.node.shape[3]

    @property
    def extra(self) -> Node:
        """The operand with peepholes, or a bias behind the product."""
        return self.node.inputs[3]

    @property
    def lengths(self) -> Node:
        """The operand with the steps that each sequence takes."""
        return self.node.inputs[4]

    @property
    def bytes(self) -> int:
        """The scratch memory that it takes."""
        return 4 * self._apart * self.rows

    @property
    def _wide(self) -> int:
        """Elements of a state, in whole vectors."""
        return -(-self.size // 4) * 4

    @property
    def _apart(self) -> int:
        """How far apart two sequences are in the kernel's own memory, in elements."""
        return (4 + len(_OWN)) * self._wide

    # ---- a group of sequences ------------------------------------------------------------------

    def group(self, direction: int, first: Coord) -> None:
        """All steps of some sequences in a direction."""
        steps = self.node.attrs["steps"]
        self._each(first, lambda one: one._units(partial(one._fetch, direction)))
        self.body.loop(steps, partial(self._turn, direction, first))
        self._each(first, lambda one: one._units(partial(one._hand_out, direction)))

    def _each(self, first: Coord, write: Callable[[Any], None]) -> None:
        """Calls `write` for each sequence of the group that begins with `first`."""
        self.body.loop(self.rows, lambda n: write(replace(self, row=n, batch=first + n)))

    def _fetch(self, direction: int, unit: Coord, lanes: int) -> None:
        states = self.node.inputs[2]
        for number in range(states.shape[0]):
            at = (number, direction, self.batch, unit)
            self._set(_OWN[number], unit, lanes, self.body.value(states, at, lanes))

    def _hand_out(self, direction: int, unit: Coord, lanes: int) -> None:
        for number in range(self.node.inputs[2].shape[0]):
            value = self._get(_OWN[number], unit, lanes)
            self._put(
                (self.node.attrs["steps"] + number, direction, self.batch, unit), value, lanes
            )

    def _turn(self, direction: int, first: Coord, turn: Coord) -> None:
        attrs = self.node.attrs
        time = turn + attrs["start"]
        row = turn
        if attrs["backward"][direction]:
            time = time * -1 + (self.node.inputs[0].shape[0] - 1)
            row = turn * -1 + (attrs["steps"] - 1)

        def units(one: RecurrentSteps, function: _OfUnits, otherwise: bool) -> None:
            at, to = (time, one.batch, direction), (row, direction, one.batch)
            nothing = partial(one._units, partial(one._nothing, to)) if otherwise else None
            one.if_alive(time, lambda: one._units(partial(function, one, at, to)), nothing)

        for number, (name, function) in enumerate(self._phases()):
            if name:
                self.if_any(time, first, partial(self._products, direction, name))
            self._each(first, partial(units, function=function, otherwise=not number))

    def _phases(self) -> list[tuple[str, _OfUnits]]:
        """What a step consists of: a product of a state, if there is one, and what follows of
        it."""
        cell, kind = self.node.attrs["cell"], type(self)
        if cell != "gru":
            return [("h", kind._rnn if cell == "rnn" else kind._lstm)]
        second = "" if self.node.attrs["linear_before_reset"] else "reset"
        return [("h", kind._gru_gates), (second, kind._gru_rest)]

    def _nothing(self, to: Coords, unit: Coord, lanes: int) -> None:
        """Of a sequence that is over."""
        zero = self._zero(lanes)
        self._put((*to, unit), zero, lanes)
        for number in range(kept_blocks(self.node.attrs) if self._keeps else 0):
            self._keep(number, to, unit, lanes, zero)

    def _zero(self, lanes: int) -> int:
        constant(self.body.function, 0, float32, lanes)
        return self.body.keep("v128" if lanes == 4 else "f32")

    def if_alive(
        self, time: Coord, write: Callable[[], None], otherwise: Callable[[], None] | None = None
    ) -> None:
        """Writes something for a sequence that is not over at a time."""
        self._push_alive(time, self.batch)
        self.body.branch(write, otherwise)

    def if_any(self, time: Coord, first: Coord, write: Callable[[], None]) -> None:
        """Writes something for a group whose sequences are not all over."""
        for n in range(self.rows):
            self._push_alive(time, first + n)
            if n:
                self.body.emit("i32.or")
        self.body.branch(write)

    def _push_alive(self, time: Coord, batch: Coord) -> None:
        length = self.body.value(self.lengths, (batch,))
        self.body.push_index(time)
        self.body.apply("i32.lt_s", length)

    # ---- cells ---------------------------------------------------------------------------------

    def _rnn(self, at: Coords, to: Coords, unit: Coord, lanes: int) -> None:
        (total,) = self._sums(unit, lanes, [0])
        if self._keeps:
            self._keep(0, to, unit, lanes, self._get("h", unit, lanes))
        new = self._plain(0, total, self._x(at, 0, unit, lanes), lanes)
        self._set("h", unit, lanes, new)
        self._put((*to, unit), new, lanes)

    def _gru_gates(self, at: Coords, to: Coords, unit: Coord, lanes: int) -> None:
        sums = self._sums(unit, lanes, [0, 1])
        update, reset = (
            self._plain(0, total, self._x(at, gate, unit, lanes), lanes)
            for gate, total in enumerate(sums)
        )
        self._set("update", unit, lanes, update)
        h = self._get("h", unit, lanes)
        for number, value in enumerate((h, update, reset)):
            self._keep(number, to, unit, lanes, value)
        if not self.node.attrs["linear_before_reset"]:
            reset = self._made(lanes, lambda r, h: r * h, reset, h)
        self._set("reset", unit, lanes, reset)

    def _gru_rest(self, at: Coords, to: Coords, unit: Coord, lanes: int) -> None:
        (total,) = self._sums(unit, lanes, [2])
        update, h = self._get("update", unit, lanes), self._get("h", unit, lanes)
        x = self._x(at, 2, unit, lanes)
        if self.node.attrs["linear_before_reset"]:
            extra, reset = self._extra(at[2], 2, unit, lanes), self._get("reset", unit, lanes)
            total = self._made(lanes, lambda s, e: s + e, total, extra)
            self._keep(4, to, unit, lanes, total)
            total = self._made(lanes, lambda s, r: s * r, total, reset)
        candidate = self._plain(1, total, x, lanes)
        self._keep(3, to, unit, lanes, candidate)
        new = self._made(lanes, lambda n, z, h: (1 - z) * n + z * h, candidate, update, h)
        self._set("h", unit, lanes, new)
        self._put((*to, unit), new, lanes)

    def _lstm(self, at: Coords, to: Coords, unit: Coord, lanes: int) -> None:
        """The cell itself is not clipped, as in onnxruntime."""
        forgets = self.node.attrs["input_forget"]
        peeps = not is_zero(self.extra)

        def gate(number: int, gate: int, total: int, c: int) -> int:
            x = self._x(at, gate, unit, lanes)
            if not peeps or gate == 3:
                return self._plain(number, total, x, lanes)
            peephole = self._extra(at[2], gate, unit, lanes)
            operands = total, x, peephole, c
            return self._made(
                lanes, lambda s, x, p, c: self._gate(number, s + x + p * c), *operands
            )

        enter_sum, leave_sum, forget_sum, new_sum = self._sums(unit, lanes, [0, 1, 2, 3])
        old = self._get("c", unit, lanes)
        enter, forget = gate(0, 0, enter_sum, old), gate(0, 2, forget_sum, old)
        new = gate(1, 3, new_sum, old)
        c = self._made(
            lanes,
            lambda i, f, n, c: (1 - i if forgets else f) * c + i * n,
            *(enter, forget, new, old),
        )
        leave = gate(0, 1, leave_sum, c)
        if self._keeps:
            before = self._get("h", unit, lanes)
            for number, value in enumerate((before, enter, leave, forget, new, old)):
                self._keep(number, to, unit, lanes, value)
        h = self._made(lanes, lambda c, o: self._activation(2, c) * o, c, leave)
        self._set("c", unit, lanes, c)
        self._set("h", unit, lanes, h)
        self._put((*to, unit), h, lanes)

    def _plain(self, number: int, total: int, x: int, lanes: int) -> int:
        """A gate, of its sum and what comes of the inputs."""
        return self._made(lanes, lambda s, x: self._gate(number, s + x), total, x)

    def _activation(self, number: int, x: Scalar) -> Scalar:
        name, alpha, beta = self.node.attrs["activations"][number]
        return ACTIVATIONS[name](x, alpha, beta)

    def _gate(self, number: int, x: Scalar) -> Scalar:
        """The activation of a gate, of what is clipped before."""
        clip = self.node.attrs["clip"]
        return self._activation(number, clamp(x, -clip, clip) if clip else x)

    # ---- values --------------------------------------------------------------------------------

    def _units(self, write: Callable[[Coord, int], None]) -> None:
        """Calls `write` for all elements of a state, `width` at a time, and one by one at the
        end."""
        rest = self.size % self.width
        whole = self.size - rest
        self.body.loop(whole, lambda unit: write(unit, self.width), self.width)
        for unit in range(whole, self.size):
            self.body.scope(partial(write, unit, 1))

    def _made(self, lanes: int, function: Callable[..., Scalar], *operands: int) -> int:
        """The local with a function of what locals hold."""
        scalars = [operand(index, float32) for index in range(len(operands))]
        pushes = [lambda local=local: self.body.emit("local.get", local) for local in operands]
        arithmetic = Arithmetic(self.body.function, lanes, self.body.relaxed)
        arithmetic.push(function(*scalars), pushes)
        return self.body.keep("v128" if lanes == 4 else "f32")

    def _x(self, at: Coords, gate: int, unit: Coord, lanes: int) -> int:
        x = self.node.inputs[0]
        return self.body.value(x, (*at, unit + gate * self.size), lanes)

    def _extra(self, direction: Coord, gate: int, unit: Coord, lanes: int) -> int:
        return self.body.value(self.extra, (direction, unit + gate * self.size), lanes)

    def _put(self, coords: Coords, value: int, lanes: int) -> None:
        """Stores a part of the result."""
        linear: Coord = 0
        for coord, dim in zip(coords, self.node.shape, strict=True):
            linear = linear * dim + coord
        self.body.give(self.node, value)
        self.body.scope(partial(self.store, self.node.shape, coords, linear, lanes))

    @property
    def _keeps(self) -> bool:
        """Whether the gradient's kernel will read what a step computes."""
        return self.node.op is recurrence_kept

    def _keep(self, number: int, to: Coords, unit: Coord, lanes: int, value: int) -> None:
        """Stores a part of a step's block, if there are such."""
        if self._keeps:
            steps = self.node.attrs["steps"]
            row = to[0] + (steps * (1 + number) + self.node.inputs[2].shape[0])
            self._put((row, *to[1:], unit), value, lanes)

    def _address(self, name: str, unit: Coord) -> int:
        """Pushes the address of an element in the kernel's own memory, but for the offset."""
        part = 4 + _OWN.index(name)
        return self.body.push_address(
            self.scratch, float32, self.row * self._apart + (part * self._wide + unit)
        )

    def _set(self, name: str, unit: Coord, lanes: int, value: int) -> None:
        offset = self._address(name, unit)
        self.body.apply("v128.store" if lanes == 4 else "f32.store", value, offset=offset)

    def _get(self, name: str, unit: Coord, lanes: int) -> int:
        offset = self._address(name, unit)
        return self.body.result_of("v128.load" if lanes == 4 else "f32.load", offset=offset)

    # ---- products ------------------------------------------------------------------------------

    def _products(self, direction: Coord, name: str) -> None:
        """The sums of all gates of all elements, for a state in the kernel's own memory: of all
        sequences of the group."""
        body, tile = self.body, TILES[self.rows]
        whole = self.size - self.size % tile
        body.loop(whole, lambda unit: self._tile(direction, name, unit, tile), tile)
        if whole < self.size:
            body.scope(partial(self._tile, direction, name, whole, self.size - whole))

    def _tile(self, direction: Coord, name: str, unit: Coord, count: int) -> None:
        body = self.body
        sums = [tiles.zeros(body, count) for _ in range(self.rows)]
        offset = self._address(name, 0)
        state = body.result_of("i32.add", number=offset)
        weights = body.pointer(
            body.addresses[self.node.inputs[1]], (direction * self.size * self.size + unit) * 16
        )
        value, loaded = body.function.local("v128"), tiles.zeros(body, count)

        def products(number: int) -> None:
            for k in range(number):
                for index, local in enumerate(loaded):
                    body.apply(
                        "v128.load", weights, offset=16 * (self.size * k + index), into=local
                    )
                for row, into in enumerate(sums):
                    body.apply(
                        "v128.load32_splat", state, offset=4 * (self._apart * row + k), into=value
                    )
                    for total, local in zip(into, loaded, strict=True):
                        tiles.multiply_add(body, total, value, local)
            tiles.advance(body, state, 4 * number)
            tiles.advance(body, weights, 16 * self.size * number)

        body.loop(self.size // _UNROLLED, lambda _: products(_UNROLLED))
        if self.size % _UNROLLED:
            products(self.size % _UNROLLED)
        for row, into in enumerate(sums):
            for index, total in enumerate(into):
                at = (unit + index) * 4 + row * self._apart
                offset = body.push_address(self.scratch, float32, at)
                body.apply("v128.store", total, offset=offset)

    def _sums(self, unit: Coord, lanes: int, gates: list[int]) -> list[int]:
        """The locals with the sums of some gates."""
        body = self.body
        found, begin = [], self.row * self._apart
        if lanes == 1:
            for gate in gates:
                offset = body.push_address(self.scratch, float32, begin + (unit * 4 + gate))
                found.append(body.result_of("f32.load", offset=offset))
            return found
        units = []
        for index in range(4):
            offset = body.push_address(self.scratch, float32, begin + (unit + index) * 4)
            units.append(body.result_of("v128.load", offset=offset))
        for gate in gates:
            a, b, c, d = units
            half = _MIXED[gate // 2]
            mixed = self._shuffled(a, b, half), self._shuffled(c, d, half)
            found.append(self._shuffled(*mixed, _BESIDE[gate % 2]))
        return found

    def _shuffled(self, x: int, y: int, lanes: tuple[int, ...]) -> int:
        self.body.push_lanes(x, y, lanes)
        return self.body.keep("v128")


_OWN = ("h", "c", "update", "reset")
"""Of each element of a state: the states, and the gates of a GRU (of `reset`: times the state)."""


def is_zero(node: Node) -> bool:
    """Whether all elements are certainly 0."""
    while node.op in (movement.expand, movement.reshape):
        node = node.inputs[0]
    return node.is_scalar_constant and not node.attrs["data"].item()


_OfUnits = Callable[[Any, Coords, Coords, Coord, int], None]
"""function(steps, at, to, unit, lanes): a part of a step, for some elements of a state; at: time,
sequence and direction; to: row, direction and sequence."""
