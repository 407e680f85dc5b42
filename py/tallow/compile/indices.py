"""Inputs that are indices. A GPU cannot refuse an index that is out of range, so the host looks at
those that a graph is fed: where an input, moved about at most, is what a gather or a scatter reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import IndexRangeError
from ..graph import Graph, Node
from ..hostarray import HostArray
from ..ops import elementwise, gather, movement
from .passes.fold import moved_items

_MOVES = (movement.reshape, movement.expand, movement.permute, movement.slice_, elementwise.cast)


@dataclass(frozen=True)
class Indexed:
    """An input, or the part of it that `moves` leave, has indices along an axis of `length`."""

    name: str
    length: int
    moves: tuple[Node, ...]

    def check(self, data: HostArray) -> None:
        """Raises IndexRangeError for an index that is out of range."""
        items = data.flat()
        if any(move.op is movement.slice_ for move in self.moves):  # else all elements remain
            for move in self.moves:
                items = moved_items(move, items)
        if not items:
            return
        low, high = min(items), max(items)
        if low < -self.length or high >= self.length:
            wrong = high if high >= self.length else low
            raise IndexRangeError(
                f"the input {self.name!r} holds the index {wrong}, which is out of range for an "
                f"axis of {self.length} elements"
            )


def indexed_inputs(graph: Graph) -> tuple[Indexed, ...]:
    """The inputs of a graph that are indices. One may be so along several axes."""
    found: dict[Indexed, None] = {}
    for node in graph.nodes():
        if node.op in (gather.take, gather.take_along_axis):
            index, length = node.inputs[1], node.inputs[0].shape[node.attrs["axis"]]
        elif node.op is gather.position:
            index, length = node.inputs[0], _number(node.inputs[1])
        else:
            continue
        moves = []
        while index.op in _MOVES and index.inputs[0].dtype.is_integer:
            moves.append(index)
            index = index.inputs[0]
        if index.is_input and length is not None:
            found[Indexed(index.attrs["name"], length, tuple(reversed(moves)))] = None
    return tuple(found)


def _number(node: Node) -> int | None:
    """The number that an expanded constant holds."""
    while node.op in (movement.expand, movement.reshape):
        node = node.inputs[0]
    return node.attrs["data"].item() if node.is_scalar_constant else None
