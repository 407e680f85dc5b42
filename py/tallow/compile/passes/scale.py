"""Batch norm folding: a known factor per output channel moves into a convolution's weight.

conv(x, w) * s is conv(x, w * s), and (conv(x, w) + b) * s is conv(x, w * s) + b * s. The products
of weights then run once, in `prepare`. Weights of whole numbers are left as they are: a quantised
convolution is exact before its factor, and what is rounded after it must be so on the right side.
"""

from __future__ import annotations

from ...graph import Graph, Node, consumers, make, rebuild
from ...ops import elementwise as e
from ...ops import movement, window
from ...ops.kinds import Movement
from ..partition import static_nodes
from . import rewrite


def fold_scales(graph: Graph) -> Graph:
    """The graph with factors per channel moved into the convolutions before them."""
    static = static_nodes(graph)
    readers = consumers(graph.nodes())
    single = {node for node, reads in readers.items() if len(reads) == 1}
    origin: dict[Node, Node] = {}  # of a rewritten node, the node it stands for

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        new = rebuild(node, inputs)
        if node.op is e.multiply:
            for value, factor in (node.inputs, node.inputs[::-1]):
                if factor in static and value not in static and value in single:
                    scaled = _scaled(
                        inputs[node.inputs.index(value)], _per_channel(factor), single, origin
                    )
                    new = scaled or new
                    if scaled:
                        break
        origin[new] = node
        return new

    return graph.rewrite(rule)


def _per_channel(factor: Node) -> Node | None:
    """The factor as (1, 1, 1, channels), if it only varies along the last axis."""
    if factor.op is not movement.expand or len(factor.shape) != 4:
        return None
    inner = factor.inputs[0]
    return inner if inner.shape[:3] == (1, 1, 1) else None


def _scaled(
    value: Node, factor: Node | None, single: set[Node], origin: dict[Node, Node]
) -> Node | None:
    """`value` times `factor` without a multiplication at run time, if that can be."""
    if factor is None:
        return None
    if value.op is window.conv2d:
        x, weight = value.inputs
        if _is_whole(weight):
            return None
        scaled = make(e.multiply, weight, rewrite.expand(factor, weight.shape))
        return make(value.op, x, scaled, **value.attrs)
    if value.op is not e.add:
        return None
    for conv, bias in (value.inputs, value.inputs[::-1]):
        if conv.op is window.conv2d and origin.get(conv, conv) in single:
            offset = _per_channel(bias)
            if offset is None:
                continue
            product = make(e.multiply, *_alike(offset, factor))
            inside = _scaled(conv, factor, single, origin)
            if inside is not None:
                return make(e.add, inside, rewrite.expand(product, value.shape))
    return None


def _is_whole(node: Node) -> bool:
    """Whether the node is whole numbers, seen as floating ones."""
    while isinstance(node.op, Movement) and node.inputs:
        node = node.inputs[0]
    return node.op is e.cast and node.inputs[0].dtype.is_integer


def _alike(a: Node, b: Node) -> tuple[Node, Node]:
    shape = (1, 1, 1, max(a.shape[3], b.shape[3]))
    return rewrite.expand(a, shape), rewrite.expand(b, shape)
