"""Constructors that simplify as they build: what no pass should have to see twice."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.shape import Shape
from ...graph import Node, make
from ...ops import movement


def reshape(node: Node, shape: Shape) -> Node:
    """A reshape, or less: reshapes in a row are one, one that changes nothing is none."""
    while node.op is movement.reshape:
        node = node.inputs[0]
    return node if node.shape == shape else make(movement.reshape, node, shape=shape)


def permute(node: Node, axes: Sequence[int]) -> Node:
    """A permute, or less: in a row they are one, and where only axes of length 1 move it is a
    reshape."""
    axes = tuple(axes)
    if node.op is movement.permute:
        inner = node.attrs["axes"]
        return permute(node.inputs[0], [inner[axis] for axis in axes])
    if axes == tuple(range(len(axes))):
        return node
    shape = tuple(node.shape[axis] for axis in axes)
    moved = [axis for axis in axes if node.shape[axis] != 1]
    if moved == sorted(moved):
        return reshape(node, shape)
    if node.op is movement.expand:
        return expand(permute(node.inputs[0], axes), shape)
    if node.op is movement.reshape and node.inputs[0].op is movement.permute:
        alike = _through_reshape(node, axes)
        if alike is not None:
            return alike
    return make(movement.permute, node, axes=axes)


def _through_reshape(node: Node, axes: tuple[int, ...]) -> Node | None:
    """A permute of a reshape that only adds axes of length 1, as a reshape of a permute."""
    source = node.inputs[0]
    kept = [dim for dim in node.shape if dim != 1]
    if kept != [dim for dim in source.shape if dim != 1]:
        return None
    longer = [axis for axis, dim in enumerate(node.shape) if dim != 1]
    origins = [axis for axis, dim in enumerate(source.shape) if dim != 1]
    order = [origins[longer.index(axis)] for axis in axes if node.shape[axis] != 1]
    inner = [axis for axis, dim in enumerate(source.shape) if dim == 1] + order
    return reshape(permute(source, inner), tuple(node.shape[axis] for axis in axes))


def expand(node: Node, shape: Shape) -> Node:
    """An expand, or less: in a row they are one, one that changes nothing is none."""
    if node.op is movement.expand:
        node = node.inputs[0]
    return node if node.shape == shape else make(movement.expand, node, shape=shape)


def inverse(axes: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes another."""
    result = [0] * len(axes)
    for index, axis in enumerate(axes):
        result[axis] = index
    return tuple(result)


def is_whole(node: Node) -> bool:
    """Whether a slice takes everything, in order."""
    attrs = node.attrs
    return node.shape == node.inputs[0].shape and set(attrs["steps"]) <= {1}
