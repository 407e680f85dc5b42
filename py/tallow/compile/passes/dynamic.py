"""8-bit weights of recurrent layers (ops/dynamic_recurrence.py), in the form of each device. What
changes them reaches no input, so it runs once, before the first answer."""

from __future__ import annotations

from collections.abc import Callable

from ... import dtype as dt
from ... import functions as f
from ...functional.dynamic_recurrence import composed
from ...graph import Graph, Node, make, rebuild
from ...ops import dynamic_recurrence
from ...tensor import Tensor


def pack_dynamic(graph: Graph) -> Graph:
    """The graph with weights as the kernel of WebAssembly reads them."""
    return _changed(graph, _packed)


def float_dynamic(graph: Graph) -> Graph:
    """The graph with weights as NumPy multiplies them: float32, less their zero points."""
    return _changed(graph, _as_floats)


def compose_dynamic(graph: Graph) -> Graph:
    """The graph with the steps one by one."""
    return _changed(graph, _composed)


def _changed(graph: Graph, change: Callable[[Node, tuple[Node, ...]], Node]) -> Graph:
    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        fresh = node.op is dynamic_recurrence.dynamic_steps and inputs[1].dtype.size == 1
        return (
            change(node, inputs) if fresh and len(inputs[1].shape) == 3 else rebuild(node, inputs)
        )

    return graph.rewrite(rule)


def _packed(node: Node, inputs: tuple[Node, ...]) -> Node:
    x, hidden, zero, scale, *others = inputs
    rows = dynamic_recurrence.by_elements(f, Tensor(scale))
    zeros = f.zeros(rows.shape, dt.int32)
    if not zero.is_constant or any(zero.attrs["data"].flat()):
        zeros = dynamic_recurrence.by_elements(f, Tensor(zero).astype(dt.int32))
    weights = dynamic_recurrence.packed(f, Tensor(hidden))
    operands = x, weights.node, zeros.node, rows.node, *others
    return make(node.op, *operands, **node.attrs)


def _as_floats(node: Node, inputs: tuple[Node, ...]) -> Node:
    x, hidden, zero, *others = inputs
    spread = f.expand_dims(Tensor(zero).astype(dt.float32), 1)
    weights = Tensor(hidden).astype(dt.float32) - spread
    return make(node.op, x, weights.node, zero, *others, **node.attrs)


def _composed(node: Node, inputs: tuple[Node, ...]) -> Node:
    return composed(*map(Tensor, inputs), **node.attrs).node
