"""Indices that the host knows before a run. A GPU cannot refuse an index that is out of range, so
the host looks at those that a graph is fed, or has as constants: where an input or a constant,
moved about at most, is what a gather or a scatter reads, or what must be in a range (labels).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..errors import IndexRangeError
from ..graph import Graph, Node
from ..hostarray import HostArray, from_values
from ..ops import elementwise, gather, movement
from .passes.fold import moved_items

_MOVES = (movement.reshape, movement.expand, movement.permute, movement.slice_, elementwise.cast)


@dataclass(frozen=True)
class Indexed:
    """An input, or the part of it that `moves` leave, has indices along an axis of `length`.

    strict: negative ones are out of range too, except for `ignored`; errors begin with `what`.
    """

    name: str
    length: int
    moves: tuple[Node, ...]
    strict: bool = False
    ignored: int | None = None
    what: str = ""

    def check(self, data: HostArray) -> None:
        """Raises IndexRangeError for an index that is out of range."""
        if any(move.op is movement.slice_ for move in self.moves):
            items = data.flat()
            for move in self.moves:
                items = moved_items(move, items)
            data = from_values(items, (len(items),), data.dtype)
        if not data.size:
            return
        low, high = data.extremes()
        if self.strict:
            if (low < 0 or high >= self.length) and (
                wrong := gather.refusal(data.flat(), self.length, self.ignored, self.what)
            ):
                raise IndexRangeError(wrong)
        elif low < -self.length or high >= self.length:
            holder = f"the input {self.name!r}" if self.name else "a tensor of indices"
            raise IndexRangeError(
                f"{holder} holds the index {high if high >= self.length else low}, which is out "
                f"of range for an axis of {self.length} elements"
            )


def indexed_inputs(graph: Graph) -> tuple[Indexed, ...]:
    """The inputs of a graph that are indices. One may be so along several axes."""
    found = (each for source, each in index_sources(graph.nodes()) if source.is_input)
    return tuple(dict.fromkeys(found))


def check_constants(graph: Graph) -> None:
    """Raises IndexRangeError for a constant of a graph that is an index out of range."""
    for source, each in index_sources(graph.nodes()):
        if source.is_constant:
            each.check(source.attrs["data"])


def index_sources(nodes: Iterable[Node]) -> Iterator[tuple[Node, Indexed]]:
    """What indices among nodes are moved from, an input most often, and how they are used."""
    for node in nodes:
        length: int | None
        strict, ignored, what = False, None, ""
        if node.op in (gather.take, gather.take_along_axis):
            index, length = node.inputs[1], node.inputs[0].shape[node.attrs["axis"]]
        elif node.op is gather.position:
            index, length = node.inputs[0], _number(node.inputs[1])
        elif node.op is gather.checked:
            index, length = node.inputs[0], node.attrs["count"]
            strict, ignored, what = True, node.attrs["ignored"], node.attrs["what"]
        else:
            continue
        moves = []
        while index.op in _MOVES and index.inputs[0].dtype.is_integer:
            moves.append(index)
            index = index.inputs[0]
        if length is not None:
            name = index.attrs["name"] if index.is_input else ""
            yield index, Indexed(name, length, tuple(reversed(moves)), strict, ignored, what)


def _number(node: Node) -> int | None:
    """The number that an expanded constant holds."""
    while node.op in (movement.expand, movement.reshape):
        node = node.inputs[0]
    return node.attrs["data"].item() if node.is_scalar_constant else None
