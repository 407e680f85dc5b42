"""RNN, GRU and LSTM by their definition: one sequence, one direction, one step after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

import tallow as tl
from tallow.functional.recurrent import DEFAULTS, recurrence
from tallow.graph import make
from tallow.ops import recurrence as ops
from tallow.ops.recurrence_gradient import recurrence_gradient
from tallow.ops.recurrence_training import recurrence_back, recurrence_kept

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
NAMES = ("x", "weights", "hidden", "bias", "states", "lengths", "peepholes")

rng = np.random.default_rng(20261121)


def operands(
    cell: str, steps: int, batch: int, features: int, size: int, directions: int = 1
) -> tuple[np.ndarray, ...]:
    """Arrays for all NAMES, but for the peepholes of what is no LSTM."""
    width, states = GATES[cell] * size, 2 if cell == "lstm" else 1
    shapes = [(steps, batch, features), (directions, width, features), (directions, width, size),
              (directions, 2 * width), (states, directions, batch, size)]  # fmt: skip
    arrays = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    arrays[2] /= np.float32(np.sqrt(size))
    arrays.append(rng.integers(1, steps + 1, batch).astype(np.int32))
    if cell == "lstm":
        arrays.append(rng.uniform(-1, 1, (directions, 3 * size)).astype(np.float32))
    return tuple(arrays)


def built(cell: str, *tensors: Any, **options: Any) -> Any:
    """The op's result: the hidden states, then the last states."""
    x, weights, hidden, *more = tensors
    found = dict(zip(NAMES[3:], more, strict=False))
    return tl.concat(recurrence(cell, x, weights, hidden, **found, **options))


def step_operands(
    cell: str, steps: int, batch: int, size: int, directions: int = 1
) -> tuple[np.ndarray, ...]:
    """Arrays for the operands of `recurrence_steps`."""
    shapes = [(steps, batch, directions, GATES[cell] * size), (directions, size, 4 * size),
              (2 if cell == "lstm" else 1, directions, batch, size),
              (directions, GATES[cell] * size)]  # fmt: skip
    arrays = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    arrays[1] /= np.float32(np.sqrt(size))
    used = {"rnn": slice(0), "gru": slice(2 * size, None), "lstm": slice(3 * size)}[cell]
    kept = arrays[3][:, used].copy()
    arrays[3][...] = 0
    arrays[3][:, used] = kept
    return *arrays, rng.integers(1, steps + 1, batch).astype(np.int32)


_PLAIN: dict[str, Any] = {
    "backward": (False,), "clip": 0.0, "linear_before_reset": False, "input_forget": False,
}  # fmt: skip


def steps(cell: str, *tensors: Any, **options: Any) -> Any:
    """The op `recurrence_steps`."""
    attrs = {"cell": cell, "activations": DEFAULTS[cell], **_PLAIN, **options}
    return tl.Tensor(make(ops.recurrence_steps, *(t.node for t in tensors), **attrs))


def back_operands(
    cell: str, time: int, batch: int, size: int, directions: int = 1, **options: Any
) -> tuple[np.ndarray, ...]:
    """Arrays for the operands of `recurrence_back`: after steps that were kept."""
    x, hidden, states, extra, lengths = step_operands(cell, time, batch, size, directions)
    attrs = {"cell": cell, "activations": DEFAULTS[cell], **_PLAIN, **options}
    whole = recurrence_kept.numpy(np, x, hidden, states, extra, lengths, **attrs)
    gates = hidden.reshape(directions, size, size, 4).transpose(0, 3, 2, 1)[:, : GATES[cell]]
    shape = (time + len(states), *states.shape[1:])
    gradient = rng.uniform(-1, 1, shape).astype(np.float32)
    rows = gates.reshape(directions, GATES[cell] * size, size)
    return gradient, whole, rows, gradient[time:].copy(), extra, lengths


def back(cell: str, *tensors: Any, **options: Any) -> Any:
    """The op `recurrence_back`."""
    attrs = {"cell": cell, "activations": DEFAULTS[cell], **_PLAIN, **options}
    return tl.Tensor(make(recurrence_back, *(t.node for t in tensors), **attrs))


def back_reference(cell: str, *arrays: np.ndarray, **options: Any) -> np.ndarray:
    """What the record computes, which `recurrence_gradient`'s cases compare with differences."""
    attrs = {"cell": cell, "activations": DEFAULTS[cell], **_PLAIN, **options}
    found: np.ndarray = recurrence_back.numpy(np, *arrays, **attrs)
    return found


def steps_reference(
    cell: str,
    x: np.ndarray,
    hidden: np.ndarray,
    states: np.ndarray,
    extra: np.ndarray,
    lengths: np.ndarray,
    **options: Any,
) -> np.ndarray:
    """As `recurrence_reference` of a layer whose weights pass each direction its inputs."""
    (time, batch, directions, width), size = x.shape, states.shape[3]
    eye = np.eye(directions * width, dtype=np.float32)
    gates = hidden.reshape(directions, size, size, 4).transpose(0, 3, 2, 1)[:, : GATES[cell]]
    bias = np.zeros((directions, 2 * width), np.float32)
    if options.get("linear_before_reset"):
        bias[:, -size:] = extra[:, -size:]
    return recurrence_reference(
        cell,
        x.reshape(time, batch, directions * width),
        eye.reshape(directions, width, directions * width),
        gates.reshape(directions, width, size),
        bias,
        states,
        lengths,
        extra[:, : 3 * size] if cell == "lstm" else None,
        **options,
    )


def _activate(function: tuple[str, float, float], x: np.ndarray) -> np.ndarray:
    name, a, b = function
    if name == "Sigmoid":
        return np.asarray(1 / (1 + np.exp(-x)))
    if name == "HardSigmoid":
        return np.clip(a * x + b, 0, 1)
    if name == "Elu":
        return np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0)))
    if name == "Softplus":
        return np.asarray(np.logaddexp(x, 0))
    if name in ("LeakyRelu", "ThresholdedRelu"):
        return np.where(x >= (a if name[0] == "T" else 0), x, 0 if name[0] == "T" else a * x)
    if name == "Affine":
        return a * x + b
    if name == "ScaledTanh":
        return a * np.asarray(np.tanh(b * x))
    if name == "Softsign":
        return np.asarray(x / (1 + abs(x)))
    return np.asarray(np.tanh(x) if name == "Tanh" else np.maximum(x, 0))


def recurrence_reference(
    cell: str,
    x: np.ndarray,
    weights: np.ndarray,
    hidden: np.ndarray,
    bias: np.ndarray,
    states: np.ndarray,
    lengths: np.ndarray,
    peepholes: np.ndarray | None = None,
    *,
    backward: tuple[bool, ...] = (False,),
    activations: Any = None,
    clip: float = 0.0,
    linear_before_reset: bool = False,
    input_forget: bool = False,
    order: tuple[int, ...] | None = None,
    start: int = 0,
    steps: int | None = None,
    dtype: Any = np.float32,
) -> np.ndarray:
    """What `recurrence` gives, computed in float64; of `steps` steps from `start` on."""
    if order is not None:

        def ordered(a: np.ndarray, parts: int = 1) -> np.ndarray:
            gates = a.reshape(len(a), parts, len(order), -1)[:, :, list(order)]
            return gates.reshape(a.shape)

        weights, hidden, bias = ordered(weights), ordered(hidden), ordered(bias, 2)
    functions = activations or DEFAULTS[cell]
    time, batch, _ = x.shape
    count, size = time if steps is None else steps, hidden.shape[2]
    result = np.zeros((count + len(states), *states.shape[1:]))
    for d, back in enumerate(backward):
        w, r, wb, rb = (
            a.astype(np.float64).reshape(GATES[cell], size, -1)
            for a in (weights[d], hidden[d], *np.split(bias[d], 2))
        )
        peep = np.zeros((3, size)) if peepholes is None else peepholes[d].reshape(3, size)

        def gate(
            number: int, function: int, v: np.ndarray, h: np.ndarray, more: Any = 0.0,
            w: Any = w, r: Any = r, wb: Any = wb, rb: Any = rb,
        ) -> np.ndarray:  # fmt: skip
            total = w[number] @ v + r[number] @ h + wb[number, :, 0] + rb[number, :, 0] + more
            bounded = np.clip(total, -clip, clip) if clip else total
            return _activate(functions[function], bounded)

        for b in range(batch):
            h, *c = states[:, d, b].astype(np.float64)
            for step in range(start, start + count):
                t = time - 1 - step if back else step
                if t >= lengths[b]:
                    continue
                v = x[t, b].astype(np.float64)
                if cell == "rnn":
                    h = gate(0, 0, v, h)
                elif cell == "gru":
                    update, reset = gate(0, 0, v, h), gate(1, 0, v, h)
                    if linear_before_reset:
                        own = r[2] @ h + rb[2, :, 0]
                        candidate = gate(2, 1, v, 0 * h, reset * own - rb[2, :, 0])
                    else:
                        candidate = gate(2, 1, v, reset * h)
                    h = (1 - update) * candidate + update * h
                else:
                    enter, forget = (gate(i, 0, v, h, peep[i] * c[0]) for i in (0, 2))
                    kept = 1 - enter if input_forget else forget
                    c = [kept * c[0] + enter * gate(3, 1, v, h)]
                    h = gate(1, 0, v, h, peep[1] * c[0]) * _activate(functions[2], c[0])
                row = count - 1 - (step - start) if back else step - start
                result[row, d, b] = h
            result[count:, d, b] = [h, *c]
    return result.astype(dtype)


# ---- the gradient -----------------------------------------------------------------------------


def gradient_operands(
    cell: str, sizes: tuple[int, int, int, int], directions: int = 1, **options: Any
) -> tuple[np.ndarray, ...]:
    """Arrays for the operands of `recurrence_gradient`: the gradient, the result, and all NAMES."""
    arrays = operands(cell, *sizes, directions)
    result = recurrence_reference(cell, *arrays, **options)
    return rng.uniform(-1, 1, result.shape).astype(np.float32), result, *arrays


def gradient_built(cell: str, *tensors: Any, **options: Any) -> Any:
    """The op `recurrence_gradient`."""
    given = NAMES[3 : len(tensors) - 2]
    attrs = {"activations": DEFAULTS[cell], "order": ops.plain_order(cell), **_PLAIN, **options}
    nodes = (t.node for t in tensors)
    return tl.Tensor(make(recurrence_gradient, *nodes, cell=cell, given=given, **attrs))


def gradient_reference(
    cell: str, gradient: np.ndarray, result: np.ndarray, *arrays: np.ndarray, **options: Any
) -> np.ndarray:
    """The derivative by each element of each operand, from differences in float64."""
    changed = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in arrays]

    def total() -> float:
        y = recurrence_reference(cell, *changed, **options, dtype=np.float64)
        return float(np.sum(gradient * y))

    found, step = [], 1e-6
    for array in changed:
        if array.dtype.kind != "f":
            continue
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + step
            above = total()
            array[place] = kept - step
            found.append((above - total()) / (2 * step))
            array[place] = kept
    return np.array(found, np.float32)
