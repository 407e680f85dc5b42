"""8-bit weights of recurrent layers (ops/dynamic_recurrence.py), as the kernels read them; how many
steps a kernel takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .... import functions as f
from ....compile.passes.dynamic import changed, composed_steps
from ....core import dtype as dt
from ....graph import Graph, Node, make, rebuild
from ....ops import dynamic_recurrence
from ....ops.kinds import Attrs
from ....ops.recurrence import LANES, MAX_TURNS
from ....tensor import Tensor
from ..codegen.choice import Traits

_SHARED = 1 << 16
"""Multiply-adds of a gate in a step for which a dispatch of its own pays."""

Part = Callable[[Sequence[Tensor], Attrs], Tensor]


def words_dynamic(graph: Graph) -> Graph:
    """The graph with weights as the kernel of WebGPU reads them; with the steps one by one where
    there are more states than it has room for."""
    return changed(graph, _in_words)


def single_steps(graph: Graph, traits: Traits) -> Graph:
    """The graph with the steps of large recurrent layers one by one, if a CPU plays the device: its
    cores share a step, while all steps are the work of a single workgroup, with barriers."""
    if not traits.software:
        return graph

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        _, directions, batch, size = node.shape
        if directions * batch * size * size < _SHARED:
            return rebuild(node, inputs)
        return _in_parts([Tensor(each) for each in inputs], node.attrs, 1, _single_step)

    return graph.rewrite(rule, (dynamic_recurrence.word_steps,))


def _in_words(node: Node, inputs: tuple[Node, ...]) -> Node:
    x, hidden, zero, *others = map(Tensor, inputs)
    _, batch, _, width = x.shape
    size = width // dynamic_recurrence.GATES
    rows = dynamic_recurrence.word_rows(size)
    if not batch or batch * rows > dynamic_recurrence.WORDS:
        return composed_steps(node, inputs)
    middle = 128 if hidden.dtype == dt.uint8 else 0
    zeros = zero.astype(dt.int32) - middle
    weights = dynamic_recurrence.words(f, hidden.astype(dt.int32) - middle, zeros)
    most = _most_steps(batch * size, rows)
    return _in_parts([x, weights, *others], node.attrs, most, _some_steps)


def _some_steps(operands: Sequence[Tensor], attrs: Attrs) -> Tensor:
    nodes = (each.node for each in operands)
    return Tensor(make(dynamic_recurrence.word_steps, *nodes, **attrs))


def _single_step(operands: Sequence[Tensor], attrs: Attrs) -> Tensor:
    x, weights, scale, states, extra, lengths = operands
    rounded = make(dynamic_recurrence.round_states, states[0].node, lengths.node)
    nodes = (each.node for each in (x, weights, Tensor(rounded), scale, states, extra, lengths))
    return Tensor(make(dynamic_recurrence.word_step, *nodes, **attrs))


def _in_parts(operands: Sequence[Tensor], attrs: Attrs, most: int, part: Part) -> Node:
    """The steps, at most so many at a time."""
    x, weights, scale, states, extra, lengths = operands
    time = x.shape[0]
    if time <= most:
        return part(operands, attrs).node
    starts = range(0, time, most)
    # A row for each part, since numbers in the text of a kernel would make many kernels of one.
    left = f.expand_dims(lengths, 0) - f.expand_dims(f.arange(0, time, most, dtype=dt.int32), 1)
    # A direction after the other, since their parts are others.
    lines = []
    for d, back in enumerate(attrs["backward"]):
        own = slice(d, d + 1)
        options = {**attrs, "backward": (back,)}
        state, found = states[:, own], []
        for number, start in enumerate(starts):
            end = min(start + most, time)
            here = slice(time - end, time - start) if back else slice(start, end)
            inputs = x[here, :, own], weights[own], scale[own], state, extra[own], left[number]
            made = part(inputs, options)
            found.append(made[: end - start])
            state = made[end - start :]
        lines.append(f.concat([*found[:: -1 if back else 1], state]))
    return f.concat(lines, axis=1).node


def _most_steps(elements: int, rows: int) -> int:
    """Steps that an invocation of WebGPU's kernel may take, as `most_steps` of ops/recurrence.py
    says."""
    each = -(-elements // LANES)
    return max(1, MAX_TURNS // (each * (rows // dynamic_recurrence.WORD_ROWS + 7) + 16))
