"""Facts about a fused group, for the code generators of all targets."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.dtype import float32
from ..graph import Node
from ..ops import movement, window
from ..ops.kinds import Elementwise


def is_flat(root: Node, members: Sequence[Node], reads: Sequence[Node]) -> bool:
    """Whether every element depends on the elements at its own flat index."""
    if any(node.size != root.size for node in reads):
        return False
    return all(
        isinstance(node.op, Elementwise)
        or node.op is movement.reshape
        or (node.op is movement.expand and node.inputs[0].size == 1)
        for node in members
    )


def is_per_row(node: Node, root: Node, row: tuple[int, ...]) -> bool:
    """Whether a node has one value for each row of the root."""
    same_rank = len(node.shape) == len(root.shape)
    return same_rank and node.shape != root.shape and all(node.shape[axis] == 1 for axis in row)


def is_depthwise(node: Node) -> bool:
    """Whether each channel of a convolution has one filter of its own."""
    return (
        node.op is window.conv2d
        and node.attrs["groups"] == node.inputs[0].shape[3] == node.shape[3]
        and node.attrs["groups"] > 1
    )


def is_plain_3x3(node: Node) -> bool:
    """Whether the node is a 3x3 convolution of stride 1 and one group."""
    return (
        node.op is window.conv2d
        and node.dtype == float32
        and node.inputs[1].shape[:2] == (3, 3)
        and tuple(node.attrs["stride"]) == (1, 1)
        and tuple(node.attrs["dilation"]) == (1, 1)
        and node.attrs["groups"] == 1
    )
