"""8-bit weights of recurrent layers (ops/dynamic_recurrence.py): what gives them the form that a
device reads. It reaches no input, so it runs once, before the first answer."""

from __future__ import annotations

from collections.abc import Callable

from ...functional.dynamic_recurrence import composed
from ...graph import Graph, Node, rebuild
from ...ops import dynamic_recurrence
from ...tensor import Tensor


def compose_dynamic(graph: Graph) -> Graph:
    """The graph with the steps one by one."""
    return changed(graph, composed_steps)


def changed(graph: Graph, change: Callable[[Node, tuple[Node, ...]], Node]) -> Graph:
    """The graph with another node for each layer whose weights are as they were declared."""

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        fresh = inputs[1].dtype.size == 1 and len(inputs[1].shape) == 3
        return change(node, inputs) if fresh else rebuild(node, inputs)

    return graph.rewrite(rule, (dynamic_recurrence.dynamic_steps,))


def composed_steps(node: Node, inputs: tuple[Node, ...]) -> Node:
    """The steps of a layer, one by one."""
    return composed(*map(Tensor, inputs), **node.attrs).node
