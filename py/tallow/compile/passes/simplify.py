"""Algebraic clean-up and common subexpressions: the same graph, said shorter."""

from __future__ import annotations

import math
from typing import Any

from ...core.hostarray import HostArray, from_values
from ...graph import Graph, Node, constant, make, rebuild
from ...ops import elementwise as e
from ...ops import gather, movement, window
from . import rewrite


def simplify(graph: Graph) -> Graph:
    """Removes what changes nothing and shares what is computed twice."""
    seen: dict[Any, Node] = {}

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        new = _simpler(rebuild(node, inputs))
        attrs = _known(new.attrs["data"]) if new.is_constant else new.attrs.exact
        return seen.setdefault((new.op, new.inputs, new.dtype, new.shape, attrs), new)

    return graph.rewrite(rule)


def _known(data: HostArray) -> Any:
    """Constants are equal if they hold the same bytes; large ones only if they are the same."""
    return bytes(data.data) if data.nbytes <= 256 else id(data)


def _scalar(node: Node) -> float | None:
    """The number that a node holds everywhere, if it does."""
    while node.op in (movement.expand, movement.reshape):
        node = node.inputs[0]
    if not node.is_scalar_constant:
        return None
    value: float = node.attrs["data"].item()
    return value


def _simpler(node: Node) -> Node:
    op, inputs = node.op, node.inputs
    if op is movement.reshape:
        return rewrite.reshape(inputs[0], node.shape)
    if op is movement.permute:
        return rewrite.permute(inputs[0], node.attrs["axes"])
    if op is movement.expand:
        return rewrite.expand(inputs[0], node.shape)
    if op is movement.concat:
        return _concat(node)
    if op in (gather.take, gather.take_along_axis):
        return _gather(node)
    if op is movement.slice_:
        return _slice(node)
    if op is e.cast and node.dtype == inputs[0].dtype:
        return inputs[0]
    if op in (e.add, e.subtract) and _scalar(inputs[1]) == 0:
        return inputs[0]
    if op is e.add and _scalar(inputs[0]) == 0:
        return inputs[1]
    if op in (e.multiply, e.divide) and _scalar(inputs[1]) == 1:
        return inputs[0]
    if op is e.multiply and _scalar(inputs[0]) == 1:
        return inputs[1]
    if op is e.divide:
        return _divide(node)
    if op in _OF_NOTHING and node.dtype.is_floating and not all(each.size for each in inputs):
        return _everywhere(_OF_NOTHING[op], node)
    return node


_OF_NOTHING = {
    window.conv2d: 0.0,
    window.conv2d_weight: 0.0,
    window.sum_pool2d: 0.0,
    window.max_pool2d: -math.inf,
}
"""What windows give that see nothing but padding: no kernel may read an image without elements."""


def _everywhere(value: float, node: Node) -> Node:
    number = constant(from_values([value], (1,) * len(node.shape), node.dtype))
    return rewrite.expand(number, node.shape)


def _concat(node: Node) -> Node:
    """A join without the parts that are empty."""
    parts = [part for part in node.inputs if part.size]
    if not parts or len(parts) == len(node.inputs):
        return node
    return parts[0] if len(parts) == 1 else make(node.op, *parts, **node.attrs)


def _slice(node: Node) -> Node:
    """A slice that lies within one part of a join is a slice of that part; one that takes
    everything is none."""
    (source,) = node.inputs
    starts, steps = node.attrs["starts"], node.attrs["steps"]
    if source.op is movement.concat and node.size:
        axis = source.attrs["axis"]
        ends = starts[axis], starts[axis] + steps[axis] * (node.shape[axis] - 1)
        begin = 0
        for part in source.inputs:
            length = part.shape[axis]
            if begin <= min(ends) and max(ends) < begin + length:
                moved = (*starts[:axis], starts[axis] - begin, *starts[axis + 1 :])
                inner = make(node.op, part, starts=moved, steps=steps, shape=node.shape)
                return _slice(inner)
            begin += length
    return source if rewrite.is_whole(node) else node


def _gather(node: Node) -> Node:
    """A gather along an axis of one element has nothing to choose: it repeats it."""
    source, axis = node.inputs[0], node.attrs["axis"]
    if source.shape[axis] != 1 or not node.size:
        return node
    if node.op is gather.take:
        indices = node.inputs[1].shape
        ones = (*source.shape[:axis], *(1 for _ in indices), *source.shape[axis + 1 :])
        return rewrite.expand(rewrite.reshape(source, ones), node.shape)
    lengths = zip(source.shape, node.shape, strict=True)
    if any(a != b for other, (a, b) in enumerate(lengths) if other != axis):
        return node
    return rewrite.expand(source, node.shape)


def _divide(node: Node) -> Node:
    """x / c as x * (1 / c) where that is exact: c is a power of two."""
    divisor = _scalar(node.inputs[1])
    if not divisor or not math.isfinite(divisor) or abs(math.frexp(divisor)[0]) != 0.5:
        return node
    if not 1e-30 < abs(divisor) < 1e30:
        return node
    return make(e.multiply, node.inputs[0], _everywhere(1 / divisor, node))
