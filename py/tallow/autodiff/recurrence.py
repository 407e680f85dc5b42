"""The derivative of recurrent layers: through the steps, one after the other.

The layer is composed again of elementary ops, step by step, and that is differentiated
(backpropagation through time, Werbos 1990). What does not depend on the step before stays one
product for all steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtype as dt
from .. import functions as f
from ..ops import recurrence
from ..tensor import Tensor
from .history import enable_grad
from .reverse import pullback
from .rules import Gradients, rule


def _activation(name: str, x: Tensor, a: float, b: float) -> Tensor:
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


@rule(recurrence.recurrence)
def _recurrence(gradient: Tensor, y: Tensor, *operands: Tensor, **attrs: Any) -> Gradients:
    with enable_grad():
        again = unrolled(*operands, **attrs)
    wanted = [x for x in operands if x.dtype.is_floating]
    found = iter(pullback([again.node], [gradient.node], [x.node for x in wanted]))
    result: list[Tensor | None] = []
    for x in operands:
        node = next(found) if x.dtype.is_floating else None
        result.append(None if node is None else Tensor(node))
    return result


def unrolled(*operands: Tensor, **attrs: Any) -> Tensor:
    """What the op `recurrence` gives, composed of other ops."""
    x, hidden, states, extra, lengths = recurrence.split(f, f.matmul, operands, attrs)
    lines = [
        _direction(number, back, x, hidden, states, extra, lengths, attrs)
        for number, back in enumerate(attrs["backward"])
    ]
    return f.stack(lines, axis=1)


def _direction(
    number: int,
    back: bool,
    x: Tensor,
    hidden: Tensor,
    states: Tensor,
    extra: Tensor,
    lengths: Tensor,
    attrs: Any,
) -> Tensor:
    """One direction: the hidden states, then the last states, (T + S, B, H)."""
    time = x.shape[0]
    weights = hidden[number].mT
    now = [states[n, number] for n in range(states.shape[0])]
    step = {"rnn": _rnn, "gru": _gru, "lstm": _lstm}[attrs["cell"]]
    whole = "lengths" not in attrs["given"]
    results: list[Tensor] = []
    for t in range(time)[:: -1 if back else 1]:
        new = step(x[t, :, number], weights, now, extra[number], attrs)
        if whole:
            results.append(new[0])
            now = new
            continue
        alive = f.expand_dims(f.less(t, lengths.astype(dt.int32)), 1)
        results.append(f.where(alive, new[0], 0.0))
        now = [f.where(alive, n, old) for n, old in zip(new, now, strict=True)]
    return f.stack([*results[:: -1 if back else 1], *now])


def _gate(number: int, x: Tensor, attrs: Any, clip: bool = True) -> Tensor:
    if attrs["clip"] and clip:
        x = f.clip(x, -attrs["clip"], attrs["clip"])
    name, alpha, beta = attrs["activations"][number]
    return _activation(name, x, alpha, beta)


def _rnn(
    x: Tensor, weights: Tensor, states: list[Tensor], extra: Tensor, attrs: Any
) -> list[Tensor]:
    return [_gate(0, states[0] @ weights + x, attrs)]


def _gru(
    x: Tensor, weights: Tensor, states: list[Tensor], extra: Tensor, attrs: Any
) -> list[Tensor]:
    (h,), n = states, weights.shape[0]
    if attrs["linear_before_reset"]:
        product = h @ weights + extra
        both, inner = product[:, : 2 * n], product[:, 2 * n :]
    else:
        both = h @ weights[:, : 2 * n]
    gates = _gate(0, both + x[:, : 2 * n], attrs)
    update, reset = gates[:, :n], gates[:, n:]
    reset_first = not attrs["linear_before_reset"]
    inner = (reset * h) @ weights[:, 2 * n :] if reset_first else inner * reset
    candidate = _gate(1, inner + x[:, 2 * n :], attrs)
    return [(1.0 - update) * candidate + update * h]


def _lstm(
    x: Tensor, weights: Tensor, states: list[Tensor], extra: Tensor, attrs: Any
) -> list[Tensor]:
    (h, c), n = states, weights.shape[0]
    gates = h @ weights + x
    enter, leave, forget, new = (gates[:, i * n : (i + 1) * n] for i in range(4))
    if "peepholes" in attrs["given"]:
        enter, forget = enter + extra[:n] * c, forget + extra[2 * n : 3 * n] * c
    enter = _gate(0, enter, attrs)
    kept = 1.0 - enter if attrs["input_forget"] else _gate(0, forget, attrs)
    cell = kept * c + enter * _gate(1, new, attrs)
    if "peepholes" in attrs["given"]:
        leave = leave + extra[n : 2 * n] * cell
    return [_gate(0, leave, attrs) * _gate(2, cell, attrs, clip=False), cell]
