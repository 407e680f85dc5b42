"""LinearAttention: a state of keys times values instead of a softmax (Katharopoulos et al. 2020).

Written against the array API: `xp` is tallow.functions, or NumPy for long sequences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..... import functions as f
from .....core import dtype as dt
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....tensor import Tensor
from ...call import Call
from ...registry import host_operator, operator

if TYPE_CHECKING:
    from .....arrays import A, Array, Functions, NumPy

MAX_STEPS = 256
"""The most steps that are unrolled; without decay and correction there is no limit."""

_RULES = ("gated_delta", "linear", "gated", "delta")


def _steps(
    xp: Functions[A],
    query: A,
    key: A,
    value: A,
    state: A,
    decay: A | None,
    beta: A | None,
) -> tuple[A, A]:
    """Computes step by step; see `_attend` for the shapes. decay: factors of the state."""
    outputs = []
    for t in range(query.shape[2]):
        k = key[:, :, t : t + 1]
        v = value[:, :, t : t + 1]
        if decay is not None:
            state = state * xp.expand_dims(decay[:, :, t], axis=-1)
        if beta is not None:
            v = (v - xp.matmul(k, state)) * xp.expand_dims(beta[:, :, t], axis=-1)
        state = state + xp.permute_dims(k, (0, 1, 3, 2)) * v
        outputs.append(xp.matmul(query[:, :, t], state))
    return xp.stack(outputs, axis=2), state


def _all_steps(xp: Functions[A], query: A, key: A, value: A, state: A) -> tuple[A, A]:
    """All steps of the linear rule at once, as masked attention: the state only accumulates."""
    rows = xp.permute_dims(query, (0, 1, 3, 2, 4))
    transposed = xp.permute_dims(key, (0, 1, 3, 2))
    scores = xp.tril(xp.matmul(rows, xp.expand_dims(transposed, axis=2)))
    made = xp.matmul(scores, xp.expand_dims(value, axis=2))
    made = made + xp.matmul(rows, xp.expand_dims(state, axis=2))
    return xp.permute_dims(made, (0, 1, 3, 2, 4)), state + xp.matmul(transposed, value)


def _attend(
    call: Call,
    xp: Any,
    query: A,
    key: A,
    value: A,
    state: A | None,
    decay: A | None,
    beta: A | None,
) -> tuple[A, A]:
    """The result (batch, time, heads * n) and the last state, in float32 or wider.

    Inside: query (batch, key heads, time, group, d), key and value (batch, key heads, time, d or
    n), state (batch, key heads, d, n).
    """
    heads, shared = call.get("q_num_heads", int), call.get("kv_num_heads", int)
    rule = call.choice("update_rule", *_RULES)
    scale = call.get("scale", float, 0.0)
    call.ignore("chunk_size")
    if ("gated" in rule) != (decay is not None) or ("delta" in rule) != (beta is not None):
        raise OnnxFormatError(f"decay goes with a gated rule, beta with a delta rule: {rule!r}")
    if not query.ndim == key.ndim == value.ndim == 3 or shared < 1 or heads < 1 or heads % shared:
        raise OnnxFormatError(
            f"query {query.shape}, key {key.shape} and value {value.shape} need three axes each, "
            f"and {heads} heads must be a multiple of {shared}"
        )
    batch, time = query.shape[:2]
    d, n = query.shape[2] // heads, value.shape[2] // shared
    shapes = [(batch, time, heads * d), (batch, time, shared * d), (batch, time, shared * n)]
    if [tuple(x.shape) for x in (query, key, value)] != shapes:
        raise OnnxFormatError(
            f"query {query.shape}, key {key.shape} and value {value.shape} do not fit "
            f"{heads} heads and {shared} key heads"
        )
    if not time:
        raise OnnxFormatError("the sequence has no steps")
    if xp is f and rule != "linear" and time > MAX_STEPS:
        raise OnnxUnsupportedError(f"{time} steps are more than {MAX_STEPS}")

    def by_heads(x: A, what: str) -> A:
        one = x.ndim == 3 and x.shape[2] == 1
        if x.ndim != 3 or x.shape[:2] != (batch, time) or not (one or x.shape[2] % shared == 0):
            raise OnnxFormatError(f"{what} {x.shape} does not fit {shared} key heads")
        split = (batch, time, 1, 1) if one else (batch, time, shared, x.shape[2] // shared)
        made: A = xp.permute_dims(xp.reshape(x, split), (0, 2, 1, 3))
        return made

    grouped = xp.reshape(query, (batch, time, shared, heads // shared, d))
    grouped = xp.permute_dims(grouped, (0, 2, 1, 3, 4)) * (scale or 1 / math.sqrt(max(d, 1)))
    if state is None:
        state = xp.zeros((batch, shared, d, n), query.dtype)
    elif tuple(state.shape) != (batch, shared, d, n):
        raise OnnxFormatError(f"past_state is {state.shape}, not {(batch, shared, d, n)}")
    parts = grouped, by_heads(key, "key"), by_heads(value, "value"), state
    if rule == "linear":
        made, last = _all_steps(xp, *parts)
    else:
        gates = None if decay is None else xp.exp(by_heads(decay, "decay"))
        made, last = _steps(xp, *parts, gates, None if beta is None else by_heads(beta, "beta"))
    made = xp.permute_dims(made, (0, 2, 1, 3, 4))
    return xp.reshape(made, (batch, time, heads * n)), last


@operator("LinearAttention", since=27)
def linear_attention(
    call: Call,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_state: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
) -> list[Tensor]:
    """Computed in float32, whatever the types of the inputs."""
    wide: list[Any] = [
        None if x is None else x.astype(dt.float32)
        for x in (query, key, value, past_state, decay, beta)
    ]
    made, state = _attend(call, f, *wide)
    state_type = query.dtype if past_state is None else past_state.dtype
    return [made.astype(query.dtype), state.astype(state_type)]


@host_operator("LinearAttention", since=27)
def _linear_attention_on_host(
    call: Call, np: NumPy, query: Array, key: Array, value: Array, *others: Array
) -> tuple[Array, ...]:
    past, decay, beta = [*others, None, None, None][:3]
    inputs = (query, key, value, past, decay, beta)
    wide: list[Any] = [None if x is None else x.astype(np.float32) for x in inputs]
    made, state = _attend(call, np, *wide)
    state_type = query.dtype if past is None else past.dtype
    return made.astype(query.dtype), state.astype(state_type)
