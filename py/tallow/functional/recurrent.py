"""Recurrent layers: RNN, GRU and LSTM along a sequence."""

from __future__ import annotations

from collections.abc import Sequence

from ..casting import in_float32
from ..errors import OptionError
from ..graph import make
from ..ops import recurrence as ops
from ..tensor import Tensor

Activation = tuple[str, float, float]

DEFAULTS: dict[str, tuple[Activation, ...]] = {
    "rnn": (("Tanh", 0.0, 0.0),),
    "gru": (("Sigmoid", 0.0, 0.0), ("Tanh", 0.0, 0.0)),
    "lstm": (("Sigmoid", 0.0, 0.0), ("Tanh", 0.0, 0.0), ("Tanh", 0.0, 0.0)),
}
"""Activations of the gates, of the hidden or cell gate, and of the output of an LSTM's cell."""


@in_float32
def recurrence(
    cell: str,
    x: Tensor,
    weights: Tensor,
    hidden: Tensor,
    *,
    bias: Tensor | None = None,
    lengths: Tensor | None = None,
    states: Tensor | None = None,
    peepholes: Tensor | None = None,
    backward: Sequence[bool] = (False,),
    activations: Sequence[Activation] | None = None,
    clip: float = 0.0,
    linear_before_reset: bool = False,
    input_forget: bool = False,
    order: Sequence[int] | None = None,
) -> tuple[Tensor, Tensor]:
    """The hidden state after each step (T, D, B, H), and the last states (S, D, B, H).

    cell: "rnn", "gru" or "lstm". x (T, B, I); weights (D, G * H, I), hidden (D, G * H, H), bias
    (D, 2 * G * H), lengths (B,) and the others are described in ops/recurrence.py.
    activations: (name, alpha, beta), with names as in ONNX. order: where each of ONNX's gates is
    among those of weights, hidden and bias; theirs if None. Raises OptionError for an unknown cell,
    activation or order, ShapeError and DTypeError for operands that do not fit.
    """
    if cell not in DEFAULTS:
        raise OptionError(f"recurrence: the cell {cell!r} is not one of {', '.join(DEFAULTS)}")
    chosen = tuple(activations or DEFAULTS[cell])
    if len(chosen) != len(DEFAULTS[cell]) or any(a[0] not in ops.ACTIVATIONS for a in chosen):
        raise OptionError(f"recurrence: the activations {chosen} are invalid for the cell {cell!r}")
    plain = ops.plain_order(cell)
    gates = plain if order is None else tuple(order)
    if tuple(sorted(gates)) != plain:
        raise OptionError(f"recurrence: the order {gates} does not name each of {plain} once")
    optional = {"bias": bias, "lengths": lengths, "states": states, "peepholes": peepholes}
    given = {name: value.node for name, value in optional.items() if value is not None}
    node = make(
        ops.recurrence,
        x.node,
        weights.node,
        hidden.node,
        *given.values(),
        given=tuple(given),
        cell=cell,
        backward=tuple(map(bool, backward)),
        activations=chosen,
        clip=float(clip),
        linear_before_reset=linear_before_reset,
        input_forget=input_forget,
        order=gates,
    )
    result, steps = Tensor(node), x.shape[0]
    return result[:steps], result[steps:]
