"""RNN, GRU and LSTM: reads attributes and checks shapes; ops/recurrence.py computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..... import functions as f
from .....core.dtype import int32
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....functional.recurrent import DEFAULTS, Activation, recurrence
from .....ops.recurrence import ACTIVATIONS, GATES, MAX_STATE, plain_order
from .....ops.recurrence import recurrence as layer
from .....tensor import Tensor
from ...call import Call
from ...registry import host_operator, operator

if TYPE_CHECKING:
    from .....arrays import A, Array, Functions, NumPy, Sliced

_NAMES = {name.lower(): name for name in ACTIVATIONS}
ALPHAS = {
    "Affine": 1.0, "Elu": 1.0, "HardSigmoid": 0.2, "LeakyRelu": 0.01, "ScaledTanh": 1.0,
    "ThresholdedRelu": 1.0,
}  # fmt: skip
"""The functions that have an alpha, and its default."""
BETAS = {"Affine": 0.0, "HardSigmoid": 0.5, "ScaledTanh": 1.0}
"""The functions that have a beta, and its default."""

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Which directions start at the end."""


def activations_of(call: Call, directions: int, cell: str) -> list[tuple[Activation, ...]]:
    """The activations per direction. Functions with an alpha or beta take the next one in order."""
    default = [name for name, _, _ in DEFAULTS[cell]]
    names = call.get("activations", tuple, tuple(default) * directions)
    if len(names) != len(default) * directions:
        if len(names) != len(default):
            raise OnnxFormatError(
                f"{len(names)} activations, {names}; expected {len(default) * directions}"
            )
        names = names * directions
    alphas, betas = _numbers(call, "activation_alpha"), _numbers(call, "activation_beta")
    made = []
    for given in names:
        name = _NAMES.get(str(given).lower())
        if name is None:
            raise OnnxUnsupportedError(f"the activation {given!r} is not supported")
        alpha = next(alphas, ALPHAS[name]) if name in ALPHAS else 0.0
        beta = next(betas, BETAS[name]) if name in BETAS else 0.0
        made.append((name, alpha, beta))
    return [tuple(made[i : i + len(default)]) for i in range(0, len(made), len(default))]


def _numbers(call: Call, name: str) -> Iterator[float]:
    values = call.get(name, tuple, ())
    if not all(isinstance(value, (int, float)) for value in values):
        raise OnnxFormatError(f"the attribute {name!r} is not a list of numbers: {values}")
    return iter(map(float, values))


def check_shape(what: str, value: Sliced | None, shape: tuple[int, ...]) -> None:
    """Refuses an input that is there in another shape."""
    if value is not None and tuple(value.shape) != shape:
        raise OnnxFormatError(f"{what} is {tuple(value.shape)}; expected {shape}")


def _run(
    call: Call,
    xp: Functions[A],
    x: A,
    w: A,
    r: A,
    b: A | None,
    lengths: A | None,
    initial: list[A | None],
    peepholes: A | None = None,
) -> list[A]:
    """Y and the last states."""
    op, layout = call.node.op_type, call.get("layout", int, 0)
    backward = DIRECTIONS[call.choice("direction", *DIRECTIONS)]
    directions = len(backward)
    if x.ndim != 3 or w.ndim != 3 or r.ndim != 3:
        raise OnnxFormatError(f"X {x.shape}, W {w.shape} and R {r.shape} must have three axes")
    if layout:
        x = xp.permute_dims(x, (1, 0, 2))
        initial = [None if s is None else xp.permute_dims(s, (1, 0, 2)) for s in initial]
    (time, batch, features), size = x.shape, r.shape[-1]
    if call.get("hidden_size", int, size) != size:
        raise OnnxFormatError(f"hidden_size is {call.get('hidden_size', int)}, but R is {r.shape}")
    width = GATES[op.lower()] * size
    check_shape("W", w, (directions, width, features))
    check_shape("R", r, (directions, width, size))
    check_shape("B", b, (directions, 2 * width))
    check_shape("P", peepholes, (directions, 3 * size))
    check_shape("sequence_lens", lengths, (batch,))
    for state in initial:
        check_shape("an initial state", state, (directions, batch, size))
    on_device = isinstance(x, Tensor)
    if on_device and size > MAX_STATE:
        raise OnnxUnsupportedError(f"a state of {size} elements is larger than {MAX_STATE}")
    if not time:
        raise OnnxFormatError("the sequence has no steps")
    states = None
    if any(state is not None for state in initial):
        zeros = xp.zeros((directions, batch, size), x.dtype)
        states = xp.stack([zeros if state is None else state for state in initial])
    apply: Callable[..., Any] = _apply if on_device else _apply_on_host
    options = {
        "clip": call.get("clip", float, 0.0),
        "linear_before_reset": op == "GRU" and call.flag("linear_before_reset"),
        "input_forget": op == "LSTM" and call.flag("input_forget"),
    }
    activations = activations_of(call, directions, op.lower())
    made = []
    # Both directions run together unless their activations differ.
    for some in [slice(None)] if len(set(activations)) == 1 else [slice(0, 1), slice(1, 2)]:
        found: dict[str, A | None] = {
            "bias": None if b is None else b[some],
            "lengths": lengths,
            "states": None if states is None else states[:, some],
            "peepholes": None if peepholes is None else peepholes[some],
        }
        more = {name: value for name, value in found.items() if value is not None}
        own = {"backward": backward[some], "activations": activations[some][0], **options}
        made.append(apply(op.lower(), (x, w[some], r[some]), more, own))
    y, last = (
        parts[0] if len(made) == 1 else xp.concat(list(parts), axis=1)
        for parts in zip(*made, strict=True)
    )
    if layout:
        y = xp.permute_dims(y, (2, 0, 1, 3))
        last = xp.permute_dims(last, (0, 2, 1, 3))
    return [y, *(last[i] for i in range(len(initial)))]


def _apply(
    cell: str,
    operands: tuple[Tensor, Tensor, Tensor],
    more: dict[str, Any],
    options: dict[str, Any],
) -> tuple[Tensor, Tensor]:
    if "lengths" in more:
        more["lengths"] = more["lengths"].astype(int32)
    x, weights, hidden = operands
    return recurrence(cell, x, weights, hidden, **more, **options)


def _apply_on_host(
    cell: str, operands: tuple[Array, ...], more: dict[str, Any], options: dict[str, Any]
) -> tuple[Array, Array]:
    import numpy as np

    time = len(operands[0])
    attrs = {"given": tuple(more), "cell": cell, "order": plain_order(cell), **options}
    made = layer.numpy(np, *operands, *more.values(), **attrs)
    return made[:time], made[time:]


@operator("RNN")
@operator("GRU")
def _rnn(
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
def _lstm(
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
    call: Call, np: NumPy, states: int, x: Array, w: Array, r: Array, *others: Array | None
) -> tuple[Array, ...]:
    """For states that are too large for a device."""
    more: list[Array | None] = [*others, None, None, None, None]
    b, lengths, *rest = more
    made = _run(call, np, x, w, r, b, lengths, rest[:states], rest[states])
    return tuple(np.ascontiguousarray(value, dtype=x.dtype) for value in made)


@host_operator("RNN")
@host_operator("GRU")
def _rnn_on_host(
    call: Call,
    np: NumPy,
    x: Array,
    w: Array,
    r: Array,
    b: Array | None = None,
    lens: Array | None = None,
    h: Array | None = None,
) -> tuple[Array, ...]:
    return _on_host(call, np, 1, x, w, r, b, lens, h)


@host_operator("LSTM")
def _lstm_on_host(
    call: Call,
    np: NumPy,
    x: Array,
    w: Array,
    r: Array,
    b: Array | None = None,
    lens: Array | None = None,
    h: Array | None = None,
    c: Array | None = None,
    p: Array | None = None,
) -> tuple[Array, ...]:
    return _on_host(call, np, 2, x, w, r, b, lens, h, c, p)
