"""RNN, GRU and LSTM: attributes and shapes; recurrence.py computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ... import functions as f
from ...errors import OnnxFormatError, OnnxUnsupportedError
from ...tensor import Tensor
from ..call import Call
from ..registry import host_operator, operator
from .recurrence import (
    ALPHAS,
    BETAS,
    FUNCTIONS,
    Activation,
    Array,
    Layer,
    Step,
    gru_step,
    lstm_step,
    rnn_step,
)

LONGEST = 256
"""Steps up to which a sequence is unrolled: up to 40 nodes and three kernels each, so that a longer
one takes longer to compile than it is worth."""

_FUNCTIONS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_STEPS: dict[str, Step] = {"RNN": rnn_step, "GRU": gru_step, "LSTM": lstm_step}


def _activations(call: Call, directions: int) -> list[list[Activation]]:
    """Per direction. alphas and betas are used up by the functions that have one, in order."""
    default = _FUNCTIONS[call.node.op_type]
    names = call.get("activations", tuple, default * directions)
    if len(names) != len(default) * directions:
        if len(names) != len(default):
            raise OnnxFormatError(
                f"{len(names)} activations, {names}; expected {len(default) * directions}"
            )
        names = names * directions
    alphas, betas = _numbers(call, "activation_alpha"), _numbers(call, "activation_beta")
    made = []
    for name in names:
        low = str(name).lower()
        if low not in FUNCTIONS:
            raise OnnxUnsupportedError(f"the activation {name!r}")
        alpha = next(alphas, ALPHAS[low]) if low in ALPHAS else 0.0
        beta = next(betas, BETAS[low]) if low in BETAS else 0.0
        made.append(Activation(low, alpha, beta))
    return [made[i : i + len(default)] for i in range(0, len(made), len(default))]


def _numbers(call: Call, name: str) -> Iterator[float]:
    values = call.get(name, tuple, ())
    if not all(isinstance(value, (int, float)) for value in values):
        raise OnnxFormatError(f"the attribute {name!r} is not a list of numbers: {values}")
    return iter(values)


def _check(what: str, value: Array | None, shape: tuple[int, ...]) -> None:
    if value is not None and tuple(value.shape) != shape:
        raise OnnxFormatError(f"{what} is {tuple(value.shape)}; expected {shape}")


def _run(
    call: Call,
    xp: Any,
    x: Array,
    w: Array,
    r: Array,
    b: Array | None,
    lengths: Array | None,
    initial: list[Array | None],
    peepholes: Array | None = None,
) -> list[Array]:
    """Y and the last states."""
    op, layout = call.node.op_type, call.get("layout", int, 0)
    direction = call.choice("direction", "forward", "reverse", "bidirectional")
    directions = 2 if direction == "bidirectional" else 1
    if x.ndim != 3 or w.ndim != 3 or r.ndim != 3:
        raise OnnxFormatError(f"X {x.shape}, W {w.shape} and R {r.shape} must have three axes")
    if layout:
        x = xp.permute_dims(x, (1, 0, 2))
        initial = [None if s is None else xp.permute_dims(s, (1, 0, 2)) for s in initial]
    (time, batch, features), size = x.shape, r.shape[-1]
    if call.get("hidden_size", int, size) != size:
        raise OnnxFormatError(f"hidden_size is {call.get('hidden_size', int)}, R is {r.shape}")
    width = _GATES[op] * size
    _check("W", w, (directions, width, features))
    _check("R", r, (directions, width, size))
    _check("B", b, (directions, 2 * width))
    _check("P", peepholes, (directions, 3 * size))
    _check("sequence_lens", lengths, (batch,))
    for state in initial:
        _check("an initial state", state, (directions, batch, size))
    if xp is f and time > LONGEST:
        raise OnnxUnsupportedError(f"{time} steps are more than {LONGEST}")
    if not time:
        raise OnnxFormatError("the sequence has no steps")
    linear = op == "GRU" and call.flag("linear_before_reset")
    input_bias = hidden_bias = None
    if b is not None:
        both = xp.reshape(b, (directions, 1, 2 * width))
        input_bias, hidden_bias = both[..., :width], both[..., width:]
        if not linear:
            input_bias = input_bias + hidden_bias
    layer = Layer(
        xp,
        w,
        r,
        input_bias,
        hidden_bias,
        _activations(call, directions),
        {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction],
        call.get("clip", float, None) or None,
        None if peepholes is None else xp.reshape(peepholes, (directions, 1, 3 * size)),
        linear,
        op == "LSTM" and call.flag("input_forget"),
    )
    zeros = xp.zeros((directions, batch, size), x.dtype)
    states = [zeros if state is None else state for state in initial]
    y, last = layer.run(x, states, lengths, _STEPS[op])
    if layout:
        y = xp.permute_dims(y, (2, 0, 1, 3))
        last = [xp.permute_dims(state, (1, 0, 2)) for state in last]
    return [y, *last]


@operator("RNN")
def rnn(
    call: Call,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
) -> list[Tensor]:
    return _run(call, f, x, w, r, b, sequence_lens, [initial_h])


@operator("GRU")
def gru(
    call: Call,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
) -> list[Tensor]:
    return _run(call, f, x, w, r, b, sequence_lens, [initial_h])


@operator("LSTM")
def lstm(
    call: Call,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    p: Tensor | None = None,
) -> list[Tensor]:
    return _run(call, f, x, w, r, b, sequence_lens, [initial_h, initial_c], p)


def _on_host(
    call: Call, np: Any, states: int, x: Any, w: Any, r: Any, *others: Any
) -> tuple[Any, ...]:
    """Longer sequences, step by step on NumPy."""
    b, lengths, *rest = [*others, None, None, None, None]
    with np.errstate(all="ignore"):
        made = _run(call, np, x, w, r, b, lengths, list(rest[:states]), rest[states])
    return tuple(np.ascontiguousarray(value, dtype=x.dtype) for value in made)


@host_operator("RNN")
@host_operator("GRU")
def _rnn_on_host(
    call: Call, np: Any, x: Any, w: Any, r: Any, b: Any = None, lens: Any = None, h: Any = None
) -> tuple[Any, ...]:
    return _on_host(call, np, 1, x, w, r, b, lens, h)


@host_operator("LSTM")
def _lstm_on_host(
    call: Call,
    np: Any,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lens: Any = None,
    h: Any = None,
    c: Any = None,
    p: Any = None,
) -> tuple[Any, ...]:
    return _on_host(call, np, 2, x, w, r, b, lens, h, c, p)
