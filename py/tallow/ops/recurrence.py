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
kept). A layer's `order` says where each of ONNX's gates is among those of its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..core import dtype as dt
from ..errors import DTypeError, ShapeError
from . import numpy_kernels as plain
from .kinds import Attrs, Composite, Contraction, Spec
from .numpy_pool import Pool

if TYPE_CHECKING:
    from ..arrays import A, Array, Functions, NumPy

GATES = {"rnn": 1, "gru": 3, "lstm": 4}
STATES = {"rnn": 1, "gru": 1, "lstm": 2}

MAX_STATE = 2048
"""Elements of a state for which a kernel has room; weights of more are beyond 128 MB anyway."""

LANES = 256  # as in the kernel file
MAX_TURNS = 1 << 15
"""Of all loops of an invocation: lavapipe, for one, silently ends them after twice as many, and
counts some that are not in the text."""
_STRIDED = 8  # steps after which a copy of the weights in rows has paid


# ---- activations ------------------------------------------------------------------------------


def _sigmoid(np: NumPy, x: Array, alpha: float, beta: float) -> None:
    if x.flags.c_contiguous:
        np.negative(x, out=x)
    else:
        # Why: docs/decisions/recurrence.md, "Recurrent gates are negated by a product with -1"
        np.multiply(x, -1, out=x)
    np.exp(x, out=x)
    np.add(x, 1, out=x)
    np.reciprocal(x, out=x)


def _to(function: Callable[[NumPy, Array, float, float], Array]) -> Callable[..., None]:
    def run(np: NumPy, x: Array, alpha: float, beta: float) -> None:
        x[...] = function(np, x, alpha, beta)

    return run


ACTIVATIONS: dict[str, Callable[[NumPy, Array, float, float], object]] = {
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
    """The weights of a layer, by gates: hidden (D, G, H, H), which states are multiplied by, and
    extra (D, G, 1, H); and its functions.

    A gate's elements are neighbours, and it has a product of its own: elementwise functions and
    BLAS are then at their fastest.
    """

    def __init__(self, pool: Pool, hidden: Array, extra: Array, attrs: Attrs, rows: bool) -> None:
        self.np = np = pool.np
        directions, gates, _, self.size = hidden.shape
        self.hidden = hidden
        if not plain.HAS_BLAS:
            self._transposed = np.ascontiguousarray(hidden.swapaxes(2, 3))
        elif rows:
            self.hidden = pool.empty(hidden.shape, hidden.dtype)
            np.copyto(self.hidden, hidden)
        self.extra = extra.reshape(directions, gates, 1, self.size) if extra.any() else None
        self.linear = attrs["linear_before_reset"]
        self.input_forget = attrs["input_forget"]
        self._clip = attrs["clip"]
        self._functions = [(ACTIVATIONS[name], a, b) for name, a, b in attrs["activations"]]

    def product(self, h: Array, out: Array, gates: slice = slice(None)) -> None:
        """h (D, B, H) times the weights of some gates."""
        if plain.HAS_BLAS:
            self.np.matmul(h[:, None], self.hidden[:, gates], out=out)
        else:
            self.np.einsum("dbk,dgnk->dgbn", h, self._transposed[:, gates], out=out)

    def activate(self, number: int, x: Array) -> None:
        function, alpha, beta = self._functions[number]
        function(self.np, x, alpha, beta)

    def gate(self, number: int, x: Array) -> None:
        """The activation of a gate, over x, which is clipped before."""
        if self._clip:
            self.np.clip(x, -self._clip, self._clip, out=x)
        self.activate(number, x)


_Step: TypeAlias = "Callable[[Array, list[Array], Array], list[Array]]"
"""step(x, states, out): the new states from x (D, G, B, H), the hidden one in `out`."""


def _rnn(cell: _Cell, gates: Array) -> _Step:
    def step(x: Array, states: list[Array], out: Array) -> list[Array]:
        cell.product(states[0], gates)
        cell.np.add(gates[:, 0], x[:, 0], out=out)
        cell.gate(0, out)
        return [out]

    return step


def _gru(cell: _Cell, gates: Array) -> _Step:
    np, both, candidate = cell.np, gates[:, :2], gates[:, 2]
    update, reset = gates[:, 0], gates[:, 1]

    def step(x: Array, states: list[Array], out: Array) -> list[Array]:
        (h,) = states
        if cell.linear:
            cell.product(h, gates)
            if cell.extra is not None:
                np.add(gates, cell.extra, out=gates)
        else:
            cell.product(h, both, slice(2))
        np.add(both, x[:, :2], out=both)
        cell.gate(0, both)
        if cell.linear:
            np.multiply(candidate, reset, out=candidate)
        else:
            cell.product(np.multiply(reset, h), gates[:, 2:], slice(2, None))
        np.add(candidate, x[:, 2], out=candidate)
        cell.gate(1, candidate)
        np.subtract(1, update, out=out)
        np.multiply(out, candidate, out=out)
        np.multiply(update, h, out=update)
        np.add(out, update, out=out)
        return [out]

    return step


def _lstm(cell: _Cell, gates: Array) -> _Step:
    """The cell itself is not clipped, as in onnxruntime."""
    np, three = cell.np, gates[:, :3]
    enter, leave, forget, new = (gates[:, gate] for gate in range(4))

    def step(x: Array, states: list[Array], out: Array) -> list[Array]:
        h, c = states
        cell.product(h, gates)
        np.add(gates, x, out=gates)
        if cell.extra is None:
            cell.gate(0, three)
        else:
            np.add(enter, cell.extra[:, 0] * c, out=enter)
            np.add(forget, cell.extra[:, 2] * c, out=forget)
            cell.gate(0, enter)
            cell.gate(0, forget)
        cell.gate(1, new)
        np.multiply(new, enter, out=new)
        c = np.multiply(1 - enter if cell.input_forget else forget, c)
        np.add(c, new, out=c)
        if cell.extra is not None:
            np.add(leave, cell.extra[:, 1] * c, out=leave)
            cell.gate(0, leave)
        np.copyto(out, c)
        cell.activate(2, out)
        np.multiply(out, leave, out=out)
        return [out, c]

    return step


_CELLS = {"rnn": _rnn, "gru": _gru, "lstm": _lstm}


def packed(xp: Functions[A], hidden: A) -> A:
    """Weights (D, G * H, H) as a kernel reads them, (D, H, 4 * H): all gates of an element side by
    side, zeros for those that a cell does not have."""
    directions, width, size = hidden.shape
    gates = xp.reshape(hidden, (directions, width // size, size, size))
    if width < 4 * size:
        none = xp.zeros((directions, 4 - width // size, size, size), hidden.dtype)
        gates = xp.concat([gates, none], axis=1)
    return xp.reshape(xp.permute_dims(gates, (0, 3, 2, 1)), (directions, size, 4 * size))


def _packed_steps(np: NumPy, x: Array, hidden: Array, *others: Array, **attrs: Any) -> Array:
    directions, size, _ = hidden.shape
    gates = hidden.reshape(directions, size, size, 4)[..., : GATES[attrs["cell"]]]
    shape = (attrs["steps"] + len(others[0]), directions, x.shape[1], size)
    result = np.empty(shape, x.dtype)
    _steps(Pool(np), result, x, gates.transpose(0, 3, 1, 2), *others, **attrs)
    return result


def by_gates(pool: Pool, x: Array, size: int, backward: Sequence[bool]) -> Array:
    """x (T, B, D, G * H) in the order of the steps of each direction, as (D, G, T, B, H)."""
    time, batch, directions, width = x.shape
    parts = x.reshape(time, batch, directions, width // size, size).transpose(2, 3, 0, 1, 4)
    if not any(backward):
        return parts
    result = pool.empty(parts.shape, x.dtype)
    for direction, back in enumerate(backward):
        result[direction] = parts[direction, :, :: -1 if back else 1]
    return result


def _steps(
    pool: Pool,
    result: Array,
    x: Array,
    hidden: Array,
    first: Array,
    extra: Array,
    lengths: Array,
    **attrs: Any,
) -> None:
    """Writes into `result`."""
    np, start, steps, backward = pool.np, attrs["start"], attrs["steps"], attrs["backward"]
    time, batch, directions, _ = x.shape
    _, gates, size, _ = hidden.shape
    inputs = by_gates(pool, x, size, backward)[:, :, start : start + steps]
    alive = None
    if steps and (lengths < time).any():
        times = np.arange(start, start + steps)
        at = [time - 1 - times if back else times for back in backward]
        alive = np.stack(at, 1)[:, :, None, None] < lengths[:, None]
    cell = _Cell(pool, hidden, extra, attrs, batch > 1 and steps >= _STRIDED)
    if directions == 1:
        outputs = result[:steps][:: -1 if backward[0] else 1]
    else:
        outputs = pool.empty((steps, directions, batch, size), x.dtype)
    step = _CELLS[attrs["cell"]](cell, pool.empty((directions, gates, batch, size), x.dtype))
    states = list(first)
    with np.errstate(all="ignore"):
        for number, out in enumerate(outputs):
            new = step(inputs[:, :, number], states, out)
            if alive is None:
                states = new
            else:
                now = alive[number]
                states = [np.where(now, n, old) for n, old in zip(new, states, strict=True)]
                np.copyto(out, 0, where=~now)
    if directions > 1:
        for direction, back in enumerate(backward):
            result[:steps, direction] = outputs[:: -1 if back else 1, direction]
    for number, state in enumerate(states):
        result[steps + number] = state


def _steps_rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (x, dtype), (hidden, _), (states, _), (extra, _), (lengths, _) = operands
    directions, size, _ = hidden
    width = GATES[attrs["cell"]] * size
    wanted = (x[0], x[1], directions, width)
    check_shape("recurrence_steps", "x", x, wanted)
    check_shape("recurrence_steps", "hidden", hidden, (len(attrs["backward"]), size, 4 * size))
    check_shape(
        "recurrence_steps", "states", states, (STATES[attrs["cell"]], directions, x[1], size)
    )
    check_shape("recurrence_steps", "extra", extra, (directions, width))
    check_shape("recurrence_steps", "lengths", lengths, (x[1],))
    if attrs["start"] < 0 or attrs["start"] + attrs["steps"] > x[0]:
        raise ShapeError(
            f"recurrence_steps: {attrs['steps']} steps from {attrs['start']} on are not in {x[0]}"
        )
    return (attrs["steps"] + states[0], directions, x[1], size), dtype


def check_shape(op: str, what: str, shape: Sequence[int], wanted: Sequence[int]) -> None:
    """Raises ShapeError if an operand has another shape."""
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
    """Steps that an invocation of the kernel, or of that of the gradient, may take."""
    units = -(-size // LANES)
    products = 2 if cell == "gru" else 1
    return max(1, (MAX_TURNS - 3 * units) // (units * (products * (-(-size // 4) + 2) + 6) + 1))


# ---- a layer ----------------------------------------------------------------------------------


def ordered(
    xp: Functions[A], operands: Sequence[A], attrs: Attrs, *, back: bool = False
) -> list[A]:
    """Operands of `recurrence` with their gates in ONNX's order. back: gradients of those, with
    their gates in the order of the operands again.

    xp: NumPy, or tallow.functions.
    """
    order = attrs["order"]
    if order == tuple(range(len(order))):
        return list(operands)
    if back:
        order = tuple(order.index(gate) for gate in range(len(order)))
    size = operands[2].shape[2]

    def turned(x: A) -> A:
        starts = range(0, x.shape[1], len(order) * size)  # of a bias, there are two times all gates
        offsets = [start + gate * size for start in starts for gate in order]
        return xp.concat([x[:, offset : offset + size] for offset in offsets], axis=1)

    named = zip(("x", "weights", "hidden", *attrs["given"]), operands, strict=True)
    return [turned(x) if name in ("weights", "hidden", "bias") else x for name, x in named]


def plain_order(cell: str) -> tuple[int, ...]:
    """ONNX's order of a cell's gates."""
    return tuple(range(GATES[cell]))


def split(
    xp: Functions[A], product: Callable[..., A], operands: Sequence[A], attrs: Attrs
) -> tuple[A, ...]:
    """The operands of `recurrence_steps`, the weights not packed yet, from those of `recurrence`.

    product(a, b, bias): a (m, k) times b (k, n), with a bias (1, n) added unless it is None.

    xp: NumPy, or tallow.functions.
    """
    x, weights, hidden, *more = ordered(xp, operands, attrs)
    found = dict(zip(attrs["given"], more, strict=True))
    (time, batch, features), (directions, width, size) = x.shape, hidden.shape
    weights = xp.reshape(weights, (directions * width, features))
    bias = None
    extra = xp.zeros((directions, width), x.dtype)
    if "bias" in found:
        inputs, others = found["bias"][:, :width], found["bias"][:, width:]
        if attrs["linear_before_reset"]:
            extra = xp.concat([extra[:, : 2 * size], others[:, 2 * size :]], axis=1)
            others = xp.concat([others[:, : 2 * size], extra[:, :size]], axis=1)
        bias = xp.reshape(inputs + others, (1, directions * width))
    if "peepholes" in found:
        extra = xp.concat([found["peepholes"], extra[:, 3 * size :]], axis=1)
    states = found.get("states")
    if states is None:
        states = xp.zeros((STATES[attrs["cell"]], directions, batch, size), x.dtype)
    lengths = found.get("lengths")
    if lengths is None:
        lengths = xp.full((batch,), time, dtype="int32")
    rows = xp.reshape(x, (time * batch, features))
    x = product(rows, xp.permute_dims(weights, (1, 0)), bias)
    x = xp.reshape(x, (time, batch, directions, width))
    return x, hidden, states, extra, lengths


def join(
    xp: Functions[A],
    product: Callable[..., A],
    gradients: Sequence[A],
    operands: Sequence[A],
    attrs: Attrs,
) -> list[A]:
    """The gradients of the operands of `recurrence`, but for lengths, from those of `split`'s
    results: of x (T, B, D * G * H), of hidden, states and extra."""
    of_x, of_hidden, of_states, of_extra = gradients
    x, weights, hidden, *_ = ordered(xp, operands, attrs)
    (time, batch, features), (directions, width, size) = x.shape, hidden.shape
    rows = xp.reshape(of_x, (time * batch, directions * width))
    into = product(rows, xp.reshape(weights, (directions * width, features)))
    columns = xp.permute_dims(rows, (1, 0))
    of_weights = product(columns, xp.reshape(x, (time * batch, features)))
    found = [xp.reshape(into, x.shape), xp.reshape(of_weights, weights.shape), of_hidden]
    for name in attrs["given"]:
        if name == "bias":
            # In two sums: one of so many rows would read far apart.
            each = xp.sum(xp.reshape(rows, (time, batch, directions * width)), axis=1)
            inputs = xp.reshape(xp.sum(each, axis=0), (directions, width))
            others = inputs
            if attrs["linear_before_reset"]:
                others = xp.concat([inputs[:, : 2 * size], of_extra[:, 2 * size :]], axis=1)
            found.append(xp.concat([inputs, others], axis=1))
        elif name == "states":
            found.append(of_states)
        elif name == "peepholes":
            found.append(of_extra[:, : 3 * size])
    wanted = dict(attrs) | {"given": tuple(name for name in attrs["given"] if name != "lengths")}
    return ordered(xp, found, wanted, back=True)


def evaluate(pool: Pool, operands: Sequence[Array], out: Array, attrs: Attrs) -> None:
    """Writes the result of `recurrence` into `out`."""
    x, hidden, *others = split(pool, pool.product, operands, attrs)
    directions, width, size = hidden.shape
    gates = hidden.reshape(directions, width // size, size, size).swapaxes(2, 3)
    _steps(pool, out, x, gates, *others, **attrs, start=0, steps=len(x))


def _layer(np: NumPy, *operands: Array, **attrs: Any) -> Array:
    x, _, hidden = operands[:3]
    steps = x.shape[0] + STATES[attrs["cell"]]
    out = np.empty((steps, hidden.shape[0], x.shape[1], hidden.shape[2]), x.dtype)
    evaluate(Pool(np), operands, out, attrs)
    return out


def _rule(operands: Sequence[Spec], attrs: Attrs) -> Spec:
    (x, dtype), (weights, _), (hidden, _) = operands[:3]
    given = dict(zip(attrs["given"], operands[3:], strict=True))
    if len(x) != 3 or len(weights) != 3 or len(hidden) != 3:
        raise ShapeError(f"recurrence: {x}, {weights} and {hidden} must have three axes")
    if not x[0]:
        raise ShapeError("recurrence: the sequence has no steps")
    directions, size = len(attrs["backward"]), hidden[2]
    width = GATES[attrs["cell"]] * size
    check_shape("recurrence", "weights", weights, (directions, width, x[2]))
    check_shape("recurrence", "hidden", hidden, (directions, width, size))
    shapes = {
        "bias": (directions, 2 * width),
        "lengths": (x[1],),
        "states": (STATES[attrs["cell"]], directions, x[1], size),
        "peepholes": (directions, 3 * size),
    }
    for name, (shape, kind) in given.items():
        check_shape("recurrence", name, shape, shapes[name])
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
