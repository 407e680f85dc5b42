"""Recurrent layers: the steps of a sequence one after the other (ops/recurrence.py).

The state times the weights of all gates is a product with one row, for eight elements of a state at
a time; the gates of an element stand side by side in the weights and in the sums. What follows is
computed for four elements at once, whose gates are sorted by shuffles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ....dtype import float32
from ....graph import Node
from ....ops import movement
from ....ops.formulas import expm1, log1p
from ....ops.recurrence_training import kept_blocks, recurrence_kept
from ....scalar import Scalar, absolute, clamp, exp, maximum, minimum, operand, select, tanh
from ...index import Coord, Coords
from ..arithmetic import Arithmetic
from ..expression import Expression
from ..values import UnsupportedError, constant
from . import tiles
from .unpacked import Store

_TILE = 8  # elements of a state whose sums stay in registers
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


def recurrent_steps(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes recurrence_steps or recurrence_kept, and what is fused behind it, as `product` does (products.py)."""
    if node.dtype != float32 or node.inputs[1] not in body.addresses:
        raise UnsupportedError("steps of what is not float32, by weights that are not in memory")
    steps = RecurrentSteps(body, node, store, width, scratch)
    directions = len(node.attrs["backward"])
    for direction in range(directions):
        if directions == 1:
            body.parallel((node.shape[2],), lambda at: steps.sequence(0, *at))
        else:
            body.loop(node.shape[2], partial(steps.sequence, direction))
    return steps.bytes


@dataclass(frozen=True)
class RecurrentSteps:
    """A layer. Memory of the kernel's own has, for each element of a state, four sums and each of
    `_OWN`."""

    body: Expression
    node: Node
    store: Store
    width: int
    scratch: int

    @property
    def size(self) -> int:
        """Elements of a state."""
        return self.node.shape[3]

    @property
    def extra(self) -> Node:
        """The operand with peepholes, or a bias behind the product."""
        return self.node.inputs[3]

    @property
    def bytes(self) -> int:
        return self._own(len(_OWN))

    def _own(self, number: int) -> int:
        """Where a part of the kernel's own memory begins, behind the sums."""
        return (4 + number) * 4 * (-(-self.size // 4) * 4)

    # ---- a sequence ----------------------------------------------------------------------------

    def sequence(self, direction: int, batch: Coord) -> None:
        """All steps of a sequence in a direction."""
        body, attrs = self.body, self.node.attrs
        states = self.node.inputs[2]
        kept = states.shape[0]

        def fetch(unit: Coord, lanes: int) -> None:
            for number in range(kept):
                at = (number, direction, batch, unit)
                self._set(_OWN[number], unit, lanes, body.value(states, at, lanes))

        def hand_out(unit: Coord, lanes: int) -> None:
            for number in range(kept):
                value = self._get(_OWN[number], unit, lanes)
                self._put((attrs["steps"] + number, direction, batch, unit), value, lanes)

        self._units(fetch)
        body.loop(attrs["steps"], lambda turn: self._turn(direction, batch, turn))
        self._units(hand_out)

    def _turn(self, direction: int, batch: Coord, turn: Coord) -> None:
        body, attrs = self.body, self.node.attrs
        x, *_, lengths = self.node.inputs
        time = turn + attrs["start"]
        row = turn
        if attrs["backward"][direction]:
            time = time * -1 + (x.shape[0] - 1)
            row = turn * -1 + (attrs["steps"] - 1)
        body.push_index(time)
        body.emit("local.get", body.value(lengths, (batch,)))
        body.emit("i32.lt_s")
        body.emit("if")
        step = {"rnn": self._rnn, "gru": self._gru, "lstm": self._lstm}[attrs["cell"]]
        at = (time, batch, direction), (row, direction, batch)
        body.scope(partial(step, *at))
        body.emit("else")

        def nothing(unit: Coord, lanes: int) -> None:
            constant(body.function, 0, float32, lanes)
            zero = body.keep("v128" if lanes == 4 else "f32")
            self._put((*at[1], unit), zero, lanes)
            for number in range(kept_blocks(attrs)):
                self._keep(number, at[1], unit, lanes, zero)

        body.scope(partial(self._units, nothing))
        body.emit("end")

    # ---- cells ---------------------------------------------------------------------------------

    def _rnn(self, at: Coords, to: Coords) -> None:
        self._products(at[2], "h")

        def unit(unit: Coord, lanes: int) -> None:
            (total,) = self._sums(unit, lanes, [0])
            self._keep(0, to, unit, lanes, self._get("h", unit, lanes))
            new = self._plain(0, total, self._x(at, 0, unit, lanes), lanes)
            self._set("h", unit, lanes, new)
            self._put((*to, unit), new, lanes)

        self._units(unit)

    def _gru(self, at: Coords, to: Coords) -> None:
        linear = self.node.attrs["linear_before_reset"]
        self._products(at[2], "h")

        def gates(unit: Coord, lanes: int) -> None:
            sums = self._sums(unit, lanes, [0, 1])
            update, reset = (
                self._plain(0, total, self._x(at, gate, unit, lanes), lanes)
                for gate, total in enumerate(sums)
            )
            self._set("update", unit, lanes, update)
            h = self._get("h", unit, lanes)
            for number, value in enumerate((h, update, reset)):
                self._keep(number, to, unit, lanes, value)
            product = self._made(lanes, lambda r, h: r * h, reset, h)
            self._set("reset", unit, lanes, reset if linear else product)

        def rest(unit: Coord, lanes: int) -> None:
            (total,) = self._sums(unit, lanes, [2])
            update, h = self._get("update", unit, lanes), self._get("h", unit, lanes)
            x = self._x(at, 2, unit, lanes)
            if linear:
                extra, reset = self._extra(at[2], 2, unit, lanes), self._get("reset", unit, lanes)
                total = self._made(lanes, lambda s, e: s + e, total, extra)
                self._keep(4, to, unit, lanes, total)
                total = self._made(lanes, lambda s, r: s * r, total, reset)
            candidate = self._plain(1, total, x, lanes)
            self._keep(3, to, unit, lanes, candidate)
            new = self._made(lanes, lambda n, z, h: (1 - z) * n + z * h, candidate, update, h)
            self._set("h", unit, lanes, new)
            self._put((*to, unit), new, lanes)

        self._units(gates)
        if not linear:
            self._products(at[2], "reset")
        self._units(rest)

    def _lstm(self, at: Coords, to: Coords) -> None:
        """The cell itself is not clipped, as in onnxruntime."""
        self._products(at[2], "h")
        forgets = self.node.attrs["input_forget"]
        peeps = not is_zero(self.extra)

        def gate(number: int, gate: int, total: int, c: int, at_: tuple[Coord, int]) -> int:
            unit, lanes = at_
            x = self._x(at, gate, unit, lanes)
            if not peeps or gate == 3:
                return self._plain(number, total, x, lanes)
            peephole = self._extra(at[2], gate, unit, lanes)
            operands = total, x, peephole, c
            return self._made(
                lanes, lambda s, x, p, c: self._gate(number, s + x + p * c), *operands
            )

        def unit(unit: Coord, lanes: int) -> None:
            enter_sum, leave_sum, forget_sum, new_sum = self._sums(unit, lanes, [0, 1, 2, 3])
            c, here = self._get("c", unit, lanes), (unit, lanes)
            enter, forget = gate(0, 0, enter_sum, c, here), gate(0, 2, forget_sum, c, here)
            new = gate(1, 3, new_sum, c, here)
            self._keep(5, to, unit, lanes, c)
            c = self._made(
                lanes,
                lambda i, f, n, c: (1 - i if forgets else f) * c + i * n,
                *(enter, forget, new, c),
            )
            leave = gate(0, 1, leave_sum, c, here)
            old = self._get("h", unit, lanes) if self._keeps else c
            for number, value in enumerate((old, enter, leave, forget, new)):
                self._keep(number, to, unit, lanes, value)
            h = self._made(lanes, lambda c, o: self._activation(2, c) * o, c, leave)
            self._set("c", unit, lanes, c)
            self._set("h", unit, lanes, h)
            self._put((*to, unit), h, lanes)

        self._units(unit)

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
        return self.body.push_address(
            self.scratch, float32, unit + self._own(_OWN.index(name)) // 4
        )

    def _set(self, name: str, unit: Coord, lanes: int, value: int) -> None:
        offset = self._address(name, unit)
        self.body.emit("local.get", value)
        self.body.emit("v128.store" if lanes == 4 else "f32.store", offset)

    def _get(self, name: str, unit: Coord, lanes: int) -> int:
        offset = self._address(name, unit)
        self.body.emit("v128.load" if lanes == 4 else "f32.load", offset)
        return self.body.keep("v128" if lanes == 4 else "f32")

    # ---- products ------------------------------------------------------------------------------

    def _products(self, direction: Coord, name: str) -> None:
        """The sums of all gates of all elements, for a state in the kernel's own memory."""
        body = self.body
        whole = self.size - self.size % _TILE
        body.loop(whole, lambda unit: self._tile(direction, name, unit, _TILE), _TILE)
        if whole < self.size:
            body.scope(partial(self._tile, direction, name, whole, self.size - whole))

    def _tile(self, direction: Coord, name: str, unit: Coord, count: int) -> None:
        body, emit = self.body, self.body.emit
        sums = tiles.zeros(body, count)
        offset = self._address(name, 0)
        emit("i32.const", offset)
        emit("i32.add")
        state = body.keep("i32")
        emit("local.get", body.addresses[self.node.inputs[1]])
        body.push_index((direction * self.size * self.size + unit) * 16)
        emit("i32.add")
        weights = body.keep("i32")
        value, weight = (body.function.local("v128") for _ in range(2))

        def products(number: int) -> None:
            for k in range(number):
                emit("local.get", state)
                emit("v128.load32_splat", 4 * k)
                emit("local.set", value)
                for index, total in enumerate(sums):
                    emit("local.get", weights)
                    emit("v128.load", 16 * (self.size * k + index))
                    emit("local.set", weight)
                    tiles.multiply_add(body, total, value, weight)
            tiles.advance(body, state, 4 * number)
            tiles.advance(body, weights, 16 * self.size * number)

        body.loop(self.size // _UNROLLED, lambda _: products(_UNROLLED))
        if self.size % _UNROLLED:
            products(self.size % _UNROLLED)
        for index, total in enumerate(sums):
            offset = body.push_address(self.scratch, float32, (unit + index) * 4)
            emit("local.get", total)
            emit("v128.store", offset)

    def _sums(self, unit: Coord, lanes: int, gates: list[int]) -> list[int]:
        """The locals with the sums of some gates."""
        body, emit = self.body, self.body.emit
        found = []
        if lanes == 1:
            for gate in gates:
                offset = body.push_address(self.scratch, float32, unit * 4 + gate)
                emit("f32.load", offset)
                found.append(body.keep("f32"))
            return found
        units = []
        for index in range(4):
            offset = body.push_address(self.scratch, float32, (unit + index) * 4)
            emit("v128.load", offset)
            units.append(body.keep("v128"))
        for gate in gates:
            a, b, c, d = units
            half = _MIXED[gate // 2]
            mixed = self._shuffled(a, b, half), self._shuffled(c, d, half)
            found.append(self._shuffled(*mixed, _BESIDE[gate % 2]))
        return found

    def _shuffled(self, x: int, y: int, lanes: tuple[int, ...]) -> int:
        emit = self.body.emit
        emit("local.get", x)
        emit("local.get", y)
        emit("i8x16.shuffle", *(4 * lane + byte for lane in lanes for byte in range(4)))
        return self.body.keep("v128")


_OWN = ("h", "c", "update", "reset")
"""Of each element of a state: the states, and the gates of a GRU (of `reset`: times the state)."""


def is_zero(node: Node) -> bool:
    """Whether all elements are certainly 0."""
    while node.op in (movement.expand, movement.reshape):
        node = node.inputs[0]
    return node.is_scalar_constant and not node.attrs["data"].item()
