"""Products that end at a length which the device reads.

What is added up ends where both operands are filled with 0 along it (`fill_from`): the product then
reads neither what is filled nor multiplies by it.
"""

from __future__ import annotations

from math import prod

from ...core.dtype import float32
from ...core.shape import Shape
from ...graph import Graph, Node, make, rebuild
from ...ops import contract, movement, positions


def end_products(graph: Graph) -> Graph:
    """The graph with products of filled operands as ones that end where the filling begins."""

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        left, right = (_unfilled(each, axis) for each, axis in zip(inputs, (2, 1), strict=True))
        if node.dtype == float32 and left and right and left[1] is right[1]:
            return make(contract.matmul_to, left[0], right[0], left[1])
        return rebuild(node, inputs)

    return graph.rewrite(rule, (contract.matmul,))


def _unfilled(node: Node, axis: int) -> tuple[Node, Node] | None:
    """What is filled with 0 along an axis, in the shape of the node, and from which position on;
    None if it is not filled."""
    if node.op is positions.fill_from:
        x, start = node.inputs
        return (x, start) if node.attrs["axis"] == axis and node.attrs["value"] == 0 else None
    if node.op not in (movement.reshape, movement.expand, movement.permute):
        return None
    (source,) = node.inputs
    before: int | None = axis
    if node.op is movement.permute:
        before = node.attrs["axes"][axis]
    elif node.op is movement.reshape:
        before = _same_axis(source.shape, node.shape, axis)
    if before is None or source.shape[before] != node.shape[axis]:
        return None
    found = _unfilled(source, before)
    return found and (make(node.op, found[0], **node.attrs), found[1])


def _same_axis(source: Shape, target: Shape, axis: int) -> int | None:
    """The axis of a source that stays what it is as an axis of the shape that it gets."""
    before = prod(target[:axis])
    for number, dim in enumerate(source):
        if dim == target[axis] and prod(source[:number]) == before:
            return number
    return None
