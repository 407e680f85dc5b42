"""Recurrent layers and their gradients, as devices compute them.

A layer is a product for all its inputs, and kernels that take as many steps as they may. Where its
gradient is in the graph, too, the kernels keep what that needs (ops/recurrence_training.py). Then
kernels go back along the sequence, and give the gradients of what went into the gates; those of the
weights are products over all steps. Layers of other activations take the way of
autodiff/recurrence.py, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ... import functions as f
from ...functions.linear_algebra import projected
from ...graph import Graph, Node, make
from ...ops import recurrence as ops
from ...ops.kinds import Op
from ...ops.recurrence_gradient import recurrence_gradient
from ...ops.recurrence_training import has_kernels, kept_blocks, recurrence_back, recurrence_kept
from ...tensor import Tensor

MAX_BACK = 1024
"""Elements of a state for which WebGPU's kernel of the gradient has room."""


class _Part(NamedTuple):
    """Some steps, and what the kernel for them gives."""

    start: int
    steps: int
    made: Tensor


class _Layer(NamedTuple):
    """The operands of the steps (`recurrence.split`), and the parts in the order in which they are
    taken."""

    operands: tuple[Tensor, ...]
    parts: list[_Part]


class Layers:
    """The layers of a graph.

    whole: whether one kernel takes all steps. most: the largest state whose gradient has a kernel.
    """

    def __init__(self, graph: Graph, *, whole: bool = False, most: int = 0) -> None:
        self._whole, self._most = whole, most
        self._kept: dict[Node, _Layer] = {}
        self._trained: set[Node] = {
            node.inputs[1]
            for node in graph.nodes()
            if node.op is recurrence_gradient and self._has_kernels(node) and _is_its_layer(node)
        }

    def rules(self) -> Mapping[Op, Callable[[Node, tuple[Node, ...]], Node]]:
        """What replaces the nodes."""
        return {ops.recurrence: self._forward, recurrence_gradient: self._gradient}

    def _has_kernels(self, node: Node) -> bool:
        size = node.inputs[4].shape[2]
        return has_kernels(node.attrs) and size <= (self._most or size)

    def _forward(self, node: Node, inputs: tuple[Node, ...]) -> Node:
        keeps = node in self._trained
        layer = _steps(
            inputs, node.attrs, recurrence_kept if keeps else ops.recurrence_steps, self._whole
        )
        if keeps:
            self._kept[node] = layer
        return _result(layer, node.attrs).node

    def _gradient(self, node: Node, inputs: tuple[Node, ...]) -> Node:
        if not self._has_kernels(node):
            return gradient_composed(*map(Tensor, inputs), **node.attrs).node
        layer = self._kept.get(node.inputs[1]) if _is_its_layer(node) else None
        layer = layer or _steps(inputs[2:], node.attrs, recurrence_kept, self._whole)
        return _back(Tensor(inputs[0]), layer, list(map(Tensor, inputs[2:])), node.attrs).node


def gradient_composed(*operands: Tensor, **attrs: Any) -> Tensor:
    """The gradient step by step."""
    from ...autodiff.recurrence import composed  # a graph without derivatives needs no rules

    return composed(*operands, **attrs)


def _is_its_layer(node: Node) -> bool:
    """Whether a gradient's second operand is the layer itself, and no value that it once had."""
    layer = node.inputs[1]
    return (
        layer.op is ops.recurrence
        and layer.inputs == node.inputs[2:]
        and tuple(layer.attrs.items()) == tuple(node.attrs.items())
    )


def _attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attrs.items() if name not in ("given", "order")}


def _steps(inputs: Sequence[Node], attrs: Mapping[str, Any], op: Op, whole: bool) -> _Layer:
    """The parts of the sequence one after the other, a backward direction's from its end."""
    operands = ops.split(f, projected, list(map(Tensor, inputs)), attrs)
    x, hidden, states, extra, lengths = operands
    time, count = x.shape[0], states.shape[0]
    most = time if whole else ops.most_steps(attrs["cell"], hidden.shape[2])
    packed = ops.packed(f, hidden)
    parts: list[_Part] = []
    for start in range(0, time, most):
        steps = min(most, time - start)
        nodes = (value.node for value in (x, packed, states, extra, lengths))
        made = Tensor(make(op, *nodes, start=start, steps=steps, **_attrs(attrs)))
        parts.append(_Part(start, steps, made))
        states = made[steps : steps + count]
    return _Layer(operands, parts)


def _result(layer: _Layer, attrs: Mapping[str, Any]) -> Tensor:
    count = layer.operands[2].shape[0]
    end = layer.parts[-1]
    if len(layer.parts) == 1:
        return end.made[: end.steps + count]
    rows = _rows([part.made[: part.steps] for part in layer.parts], attrs, 1)
    return f.concat([rows, end.made[end.steps : end.steps + count]])


def _rows(parts: Sequence[Tensor], attrs: Mapping[str, Any], axis: int) -> Tensor:
    """The rows of all parts in the order of time. axis: that of the directions."""
    if len(parts) == 1:
        return parts[0]
    lines = []
    for d, back in enumerate(attrs["backward"]):
        of = (slice(None),) * axis + (slice(d, d + 1),)
        lines.append(f.concat([part[of] for part in parts[:: -1 if back else 1]]))
    return f.concat(lines, axis=axis)


def _back(
    gradient: Tensor, layer: _Layer, operands: Sequence[Tensor], attrs: Mapping[str, Any]
) -> Tensor:
    """`recurrence_gradient`."""
    x, hidden, first, extra, lengths = layer.operands
    (time, batch, directions, width), (count, *_, size) = x.shape, first.shape
    after = gradient[time:]
    found: list[Tensor] = []
    for part in reversed(layer.parts):
        nodes = (each.node for each in (gradient, part.made, hidden, after, extra, lengths))
        options = {"start": part.start, "steps": part.steps, **_attrs(attrs)}
        made = Tensor(make(recurrence_back, *nodes, **options))
        found.append(made[: part.steps])
        states = made[part.steps, :, :, : count * size]
        states = f.reshape(states, (batch, directions, count, size))
        after = f.permute_dims(states, (2, 1, 0, 3))
    into = _rows(found[::-1], attrs, 2)  # (T, B, D, G * H)

    def block(number: int) -> Tensor:
        """One of the states that were kept, (T, D, B, H)."""
        rows = []
        for part in layer.parts:
            begin = part.steps * (1 + number) + count
            rows.append(part.made[begin : begin + part.steps])
        return _rows(rows, attrs, 1)

    gates = [into[..., gate * size : (gate + 1) * size] for gate in range(width // size)]
    weights, ends = [], extra
    before, linear = block(0), attrs["linear_before_reset"]
    reset = f.permute_dims(block(2), (0, 2, 1, 3)) if attrs["cell"] == "gru" else None
    if reset is not None and linear:
        gates[2] = gates[2] * reset
    for d in range(directions):
        lines = [f.reshape(gate[:, :, d], (time * batch, size)) for gate in gates]
        met = f.reshape(before[:, d], (time * batch, size))
        if reset is not None and not linear:
            shown = met * f.reshape(reset[:, :, d], (time * batch, size))
            both = f.concat(lines[:2], axis=1)
            weights.append(f.concat([both.mT @ met, lines[2].mT @ shown]))
        elif reset is not None:
            weights.append(f.concat(lines, axis=1).mT @ met)
        else:
            weights.append(f.reshape(into[:, :, d], (time * batch, width)).mT @ met)
    if reset is not None and linear:
        ends = f.concat([extra[:, : 2 * size], f.sum(gates[2], axis=(0, 1))], axis=1)
    elif "peepholes" in attrs["given"]:
        enter, _, forget, new, old = (
            f.permute_dims(block(number), (0, 2, 1, 3)) for number in range(1, kept_blocks(attrs))
        )
        cell = (1.0 - enter if attrs["input_forget"] else forget) * old + enter * new
        met_cells = zip(gates, (old, cell, old), strict=False)
        sums = [f.sum(gate * seen, axis=(0, 1)) for gate, seen in met_cells]
        ends = f.concat([*sums, f.zeros_like(sums[0])], axis=1)
    parts = into, f.stack(weights), after, ends
    joined = ops.join(f, projected, parts, operands, attrs)
    return f.concat([f.reshape(each, (-1,)) for each in joined])
