"""Layout: permutes sink towards the outputs until they meet their opposites and vanish.

Convolutions and pools are channels-last, and the functions that users call wrap them in permutes
from and to NCHW. Moving each permute below the ops that do not care leaves whole regions
channels-last, with permutes at their borders only.
"""

from __future__ import annotations

from ...graph import Graph, Node, make, rebuild
from ...ops import gather, movement
from ...ops.kinds import Elementwise, Reduce
from . import rewrite

Axes = tuple[int, ...]


# Why: docs/decisions/engine.md, "Convolution and pooling are channels-last primitives"
def layout(graph: Graph) -> Graph:
    """The same graph with its permutes as late as they can be."""
    return graph.rewrite(lambda node, inputs: _sink(rebuild(node, inputs)))


def _order(node: Node) -> Axes | None:
    """The permutation with which a node ends, if it ends with one."""
    return node.attrs["axes"] if node.op is movement.permute else None


def _sink(node: Node) -> Node:
    op = node.op
    orders = {order for order in map(_order, node.inputs) if order is not None}
    if op is movement.permute:
        return rewrite.permute(node.inputs[0], node.attrs["axes"])
    if len(orders) != 1:
        return node
    (order,) = orders
    if isinstance(op, Elementwise):
        inner = [_before(child, order) for child in node.inputs]
        moved = [new for new in inner if new is not None]
        if len(moved) < len(inner):
            return node
        return rewrite.permute(make(op, *moved, **node.attrs), order)
    source = node.inputs[0].inputs[0] if _order(node.inputs[0]) else node.inputs[0]
    if isinstance(op, Reduce) and not op.indexed:
        axes = tuple(sorted(order[axis] for axis in node.attrs["axes"]))
        return rewrite.permute(make(op, source, axes=axes), order)
    if isinstance(op, Reduce):
        (axis,) = node.attrs["axes"]
        return rewrite.permute(make(op, source, axes=(order[axis],)), order)
    back = rewrite.inverse(order)
    if op is movement.pad:
        pads = tuple(node.attrs["pads"][axis] for axis in back)
        return rewrite.permute(make(op, source, pads=pads, value=node.attrs["value"]), order)
    if op is movement.slice_:
        attrs = {
            name: tuple(values[axis] for axis in back)
            for name, values in (*node.attrs.items(), ("shape", node.shape))
        }
        return rewrite.permute(make(op, source, **attrs), order)
    if op is gather.take and _order(node.inputs[0]) and len(node.inputs[1].shape) == 1:
        gathered = make(op, source, node.inputs[1], axis=order[node.attrs["axis"]])
        return rewrite.permute(gathered, order)
    if op is movement.concat and all(_order(child) == order for child in node.inputs):
        sources = [child.inputs[0] for child in node.inputs]
        return rewrite.permute(make(op, *sources, axis=order[node.attrs["axis"]]), order)
    return node


def _before(node: Node, order: Axes) -> Node | None:
    """What, permuted by `order`, is the node; None if that would cost a copy."""
    if _order(node) == order:
        return node.inputs[0]
    back = rewrite.inverse(order)
    if node.op is movement.expand or node.is_constant or _is_static(node):
        return rewrite.permute(node, back)
    return None


def _is_static(node: Node) -> bool:
    """Whether a short chain of single-input ops ends in a constant."""
    while len(node.inputs) == 1:
        node = node.inputs[0]
    return node.is_constant
