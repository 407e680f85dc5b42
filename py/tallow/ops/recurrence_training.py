"""A recurrent layer in training: the steps with what their gradient needs, and the way back.

Forward, the kernel stores the gates of each step beside its result, so that nothing is computed
twice. Backward, it goes from the last step to the first, and gives the gradients of what went into
the gates; those of all weights are products over all steps (compile/passes/recurrences.py).

Letters, attributes and the order of gates are those of ops/recurrence.py. A layer has these kernels
if the slopes of its activations follow from the gates themselves: see `has_kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .kinds import Attrs, Contraction, Spec
from .recurrence import ACTIVATIONS, GATES, STATES, check_shape, recurrence_steps

if TYPE_CHECKING:
    from ..arrays import Array, NumPy

SLOPES: dict[str, Callable[[NumPy, Array, float], Array]] = {
    "Affine": lambda np, y, a: np.full_like(y, a),
    "HardSigmoid": lambda np, y, a: np.where((y > 0) & (y < 1), np.full_like(y, a), 0),
    "Relu": lambda np, y, a: np.where(y <= 0, 0, np.ones_like(y)),
    "Sigmoid": lambda np, y, a: y * (1 - y),
    "Tanh": lambda np, y, a: 1 - y * y,
}
"""The derivatives of activations, from the activation y and their alpha."""


def has_kernels(attrs: Attrs) -> bool:
    """Whether the gradient of a layer is a kernel."""
    return not attrs["clip"] and all(name in SLOPES for name, _, _ in attrs["activations"])


def kept_blocks(attrs: Attrs) -> int:
    """How many states of a step are stored: the hidden one before it; of a GRU its gates and, if it
    is linear before the reset, the product behind its last; of an LSTM its gates and the cell
    before it."""
    linear = bool(attrs["linear_before_reset"])
    return {"rnn": 1, "gru": 4 + linear, "lstm": 6}[attrs["cell"]]


def _sequences(attrs: Attrs, time: int, lengths: Array) -> list[list[tuple[int, int, Array]]]:
    """For each direction the steps in the order in which they are taken: time, row of a result,
    which sequences are not over."""
    start, steps = attrs["start"], attrs["steps"]
    found = []
    for back in attrs["backward"]:
        times = [time - 1 - start - n if back else start + n for n in range(steps)]
        rows = [steps - 1 - n if back else n for n in range(steps)]
        found.append([(t, row, lengths > t) for t, row in zip(times, rows, strict=True)])
    return found


def _kept(
    np: NumPy, x: Array, hidden: Array, states: Array, extra: Array, lengths: Array, **attrs: Any
) -> Array:
    time, batch, directions, _ = x.shape
    cell, steps, size = attrs["cell"], attrs["steps"], states.shape[-1]
    gates, count = GATES[cell], STATES[cell]
    result = np.zeros((steps * (1 + kept_blocks(attrs)) + count, directions, batch, size), x.dtype)
    kept = result[steps + count :].reshape(kept_blocks(attrs), steps, directions, batch, size)
    weights = hidden.reshape(directions, size, size, 4)
    functions = attrs["activations"]

    def activate(number: int, value: Array) -> Array:
        name, alpha, beta = functions[number]
        value = np.array(value)
        ACTIVATIONS[name](np, value, alpha, beta)
        return value

    with np.errstate(all="ignore"):
        for d, line in enumerate(_sequences(attrs, time, lengths)):
            now = [state[d].copy() for state in states]
            w = [weights[d, :, :, gate] for gate in range(gates)]
            e = extra[d].reshape(gates, size)
            for t, row, alive in line:
                h = now[0]
                given = x[t, :, d].reshape(batch, gates, size).swapaxes(0, 1)
                if cell == "rnn":
                    new = [activate(0, given[0] + h @ w[0])]
                    found = [h]
                elif cell == "gru":
                    update, reset = (activate(0, given[gate] + h @ w[gate]) for gate in range(2))
                    if attrs["linear_before_reset"]:
                        behind = h @ w[2] + e[2]
                        candidate = activate(1, given[2] + reset * behind)
                        found = [h, update, reset, candidate, behind]
                    else:
                        candidate = activate(1, given[2] + (reset * h) @ w[2])
                        found = [h, update, reset, candidate]
                    new = [(1 - update) * candidate + update * h]
                else:
                    c = now[1]
                    parts = [given[gate] + h @ w[gate] for gate in range(gates)]
                    enter, forget = (
                        activate(0, parts[0] + e[0] * c),
                        activate(0, parts[2] + e[2] * c),
                    )
                    entering = activate(1, parts[3])
                    cell_now = (
                        1 - enter if attrs["input_forget"] else forget
                    ) * c + enter * entering
                    leave = activate(0, parts[1] + e[1] * cell_now)
                    new = [activate(2, cell_now) * leave, cell_now]
                    found = [h, enter, leave, forget, entering, c]
                result[row, d, alive] = new[0][alive]
                for number, value in enumerate(found):
                    kept[number, row, d, alive] = value[alive]
                now = [np.where(alive[:, None], n, o) for n, o in zip(new, now, strict=True)]
            for number, state in enumerate(now):
                result[steps + number, d] = state
    return result


def _kept_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (rows, *rest), dtype = recurrence_steps.infer(operands, attrs)
    return (rows + attrs["steps"] * kept_blocks(attrs), *rest), dtype


recurrence_kept = Contraction("recurrence_kept", _kept, _kept_rule)
"""As `recurrence_steps`, of layers that have kernels; behind its result, a block of rows for each
of the `kept_blocks`, in their order, a row for each step. Rows of a sequence that is over are 0."""


def _back(
    np: NumPy,
    gradient: Array,
    whole: Array,
    hidden: Array,
    after: Array,
    extra: Array,
    lengths: Array,
    **attrs: Any,
) -> Array:
    cell, steps, (count, directions, batch, size) = attrs["cell"], attrs["steps"], after.shape
    gates, linear = GATES[cell], attrs["linear_before_reset"]
    coupled, names = attrs["input_forget"], attrs["activations"]
    result = np.zeros((steps + 1, batch, directions, gates * size), whole.dtype)
    kept = whole[steps + count :].reshape(kept_blocks(attrs), steps, directions, batch, size)

    def slope(number: int, y: Array) -> Array:
        return SLOPES[names[number][0]](np, y, names[number][1])

    with np.errstate(all="ignore"):
        for d, line in enumerate(_sequences(attrs, len(gradient) - count, lengths)):
            w, e = hidden[d].reshape(gates, size, size), extra[d].reshape(gates, size)
            states = [state[d].copy() for state in after]
            for t, row, alive in reversed(line):
                old, *parts = (block[row, d] for block in kept)
                h = states[0] + gradient[t, d]
                if cell == "rnn":
                    found = [h * slope(0, whole[row, d])]
                    before = [found[0] @ w[0]]
                elif cell == "gru":
                    update, reset, candidate = parts[:3]
                    new = h * (1 - update) * slope(1, candidate)
                    first = h * (old - candidate) * slope(0, update)
                    behind = (new * reset if linear else new) @ w[2]
                    met = new * parts[3] if linear else behind * old
                    second = met * slope(0, reset)
                    found = [first, second, new]
                    rest = h * update + (behind if linear else behind * reset)
                    before = [first @ w[0] + second @ w[1] + rest]
                else:
                    enter, leave, forget, new, c_old = parts
                    keep = 1 - enter if coupled else forget
                    cell_now = keep * c_old + enter * new
                    shown = np.array(cell_now)
                    name, alpha, beta = names[2]
                    ACTIVATIONS[name](np, shown, alpha, beta)
                    o = h * shown * slope(0, leave)
                    c = states[1] + h * leave * slope(2, shown) + o * e[1]
                    i = c * (new - c_old if coupled else new) * slope(0, enter)
                    f = np.zeros_like(c) if coupled else c * c_old * slope(0, forget)
                    found = [i, o, f, c * enter * slope(1, new)]
                    to_h = sum(part @ w[gate] for gate, part in enumerate(found))
                    before = [to_h, c * keep + i * e[0] + f * e[2]]
                result[row, alive, d] = np.concatenate(found, axis=1)[alive]
                states = [
                    np.where(alive[:, None], n, o) for n, o in zip(before, states, strict=True)
                ]
            for number, state in enumerate(states):
                result[steps, :, d, number * size : (number + 1) * size] = state
    return result


def _back_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (gradient, dtype), (whole, _), (hidden, _), (after, _), (extra, _), (lengths, _) = operands
    count, directions, batch, size = after
    width, steps = GATES[attrs["cell"]] * size, attrs["steps"]
    rows = steps * (1 + kept_blocks(attrs)) + count
    for what, shape, wanted in (
        ("gradient", gradient[1:], after[1:]),
        ("whole", whole, (rows, *after[1:])),
        ("hidden", hidden, (directions, width, size)),
        ("after", after, (STATES[attrs["cell"]], len(attrs["backward"]), batch, size)),
        ("extra", extra, (directions, width)),
        ("lengths", lengths, (batch,)),
    ):
        check_shape("recurrence_back", what, shape, wanted)
    return (steps + 1, batch, directions, width), dtype


recurrence_back = Contraction("recurrence_back", _back, _back_rule)
"""The gradients of what goes into the gates, at each of `steps` steps from step `start` on.

gradient (T + S, D, B, H), that of the layer's result; whole, the result of `recurrence_kept` for
these steps; hidden (D, G * H, H), the weights as a layer has them; after (S, D, B, H), the
gradients of the states behind these steps; extra (D, G * H), lengths (B,) as in `recurrence_steps`.
The result (steps + 1, B, D, G * H) has a row for each step, and one that begins with the gradients
of the states before these steps.
"""
