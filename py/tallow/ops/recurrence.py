"""RNN, GRU and LSTM (Hochreiter and Schmidhuber 1997; Cho et al. 2014): a layer along a sequence.

Two records: the whole layer, which NumPy evaluates and a file has, and the steps after the
product with the inputs, which a GPU takes in kernels of their own (compile/passes/compose.py).

T steps, B sequences, D directions, H elements of a state, G gates, S states: the hidden one and,
of an LSTM, the cell. Gates stand in ONNX's order: update, reset, hidden (GRU); input, output,
forget, cell (LSTM). A result (T + S, D, B, H) is the hidden state after each step, then the last
states; a sequence that is over keeps its states, and gives zeros.

Attributes of both: `cell` ("rnn", "gru", "lstm"); `backward`, per direction whether it begins at
the end; `activations`, as (name, alpha, beta); `clip`, the bound of what goes into the gates'
activations, 0.0 for none; `linear_before_reset` (GRU); `input_forget` (LSTM: what is not let in is
kept).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import dtype as dt
from ..errors import DTypeError, ShapeError
from ..op import Attrs, Composite, Contraction, Spec
from . import numpy_kernels as plain

Array = Any

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
STATES = {"rnn": 1, "gru": 1, "lstm": 2}

MAX_STATE = 2048
"""Elements of a state for which a kernel has room; weights of more are beyond 128 MB anyway."""

_LANES = 256  # as in the kernel file
_MAX_TURNS = 1 << 15
"""Of all loops of an invocation: lavapipe, for one, silently ends them after twice as many, and
counts some that are not in the text."""
_STRIDED = 8  # steps after which a copy of the weights in rows has paid


# ---- activations ------------------------------------------------------------------------------


def _sigmoid(np: Any, x: Array, alpha: float, beta: float) -> None:
    np.multiply(x, -1, out=x)  # negative would read wrong elements: docs/decisions.md
    np.exp(x, out=x)
    np.add(x, 1, out=x)
    np.reciprocal(x, out=x)


def _to(function: Callable[[Any, Array, float, float], Array]) -> Callable[..., None]:
    def run(np: Any, x: Array, alpha: float, beta: float) -> None:
        x[...] = function(np, x, alpha, beta)

    return run


ACTIVATIONS: dict[str, Callable[[Any, Array, float, float], None]] = {
    "Affine": _to(lambda np, x, a, b: x * a + b),
    "Elu": _to(lambda np, x, a, b: np.where(x >= 0, x, np.expm1(np.minimum(x, 0)) * a)),
    "HardSigmoid": _to(lambda np, x, a, b: np.clip(x * a + b, 0, 1)),
    "LeakyRelu": _to(lambda np, x, a, b: np.where(x >= 0, x, x * a)),
    "Relu": lambda np, x, a, b: np.maximum(x, 0, out=x),
    "ScaledTanh": _to(lambda np, x, a, b: np.tanh(x * b) * a),
    "Sigmoid": _sigmoid,
    "Softplus": _to(lambda np, x, a, b: np.maximum(x, 0) + np.log1p(np.exp(-abs(x)))),
    "Softsign": _to(lambda np, x, a, b: x / (abs(x) + 1)),
    "Tanh": lambda np, x, a, b: np.tanh(x, out=x),
    "ThresholdedRelu": _to(lambda np, x, a, b: np.where(x >= a, x, 0)),
}
"""Over their operand. The kernel file numbers them in this order."""


# ---- steps on NumPy ---------------------------------------------------------------------------


class _Cell:
    """The weights of a layer, hidden (D, H, G * H) and extra (D, G * H), and its functions."""

    def __init__(self, np: Any, hidden: Array, extra: Array, attrs: Attrs, rows: bool) -> None:
        self.np = np
        self.size = hidden.shape[1]
        if not plain.HAS_BLAS:
            self._transposed = np.ascontiguousarray(hidden.swapaxes(1, 2))
        self._hidden = np.ascontiguousarray(hidden) if rows else hidden
        self.extra = extra[:, None] if extra.any() else None
        self.linear = attrs["linear_before_reset"]
        self.input_forget = attrs["input_forget"]
        self._clip = attrs["clip"]
        self._functions = [(ACTIVATIONS[name], a, b) for name, a, b in attrs["activations"]]

    def product(self, h: Array, gates: slice = slice(None)) -> Array:
        """h (D, B, H) times the weights of some gates, given by their columns."""
        if plain.HAS_BLAS:
            return self.np.matmul(h, self._hidden[..., gates])
        return self.np.einsum("dbk,dnk->dbn", h, self._transposed[:, gates])

    def activate(self, number: int, x: Array) -> None:
        function, alpha, beta = self._functions[number]
        function(self.np, x, alpha, beta)

    def gate(self, number: int, x: Array) -> None:
        """The activation of a gate, over x, which is clipped before."""
        if self._clip:
            self.np.clip(x, -self._clip, self._clip, out=x)
        self.activate(number, x)


def _rnn(cell: _Cell, x: Array, states: list[Array]) -> list[Array]:
    h = cell.product(states[0])
    h += x
    cell.gate(0, h)
    return [h]


def _gru(cell: _Cell, x: Array, states: list[Array]) -> list[Array]:
    (h,), n = states, cell.size
    if cell.linear:
        product = cell.product(h)
        if cell.extra is not None:
            product += cell.extra
        both, candidate = product[..., : 2 * n], product[..., 2 * n :]
    else:
        both = cell.product(h, slice(2 * n))
    both += x[..., : 2 * n]
    cell.gate(0, both)
    update, reset = both[..., :n], both[..., n:]
    if cell.linear:
        candidate *= reset
    else:
        candidate = cell.product(reset * h, slice(2 * n, None))
    candidate += x[..., 2 * n :]
    cell.gate(1, candidate)
    return [(1 - update) * candidate + update * h]


def _lstm(cell: _Cell, x: Array, states: list[Array]) -> list[Array]:
    """The cell itself is not clipped, as in onnxruntime."""
    (h, c), n = states, cell.size
    gates = cell.product(h)
    gates += x
    enter, leave, forget, new = (gates[..., i * n : (i + 1) * n] for i in range(4))
    if cell.extra is None:
        cell.gate(0, gates[..., : 3 * n])
    else:
        enter += cell.extra[..., :n] * c
        forget += cell.extra[..., 2 * n : 3 * n] * c
        cell.gate(0, enter)
        cell.gate(0, forget)
    cell.gate(1, new)
    new *= enter
    c = (1 - enter if cell.input_forget else forget) * c
    c += new
    if cell.extra is not None:
        leave += cell.extra[..., n : 2 * n] * c
        cell.gate(0, leave)
    h = c.copy()
    cell.activate(2, h)
    h *= leave
    return [h, c]


_CELLS = {"rnn": _rnn, "gru": _gru, "lstm": _lstm}


def packed(xp: Any, hidden: Array) -> Array:
    """Weights (D, G * H, H) as a kernel reads them, (D, H, 4 * H): all gates of an element side by
    side, zeros for those that a cell does not have."""
    directions, width, size = hidden.shape
    gates = xp.reshape(hidden, (directions, width // size, size, size))
    if width < 4 * size:
        none = xp.zeros((directions, 4 - width // size, size, size), hidden.dtype)
        gates = xp.concat([gates, none], axis=1)
    return xp.reshape(xp.permute_dims(gates, (0, 3, 2, 1)), (directions, size, 4 * size))


def _packed_steps(np: Any, x: Array, hidden: Array, *others: Array, **attrs: Any) -> Array:
    directions, size, _ = hidden.shape
    gates = hidden.reshape(directions, size, size, 4)[..., : GATES[attrs["cell"]]]
    return _steps(np, x, gates.swapaxes(2, 3).reshape(directions, size, -1), *others, **attrs)


def _steps(
    np: Any, x: Array, hidden: Array, first: Array, extra: Array, lengths: Array, **attrs: Any
) -> Array:
    start, steps, backward = attrs["start"], attrs["steps"], attrs["backward"]
    time, batch, directions, _ = x.shape
    times = np.arange(start, start + steps)
    at = [time - 1 - times if back else times for back in backward]
    turned = [x[indices, :, direction] for direction, indices in enumerate(at)]
    inputs = np.stack(turned, 1) if directions > 1 else turned[0][:, None]
    alive = None
    if steps and (lengths < time).any():
        alive = np.stack(at, 1)[:, :, None, None] < lengths[:, None]
    cell = _Cell(np, hidden, extra, attrs, batch > 1 and steps >= _STRIDED)
    outputs = np.empty((steps, directions, batch, cell.size), x.dtype)
    states, step = list(first), _CELLS[attrs["cell"]]
    with np.errstate(all="ignore"):
        for number in range(steps):
            new = step(cell, inputs[number], states)
            if alive is None:
                outputs[number], states = new[0], new
            else:
                now = alive[number]
                outputs[number] = np.where(now, new[0], 0)
                states = [np.where(now, n, old) for n, old in zip(new, states, strict=True)]
    result = np.empty((steps + len(states), *outputs.shape[1:]), x.dtype)
    for direction, back in enumerate(backward):
        result[:steps, direction] = outputs[:: -1 if back else 1, direction]
    result[steps:] = states
    return result


def _steps_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (x, dtype), (hidden, _), (states, _), (extra, _), (lengths, _) = operands
    directions, size, _ = hidden
    width = GATES[attrs["cell"]] * size
    wanted = (x[0], x[1], directions, width)
    _check("recurrence_steps", "x", x, wanted)
    _check("recurrence_steps", "hidden", hidden, (len(attrs["backward"]), size, 4 * size))
    _check("recurrence_steps", "states", states, (STATES[attrs["cell"]], directions, x[1], size))
    _check("recurrence_steps", "extra", extra, (directions, width))
    _check("recurrence_steps", "lengths", lengths, (x[1],))
    if attrs["start"] < 0 or attrs["start"] + attrs["steps"] > x[0]:
        raise ShapeError(
            f"recurrence_steps: {attrs['steps']} steps from {attrs['start']} on are not in {x[0]}"
        )
    return (attrs["steps"] + states[0], directions, x[1], size), dtype


def _check(op: str, what: str, shape: Sequence[int], wanted: Sequence[int]) -> None:
    if tuple(shape) != tuple(wanted):
        raise ShapeError(f"{op}: {what} is {tuple(shape)}; expected {tuple(wanted)}")


recurrence_steps = Contraction("recurrence_steps", _packed_steps, _steps_rule)
"""`steps` steps from step `start` on.

x (T, B, D, G * H), the inputs' products with their weights, biases added, of all steps; hidden
(D, H, 4 * H), see `packed`; states (S, D, B, H), those before; extra (D, G * H), of an LSTM the
peepholes, of a GRU that is linear before its reset the hidden gate's bias behind the product;
lengths (B,), int32.
"""


def most_steps(cell: str, size: int) -> int:
    """Steps that an invocation of the kernel may take."""
    units = -(-size // _LANES)
    products = 2 if cell == "gru" else 1
    return max(1, (_MAX_TURNS - 3 * units) // (units * (products * -(-size // 4) + 4) + 1))


# ---- a layer ----------------------------------------------------------------------------------


def split(
    xp: Any, matmul: Callable[[Array, Array], Array], operands: Sequence[Array], attrs: Attrs
) -> tuple[Array, ...]:
    """The operands of `recurrence_steps`, the weights not packed yet, from those of `recurrence`.

    xp: NumPy, or tallow.functions.
    """
    x, weights, hidden, *more = operands
    found = dict(zip(attrs["given"], more, strict=True))
    (time, batch, features), (directions, width, size) = x.shape, hidden.shape
    weights = xp.reshape(weights, (directions * width, features))
    x = matmul(xp.reshape(x, (time * batch, features)), xp.permute_dims(weights, (1, 0)))
    extra = xp.zeros((directions, width), x.dtype)
    if "bias" in found:
        inputs, others = found["bias"][:, :width], found["bias"][:, width:]
        if attrs["linear_before_reset"]:
            extra = xp.concat([extra[:, : 2 * size], others[:, 2 * size :]], axis=1)
            others = xp.concat([others[:, : 2 * size], extra[:, :size]], axis=1)
        x = x + xp.reshape(inputs + others, (1, directions * width))
    if "peepholes" in found:
        extra = xp.concat([found["peepholes"], extra[:, 3 * size :]], axis=1)
    states = found.get("states")
    if states is None:
        states = xp.zeros((STATES[attrs["cell"]], directions, batch, size), x.dtype)
    lengths = found.get("lengths")
    if lengths is None:
        lengths = xp.full((batch,), time, dtype="int32")
    x = xp.reshape(x, (time, batch, directions, width))
    return x, hidden, states, extra, lengths


def _layer(np: Any, *operands: Array, **attrs: Any) -> Array:
    x, hidden, *others = split(np, lambda a, b: plain.product(np, a, b), operands, attrs)
    return _steps(np, x, hidden.swapaxes(1, 2), *others, **attrs, start=0, steps=len(x))


def _rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (x, dtype), (weights, _), (hidden, _) = operands[:3]
    given = dict(zip(attrs["given"], operands[3:], strict=True))
    if len(x) != 3 or len(weights) != 3 or len(hidden) != 3:
        raise ShapeError(f"recurrence: {x}, {weights} and {hidden} must have three axes")
    if not x[0]:
        raise ShapeError("recurrence: the sequence has no steps")
    directions, size = len(attrs["backward"]), hidden[2]
    width = GATES[attrs["cell"]] * size
    _check("recurrence", "weights", weights, (directions, width, x[2]))
    _check("recurrence", "hidden", hidden, (directions, width, size))
    shapes = {
        "bias": (directions, 2 * width),
        "lengths": (x[1],),
        "states": (STATES[attrs["cell"]], directions, x[1], size),
        "peepholes": (directions, 3 * size),
    }
    for name, (shape, kind) in given.items():
        _check("recurrence", name, shape, shapes[name])
        if kind != (dtype if name != "lengths" else dt.int32):
            raise DTypeError(f"recurrence: {name} is {kind.name}, x is {dtype.name}")
    if not dtype.is_floating or len({kind for _, kind in operands[:3]}) > 1:
        names = ", ".join(kind.name for _, kind in operands[:3])
        raise DTypeError(f"recurrence: takes one floating type, not {names}")
    return (x[0] + STATES[attrs["cell"]], directions, x[1], size), dtype


recurrence = Composite("recurrence", _layer, _rule)
"""x (T, B, I), weights (D, G * H, I), hidden (D, G * H, H), and those of these whose names are in
the attribute `given`, in this order: bias (D, 2 * G * H), the inputs' and the hidden state's;
lengths (B,), int32; states (S, D, B, H), those before the first step; peepholes (D, 3 * H): input,
output, forget."""
