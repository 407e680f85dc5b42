"""The gradient of recurrent layers, from the last step to the first (ops/recurrence_training.py).

Some sequences go back together: a weight that has been loaded is multiplied by the gradients of all
of them. What a step gives is computed for four elements of a state at once, the product with the
weights for as many columns as registers hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from .....codegen.index import Coord, Coords
from .....core.dtype import float32
from .....graph import Node
from .....ops.recurrence import GATES
from .....scalar import Scalar, number, select
from ..expression import Expression
from ..values import UnsupportedError
from . import tiles
from .recurrence import TILES, RecurrentSteps, for_groups, is_zero, together
from .unpacked import Store

_SLOPES: dict[str, Callable[[Scalar, float], Scalar]] = {
    "Affine": lambda y, a: number(a, float32),
    "HardSigmoid": lambda y, a: select(y > 0, select(y < 1, number(a, float32), 0), 0),
    "Relu": lambda y, a: select(y <= 0, 0, number(1, float32)),
    "Sigmoid": lambda y, a: y * (1 - y),
    "Tanh": lambda y, a: 1 - y * y,
}

_UNROLLED = 4


def steps_back(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes recurrence_back, and what is fused behind it, as `product` does (products.py)."""
    if node.dtype != float32 or node.inputs[2] not in body.addresses:
        raise UnsupportedError("steps of what is not float32, by weights that are not in memory")
    batch, directions = node.shape[1:3]
    rows = together(body, batch)
    steps = _StepsBack(body, node, store, width, scratch, rows)
    for_groups(body, directions, batch, rows, steps.group)
    return steps.bytes


@dataclass(frozen=True)
class _StepsBack(RecurrentSteps):
    """A layer. Memory of the kernel's own has, for each sequence of a group, the parts `_own`, in
    whole vectors.
    """

    @property
    def size(self) -> int:
        return self.node.inputs[3].shape[3]

    @property
    def extra(self) -> Node:
        return self.node.inputs[4]

    @property
    def lengths(self) -> Node:
        return self.node.inputs[5]

    @property
    def _gates(self) -> int:
        return GATES[self.node.attrs["cell"]]

    @property
    def _count(self) -> int:
        """States of a step."""
        return self.node.inputs[3].shape[0]

    @property
    def _parts(self) -> tuple[str, ...]:
        """The gradients of the states and of the gates; what is added to the product, and what
        comes behind a GRU's reset."""
        return "h", "c", "rest", "behind", *(f"gate{n}" for n in range(self._gates))

    @property
    def _apart(self) -> int:
        return len(self._parts) * self._wide

    def _address(self, name: str, unit: Coord) -> int:
        part = self._parts.index(name)
        return self.body.push_address(
            self.scratch, float32, self.row * self._apart + (part * self._wide + unit)
        )

    # ---- a group of sequences ------------------------------------------------------------------

    def _fetch(self, direction: int, unit: Coord, lanes: int) -> None:
        for n in range(self._count):
            at = (n, direction, self.batch, unit)
            value = self.body.value(self.node.inputs[3], at, lanes)
            self._set(self._parts[n], unit, lanes, value)

    def _hand_out(self, direction: int, unit: Coord, lanes: int) -> None:
        steps, size = self.node.attrs["steps"], self.size
        for n in range(self._gates):
            held = n < self._count
            value = self._get(self._parts[n], unit, lanes) if held else self._zero(lanes)
            self._put((steps, self.batch, direction, unit + n * size), value, lanes)

    def _turn(self, direction: int, first: Coord, turn: Coord) -> None:
        """The gradients before a step; the last one is the first turn."""
        attrs = self.node.attrs
        number = turn * -1 + (attrs["steps"] - 1)
        time, row = number + attrs["start"], number
        if attrs["backward"][direction]:
            length = self.node.inputs[0].shape[0] - self._count
            time, row = time * -1 + (length - 1), turn
        at, kind = (time, row, direction), type(self)
        step = {"rnn": kind._rnn_back, "gru": kind._gru_back, "lstm": kind._lstm_back}[
            attrs["cell"]
        ]

        def units(one: _StepsBack, function: Callable[..., None], otherwise: bool) -> None:
            nothing = partial(one._units, partial(one._nothing, at)) if otherwise else None
            one.if_alive(time, lambda: one._units(partial(function, one, at)), nothing)

        def products(gates: range, name: str) -> None:
            self.if_any(time, first, lambda: self._products_back(at, first, gates, name))

        self._each(first, partial(units, function=step, otherwise=True))
        if attrs["cell"] == "gru" and not attrs["linear_before_reset"]:
            products(range(2, 3), "behind")
            self._each(first, partial(units, function=kind._reset, otherwise=False))
            products(range(2), "h")
        else:
            products(range(self._gates), "h")

    # ---- cells ---------------------------------------------------------------------------------

    def _rnn_back(self, at: Coords, unit: Coord, lanes: int) -> None:
        (y,) = self._whole(at, [-1], unit, lanes)
        self._give(
            at, 0, unit, lanes, lambda h, y: h * self._slope(0, y), self._h(at, unit, lanes), y
        )

    def _gru_back(self, at: Coords, unit: Coord, lanes: int) -> None:
        linear = self.node.attrs["linear_before_reset"]
        old, update, reset, new = self._whole(at, range(4), unit, lanes)
        h, made, give = self._h(at, unit, lanes), partial(self._made, lanes), self._give
        give(
            at, 0, unit, lanes, lambda h, old, n, z: h * (old - n) * self._slope(0, z),
            *(h, old, new, update),
        )  # fmt: skip
        last = give(
            at, 2, unit, lanes, lambda h, z, n: h * (1 - z) * self._slope(1, n), h, update, new
        )
        self._set("rest", unit, lanes, made(lambda h, z: h * z, h, update))
        if linear:
            (behind,) = self._whole(at, [4], unit, lanes)
            give(at, 1, unit, lanes, lambda d, b, r: d * b * self._slope(0, r), last, behind, reset)
            self._set("gate2", unit, lanes, made(lambda d, r: d * r, last, reset))

    def _reset(self, at: Coords, unit: Coord, lanes: int) -> None:
        """The second half of a GRU's step."""
        old, reset = self._whole(at, (0, 2), unit, lanes)
        behind, rest = self._get("behind", unit, lanes), self._get("rest", unit, lanes)
        self._give(
            at, 1, unit, lanes, lambda b, old, r: b * old * self._slope(0, r), behind, old, reset
        )
        total = self._made(lanes, lambda b, r, rest: b * r + rest, behind, reset, rest)
        self._set("rest", unit, lanes, total)

    def _lstm_back(self, at: Coords, unit: Coord, lanes: int) -> None:
        coupled, made = self.node.attrs["input_forget"], partial(self._made, lanes)
        enter, leave, forget, new, old = self._whole(at, range(1, 6), unit, lanes)
        h, c = self._h(at, unit, lanes), self._get("c", unit, lanes)
        keep = made(lambda i: 1 - i, enter) if coupled else forget
        cell = made(lambda k, c, i, n: k * c + i * n, keep, old, enter, new)
        shown = made(lambda c: self._activation(2, c), cell)
        to_leave = self._give(
            at, 1, unit, lanes, lambda h, y, o: h * y * self._slope(0, o), h, shown, leave
        )
        c = made(lambda c, h, o, y: c + h * o * self._slope(2, y), c, h, leave, shown)
        if self._peeps:
            c = made(lambda c, s, p: c + s * p, c, to_leave, self._extra(at[2], 1, unit, lanes))
        change = made(lambda n, c: n - c, new, old) if coupled else new
        to_enter = self._give(
            at, 0, unit, lanes, lambda c, n, i: c * n * self._slope(0, i), c, change, enter
        )
        self._give(at, 3, unit, lanes, lambda c, i, n: c * i * self._slope(1, n), c, enter, new)
        before = made(lambda c, k: c * k, c, keep)
        if coupled:
            zero = self._zero(lanes)
            to_forget = self._give(at, 2, unit, lanes, lambda z: z, zero)
        else:
            to_forget = self._give(
                at, 2, unit, lanes, lambda c, o, f: c * o * self._slope(0, f), c, old, forget
            )
        if self._peeps:
            for gate, given in ((0, to_enter), (2, to_forget)):
                peephole = self._extra(at[2], gate, unit, lanes)
                before = made(lambda c, s, p: c + s * p, before, given, peephole)
        self._set("c", unit, lanes, before)

    def _nothing(self, at: Coords, unit: Coord, lanes: int) -> None:
        """Of a sequence that is over."""
        zero = self._zero(lanes)
        for gate in range(self._gates):
            self._put_gate(at, gate, unit, lanes, zero)
            self._set(f"gate{gate}", unit, lanes, zero)

    # ---- values --------------------------------------------------------------------------------

    def _slope(self, number: int, y: Scalar) -> Scalar:
        name, alpha, _ = self.node.attrs["activations"][number]
        return _SLOPES[name](y, alpha)

    def _h(self, at: Coords, unit: Coord, lanes: int) -> int:
        """The gradient of the hidden state behind a step."""
        time, _, direction = at
        found = self.body.value(self.node.inputs[0], (time, direction, self.batch, unit), lanes)
        return self._made(lanes, lambda h, g: h + g, self._get("h", unit, lanes), found)

    def _whole(self, at: Coords, blocks: Sequence[int], unit: Coord, lanes: int) -> list[int]:
        """What the forward kernel stored; -1: the hidden state behind the step."""
        steps = self.node.attrs["steps"]
        begins = [steps * (1 + block) + self._count if block >= 0 else 0 for block in blocks]
        _, row, direction = at
        return [
            self.body.value(self.node.inputs[1], (row + begin, direction, self.batch, unit), lanes)
            for begin in begins
        ]

    @property
    def _peeps(self) -> bool:
        return not is_zero(self.extra)

    def _give(
        self,
        at: Coords,
        gate: int,
        unit: Coord,
        lanes: int,
        function: Callable[..., Scalar],
        *operands: int,
    ) -> int:
        """The gradient of what goes into a gate: a part of the result, and of the product."""
        value = self._made(lanes, function, *operands)
        self._put_gate(at, gate, unit, lanes, value)
        self._set(f"gate{gate}", unit, lanes, value)
        return value

    def _put_gate(self, at: Coords, gate: int, unit: Coord, lanes: int, value: int) -> None:
        _, row, direction = at
        self._put((row, self.batch, direction, unit + gate * self.size), value, lanes)

    # ---- products ------------------------------------------------------------------------------

    def _products_back(self, at: Coords, first: Coord, gates: range, name: str) -> None:
        """The gradients of some gates times their weights: a part of the kernel's own memory."""
        size, body = self.size, self.body
        write = partial(self._columns, at, first, gates, name)
        if size < 4:
            for column in range(size):
                body.scope(partial(write, column, [0], 1))
            return
        across = 4 * TILES[self.rows]
        whole = size - size % across
        body.loop(whole, lambda column: write(column, list(range(0, across, 4)), 4), across)
        if whole < size:
            # The last vector may begin within the one before it.
            starts = [min(start, size - 4) for start in range(whole, size, 4)]
            body.scope(lambda: write(0, starts, 4))

    def _columns(
        self,
        at: Coords,
        first: Coord,
        gates: range,
        name: str,
        column: Coord,
        starts: Sequence[int],
        lanes: int,
    ) -> None:
        """Some columns of the product: vectors from `starts` on, behind `column`."""
        body, emit, size = self.body, self.body.emit, self.size
        kind = "v128" if lanes == 4 else "f32"
        sums = [[self._zero(lanes) for _ in starts] for _ in range(self.rows)]
        body.push_sum(
            body.addresses[self.node.inputs[2]],
            ((at[2] * self._gates + gates.start) * size * size + column) * 4,
        )
        weights, left = body.keep("i32"), body.function.local("i32")
        loaded = [body.function.local(kind) for _ in starts]
        value = body.function.local(kind)

        def products(count: int) -> None:
            for k in range(count):
                for local, start in zip(loaded, starts, strict=True):
                    body.apply(f"{kind}.load", weights, offset=4 * (size * k + start), into=local)
                for row, into in enumerate(sums):
                    emit("local.get", left)
                    load = "v128.load32_splat" if lanes == 4 else "f32.load"
                    emit(load, 4 * (self._apart * row + k))
                    emit("local.set", value)
                    for total, local in zip(into, loaded, strict=True):
                        self._multiply_add(total, value, local, lanes)
            tiles.advance(body, left, 4 * count)
            tiles.advance(body, weights, 4 * size * count)

        for gate in gates:
            offset = self._address(f"gate{gate}", 0)
            body.apply("i32.add", number=offset, into=left)
            body.loop(size // _UNROLLED, lambda _: products(_UNROLLED))
            if size % _UNROLLED:
                products(size % _UNROLLED)
        for row, into in enumerate(sums):
            one = replace(self, row=row, batch=first + row)
            one.if_alive(at[0], partial(one._keep_columns, name, column, starts, into, lanes))

    def _multiply_add(self, total: int, a: int, b: int, lanes: int) -> None:
        if lanes == 4:
            tiles.multiply_add(self.body, total, a, b)
            return
        self.body.apply("f32.mul", a, b)
        self.body.apply("f32.add", total, into=total)

    def _keep_columns(
        self, name: str, column: Coord, starts: Sequence[int], sums: Sequence[int], lanes: int
    ) -> None:
        rests = name == "h" and self.node.attrs["cell"] == "gru"
        for start, total in zip(starts, sums, strict=True):
            unit = column + start
            if rests:
                rest = self._get("rest", unit, lanes)
                self._set(name, unit, lanes, self._made(lanes, lambda a, b: a + b, total, rest))
            else:
                self._set(name, unit, lanes, total)
