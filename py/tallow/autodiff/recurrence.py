"""The derivative of recurrent layers: one op each way (ops/recurrence_gradient.py), and the same
made of ops.

Devices without a kernel for the gradient compute the composition (compile/passes/compose.py), and
derivatives of derivatives go through it. The gradients of the states go from step to step. All
others follow from these, for all steps at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import functions as f
from ..core import dtype as dt
from ..functions.linear_algebra import projected
from ..grad_mode import enable_grad
from ..graph import make
from ..ops import recurrence, recurrence_gradient
from ..ops.kinds import Attrs
from ..ops.recurrence_gradient import SLOPES
from ..tensor import Tensor
from .past import argument
from .reverse import pullback
from .rules import Gradients, rule

States = list[Tensor]
"""Of a direction, or their gradients: the hidden state, and an LSTM's cell."""


class _Ends(NamedTuple):
    """What follows from the gradients of all states: those of x (T, B, G * H), of weights
    (H, G * H) and of extra (G * H)."""

    x: Tensor
    weights: Tensor
    extra: Tensor | None = None


class _Way(NamedTuple):
    """How gradients go back through a cell.

    step(t, after): of gradients of the states after step t, (B, H), where the hidden state's is all
    of it and the cell's is what later steps give, the whole ones, and those before the step. ends:
    what follows from the whole ones of all steps, (T, B, H).
    """

    step: Callable[[int, States], tuple[States, States]]
    ends: Callable[[States], _Ends]


class _Line(NamedTuple):
    """A direction of a layer, its steps in the order in which they are taken.

    x (T, B, G * H): the inputs' products. before (T, B, H): the hidden state before each step.
    weights (H, G * H), extra (G * H): as in ops/recurrence.py. first: the states before all, each
    (B, H). alive (T, B, 1): whether a step is within its sequence; None if all are.
    """

    x: Tensor
    before: Tensor
    weights: Tensor
    extra: Tensor
    first: States
    alive: Tensor | None
    attrs: Attrs

    def gates(self, x: Tensor) -> tuple[Tensor, ...]:
        """The parts of an array (..., G * H)."""
        size = self.weights.shape[0]
        return f.split(x, [size] * (x.shape[-1] // size), -1)

    def gate(self, number: int, x: Tensor, clip: bool = True) -> Tensor:
        name, alpha, beta = self.attrs["activations"][number]
        bound = self.attrs["clip"] if clip else 0.0
        return activation(name, f.clip(x, -bound, bound) if bound else x, alpha, beta)

    def slope(self, number: int, y: Tensor, x: Tensor, clip: bool = True) -> Tensor:
        """The derivative of y, the gate of x, which is 0 where a sequence is over."""
        name, alpha, beta = self.attrs["activations"][number]
        bound = self.attrs["clip"] if clip else 0.0
        inner = f.clip(x, -bound, bound) if bound else x
        slope = SLOPES[name](f, inner, y, alpha, beta)
        if bound:
            slope = f.where(f.abs(x) <= bound, slope, 0.0)
        return slope if self.alive is None else f.where(self.alive, slope, 0.0)

    def way(self) -> _Way:
        return {"rnn": _rnn, "gru": _gru, "lstm": _lstm}[self.attrs["cell"]](self)


@rule(recurrence.recurrence)
def _recurrence(gradient: Tensor, y: Tensor, *operands: Tensor, **attrs: Any) -> Gradients:
    nodes = (each.node for each in (gradient, y, *operands))
    whole = Tensor(make(recurrence_gradient.recurrence_gradient, *nodes, **attrs))
    where = recurrence_gradient.slices([(each.shape, each.dtype) for each in operands])
    return [
        None if part is None else f.reshape(whole[part], each.shape)
        for part, each in zip(where, operands, strict=True)
    ]


@rule(recurrence_gradient.recurrence_gradient)
def _recurrence_gradient(
    gradient: Tensor, result: Tensor, *operands: Tensor, **attrs: Any
) -> Gradients:
    """By the composition, of nodes of its own, since those of the operands may have hooks."""
    with enable_grad():
        own = [Tensor(argument(each.node)) for each in operands]
        whole = composed(*own, **attrs)
    wanted = [each.node for each in own]
    found = pullback([whole.node], [gradient.node], wanted)
    return [None if node is None else Tensor(node) for node in found]


def composed(gradient: Tensor, y: Tensor, *operands: Tensor, **attrs: Any) -> Tensor:
    """`recurrence_gradient` made of other ops."""
    x, hidden, states, extra, lengths = recurrence.split(f, projected, operands, attrs)
    given = lengths if "lengths" in attrs["given"] else None
    lines = [
        _back(number, y, gradient, x, hidden, states, extra, given, attrs)
        for number in range(len(attrs["backward"]))
    ]
    ends = [
        f.stack([ends.x for ends, _ in lines], axis=2),
        f.stack([ends.weights.mT for ends, _ in lines]),
        f.stack([f.stack(first) for _, first in lines], axis=1),
        extra
        if any(ends.extra is None for ends, _ in lines)
        else f.stack([ends.extra for ends, _ in lines if ends.extra is not None]),
    ]
    joined = recurrence.join(f, projected, ends, operands, attrs)
    return f.concat([f.reshape(each, (-1,)) for each in joined])


def _back(
    number: int,
    y: Tensor,
    gradient: Tensor,
    x: Tensor,
    hidden: Tensor,
    states: Tensor,
    extra: Tensor,
    lengths: Tensor | None,
    attrs: Attrs,
) -> tuple[_Ends, States]:
    """The gradients of a direction's operands, and of the states before its first step."""
    back = attrs["backward"][number]
    time, count = x.shape[0], states.shape[0]

    def turned(x: Tensor) -> Tensor:
        """In the order of the steps, or of time again."""
        return f.flip(x, axis=0) if back else x

    first = [states[n, number] for n in range(count)]
    found = turned(gradient[:time, number])
    before = f.concat([f.expand_dims(first[0], 0), turned(y[:time, number])[:-1]])
    alive = None
    if lengths is not None:
        at = f.reshape(f.arange(time), (time, 1, 1))
        alive = turned(f.less(at, f.reshape(lengths.astype(dt.int32), (1, -1, 1))))
        found = f.where(alive, found, 0.0)
        begun = f.concat([f.zeros_like(alive[:1]), alive[:-1]])
        before = f.where(begun, before, first[0])
    line = _Line(
        turned(x[:, :, number]), before, hidden[number].mT, extra[number], first, alive, attrs
    )
    step, ends = line.way()
    after = [gradient[time + n, number] for n in range(count)]
    every: list[States] = []
    for t in reversed(range(time)):
        after[0] = after[0] + found[t]
        whole, new = step(t, after)
        every.append(whole)
        after = new if alive is None else [
            f.where(alive[t], n, old) for n, old in zip(new, after, strict=True)
        ]  # fmt: skip
    all_steps = [f.stack(list(each)) for each in zip(*every[::-1], strict=True)]
    result = ends(all_steps)
    return result._replace(x=turned(result.x)), after


# ---- cells ------------------------------------------------------------------------------------


def _products(x: Tensor, gradient: Tensor) -> Tensor:
    """The gradient of weights by which x, (T, B, H), is multiplied: a sum over all steps."""
    flat = f.reshape(x, (-1, x.shape[-1])), f.reshape(gradient, (-1, gradient.shape[-1]))
    return flat[0].mT @ flat[1]


def _total(x: Tensor) -> Tensor:
    """The sum over steps and sequences."""
    return f.sum(x, axis=(0, 1))


def _rnn(line: _Line) -> _Way:
    inner = line.before @ line.weights + line.x
    slope = line.slope(0, line.gate(0, inner), inner)

    def step(t: int, after: States) -> tuple[States, States]:
        return after, [(after[0] * slope[t]) @ line.weights.mT]

    def ends(whole: States) -> _Ends:
        into = whole[0] * slope
        return _Ends(into, _products(line.before, into))

    return _Way(step, ends)


def _gru(line: _Line) -> _Way:
    return _gru_linear(line) if line.attrs["linear_before_reset"] else _gru_reset_first(line)


def _gru_linear(line: _Line) -> _Way:
    """Whose product with the hidden state is reset."""
    before, weights = line.before, line.weights
    size = weights.shape[0]
    product = before @ weights + line.extra
    both, last = product[..., : 2 * size] + line.x[..., : 2 * size], product[..., 2 * size :]
    update, reset, update_slope, reset_slope = _gru_gates(line, both)
    inner = last * reset + line.x[..., 2 * size :]
    candidate = line.gate(1, inner)
    new_slope = (1.0 - update) * line.slope(1, candidate, inner)
    slopes = f.concat(
        [(before - candidate) * update_slope, new_slope * last * reset_slope, new_slope * reset], -1
    )

    def step(t: int, after: States) -> tuple[States, States]:
        into = f.tile(after[0], (1, 3)) * slopes[t]
        return after, [after[0] * update[t] + into @ weights.mT]

    def ends(whole: States) -> _Ends:
        products = f.tile(whole[0], (1, 1, 3)) * slopes
        into = f.concat([products[..., : 2 * size], whole[0] * new_slope], -1)
        return _Ends(into, _products(before, products), _total(products))

    return _Way(step, ends)


def _gru_reset_first(line: _Line) -> _Way:
    """Whose hidden state is reset before the product."""
    before, size = line.before, line.weights.shape[0]
    to_gates, to_new = line.weights[:, : 2 * size], line.weights[:, 2 * size :]
    both = before @ to_gates + line.x[..., : 2 * size]
    update, reset, update_slope, reset_slope = _gru_gates(line, both)
    inner = (reset * before) @ to_new + line.x[..., 2 * size :]
    candidate = line.gate(1, inner)
    new_slope = (1.0 - update) * line.slope(1, candidate, inner)
    update_slope = (before - candidate) * update_slope
    reset_slope = before * reset_slope

    def step(t: int, after: States) -> tuple[States, States]:
        (whole,) = after
        behind = (whole * new_slope[t]) @ to_new.mT
        both = f.concat([whole * update_slope[t], behind * reset_slope[t]], -1)
        return after, [whole * update[t] + behind * reset[t] + both @ to_gates.mT]

    def ends(whole: States) -> _Ends:
        new = whole[0] * new_slope
        both = f.concat([whole[0] * update_slope, (new @ to_new.mT) * reset_slope], -1)
        products = [_products(before, both), _products(reset * before, new)]
        return _Ends(f.concat([both, new], -1), f.concat(products, -1))

    return _Way(step, ends)


def _gru_gates(line: _Line, inner: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The update and the reset gate, and their slopes."""
    gates = line.gate(0, inner)
    update, reset = line.gates(gates)
    update_slope, reset_slope = line.gates(line.slope(0, gates, inner))
    return update, reset, update_slope, reset_slope


def _lstm(line: _Line) -> _Way:
    """With the names of ONNX's equations; peepholes are weights of the cell in its gates."""
    before, weights, time = line.before, line.weights, line.x.shape[0]
    i, o, forget, new = line.gates(before @ weights + line.x)
    peeps = "peepholes" in line.attrs["given"]
    to_i, to_o, to_f = line.gates(line.extra)[:3]
    coupled = line.attrs["input_forget"]
    entering = line.gate(1, new)

    def kept(i: Tensor, forget: Tensor) -> Tensor:
        return 1.0 - i if coupled else line.gate(0, forget)

    cells = [line.first[1]]
    for t in range(time):
        old = cells[-1]
        inner = (i[t] + to_i * old, forget[t] + to_f * old) if peeps else (i[t], forget[t])
        enter = line.gate(0, inner[0])
        cell = kept(enter, inner[1]) * old + enter * entering[t]
        cells.append(cell if line.alive is None else f.where(line.alive[t], cell, old))
    old, cell = f.stack(cells[:-1]), f.stack(cells[1:])
    if peeps:
        i, o, forget = i + to_i * old, o + to_o * cell, forget + to_f * old
    enter, leave, shown = line.gate(0, i), line.gate(0, o), line.gate(2, cell, clip=False)
    keep = kept(enter, forget)
    change = entering - old if coupled else entering
    i_slope = change * line.slope(0, enter, i)
    o_slope = shown * line.slope(0, leave, o)
    f_slope = f.zeros_like(old) if coupled else old * line.slope(0, keep, forget)
    new_slope = enter * line.slope(1, entering, new)
    down = leave * line.slope(2, shown, cell, clip=False)  # from the hidden state to the cell
    if peeps:
        down = down + o_slope * to_o
        keep = keep + i_slope * to_i + f_slope * to_f
    slopes = f.concat([i_slope, o_slope, f_slope, new_slope], -1)

    def into(h: Tensor, c: Tensor) -> Tensor:
        """The gradients by which the gates' slopes are multiplied."""
        return f.concat([c, h, c, c], -1)

    def step(t: int, after: States) -> tuple[States, States]:
        h, c = after[0], after[1] + after[0] * down[t]
        return [h, c], [(into(h, c) * slopes[t]) @ weights.mT, c * keep[t]]

    def ends(whole: States) -> _Ends:
        x = into(*whole) * slopes
        extra = None
        if peeps:
            parts = line.gates(x)
            sums = [_total(part * c) for part, c in zip(parts, (old, cell, old), strict=False)]
            extra = f.concat([*sums, f.zeros_like(sums[0])])
        return _Ends(x, _products(before, x), extra)

    return _Way(step, ends)


# ---- activations ------------------------------------------------------------------------------


def activation(name: str, x: Tensor, a: float, b: float) -> Tensor:
    """Those of ops/recurrence.py, made of ops."""
    table: dict[str, Callable[[], Tensor]] = {
        "Affine": lambda: x * a + b,
        "Elu": lambda: f.where(x >= 0, x, f.expm1(f.minimum(x, 0.0)) * a),
        "HardSigmoid": lambda: f.clip(x * a + b, 0.0, 1.0),
        "LeakyRelu": lambda: f.where(x >= 0, x, x * a),
        "Relu": lambda: f.where(x <= 0, 0.0, x),
        "ScaledTanh": lambda: f.tanh(x * b) * a,
        "Sigmoid": lambda: f.reciprocal(f.exp(-x) + 1.0),
        "Softplus": lambda: f.where(x == 0, x * 0.5, f.maximum(x, 0.0)) + f.log1p(f.exp(-f.abs(x))),
        "Softsign": lambda: x / (f.abs(x) + 1.0),
        "Tanh": lambda: f.tanh(x),
        "ThresholdedRelu": lambda: f.where(x >= a, x, 0.0),
    }
    return table[name]()
