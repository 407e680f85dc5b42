"""Recurrent layers as ONNX's RNN, GRU and LSTM."""

from __future__ import annotations

from typing import Any

from .... import functions as f
from ....core import dtype as dt
from ....functional.recurrent import recurrence
from ....graph import Node
from ....ops.kinds import Attrs
from ....ops.recurrence import GATES
from ....tensor import Tensor
from ..operators.nn.recurrent import ALPHAS, BETAS, DIRECTIONS
from .forms import Inputs, absent, form, integers, number, refused


def layer(node: Node, inputs: Inputs) -> Node:
    """The operator's outputs, joined into the op's single result."""
    x, weights, hidden, *more = inputs
    found = dict(zip(node.attrs["given"], more, strict=True))
    time, (directions, batch, size) = x.shape[0], node.shape[1:]
    states = [
        form("Gather", found["states"], number(i, dt.int64), shape=node.shape[1:], axis=0)
        if "states" in found
        else absent()
        for i in range(node.shape[0] - time)
    ]
    operands = [found.get("bias", absent()), found.get("lengths", absent()), *states]
    if "peepholes" in found:
        operands.append(found["peepholes"])
    outputs = [
        form(
            node.attrs["cell"].upper(),
            x,
            weights,
            hidden,
            *operands,
            shape=node.shape[1:] if index else (time, *node.shape[1:]),
            before=index,
            hidden_size=size,
            **_attributes(node.attrs),
        )
        for index in range(1 + len(states))
    ]
    last = [
        form("Unsqueeze", state, integers(0), shape=(1, directions, batch, size))
        for state in outputs[1:]
    ]
    return form("Concat", outputs[0], *last, shape=node.shape, axis=0)


def _attributes(attrs: Attrs) -> dict[str, Any]:
    directions = len(attrs["backward"])
    functions = attrs["activations"] * directions
    made: dict[str, Any] = {
        "direction": {way: name for name, way in DIRECTIONS.items()}[attrs["backward"]],
        "activations": tuple(name for name, _, _ in functions),
    }
    alphas = tuple(alpha for name, alpha, _ in functions if name in ALPHAS)
    betas = tuple(beta for name, _, beta in functions if name in BETAS)
    more = {"activation_alpha": alphas, "activation_beta": betas, "clip": attrs["clip"]}
    more |= {name: int(attrs[name]) for name in ("linear_before_reset", "input_forget")}
    return made | {name: value for name, value in more.items() if value}


def steps(node: Node, inputs: Inputs) -> Tensor:
    """All steps over projected inputs, as a layer whose input weights are the identity."""
    x, hidden, states, extra, lengths = map(Tensor, inputs)
    time, batch, directions, width = x.shape
    if node.attrs["steps"] != time:
        raise refused(node, "whole sequences")
    cell, size = node.attrs["cell"], node.shape[3]
    gates = f.permute_dims(f.reshape(hidden, (directions, size, size, 4)), (0, 3, 2, 1))
    peepholes = bias = None
    if cell == "lstm":
        peepholes = extra[:, : 3 * size]
    elif node.attrs["linear_before_reset"]:
        none = f.zeros((directions, width + 2 * size), x.dtype)
        bias = f.concat([none, extra[:, 2 * size :]], axis=1)
    passed_on = ("activations", "clip", "linear_before_reset", "input_forget")
    y, last = recurrence(
        cell,
        f.reshape(x, (time, batch, directions * width)),
        f.reshape(f.eye(directions * width), (directions, width, directions * width)),
        f.reshape(gates[:, : GATES[cell]], (directions, width, size)),
        bias=bias,
        lengths=lengths,
        states=states,
        peepholes=peepholes,
        backward=node.attrs["backward"],
        **{name: node.attrs[name] for name in passed_on},
    )
    return f.concat([y, last])
