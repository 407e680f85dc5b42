"""Indices that the host knows before a run. A GPU cannot refuse an index that is out of range, so
the host looks at those that a graph is fed, or has as constants: where an input or a constant,
moved about at most, is what a gather or a scatter reads, or what must be in a range (labels).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

from ..core.hostarray import HostArray, from_buffer, from_values
from ..errors import IndexRangeError
from ..graph import Graph, Node
from ..ops import elementwise, gather, movement
from .passes.fold import moved_items

MOVES = (movement.reshape, movement.expand, movement.permute, movement.slice_, elementwise.cast)


@dataclass(frozen=True)
class Indexed:
    """An input, or the part of it that `moves` leave, has indices along an axis of `length`.

    axis: which one, where that is known. strict: negative ones are out of range too, except for
    `ignored`; errors begin with `what`.
    """

    name: str
    length: int
    moves: tuple[Node, ...]
    strict: bool = False
    ignored: int | None = None
    what: str = ""
    axis: int | None = None

    def refuses(self, low: int, high: int) -> bool:
        """Whether the least and the greatest of some elements are not both in range."""
        return low < (0 if self.strict else -self.length) or high >= self.length

    def check(self, data: HostArray) -> None:
        """Raises IndexRangeError for an index that is out of range."""
        check_ranges(data, (self,))

    def examine(self, data: HostArray) -> None:
        """As `check`, for an input of which some element is out of range: it may be one that
        slices leave out, or one that is ignored."""
        data = self._left(data)
        if not data.size:
            return
        low, high = data.extremes()
        if not self.refuses(low, high):
            return
        if self.strict:
            items = data.flat()
            if gather.refusal(set(items), self.length, self.ignored, self.what):
                wrong = gather.refusal(items, self.length, self.ignored, self.what)
                raise IndexRangeError(
                    f"{wrong}, in the input {self.name!r}" if self.name else wrong
                )
            return
        holder = f"the input {self.name!r}" if self.name else "a tensor of indices"
        axis = "an axis" if self.axis is None else f"axis {self.axis}"
        allowed = f": {-self.length} to {self.length - 1} are allowed" if self.length else ""
        raise IndexRangeError(
            f"{holder} holds the index {high if high >= self.length else low}, which is out "
            f"of range for {axis} of {self.length} elements{allowed}"
        )

    def _left(self, data: HostArray) -> HostArray:
        """The elements that slices leave, each once; other moves leave all of them."""
        if any(not move.size for move in self.moves):
            return from_values((), (0,), data.dtype)
        indices = self._left_indices
        if indices is None:
            return data
        if not isinstance(indices, list):
            return from_buffer(data.numpy().reshape(-1)[indices])
        flat = data.flat()
        items = itemgetter(*indices)(flat) if len(indices) > 1 else [flat[at] for at in indices]
        return from_values(items, (len(indices),), data.dtype)

    @cached_property
    def _left_indices(self) -> Any:
        """Where in the input the elements are that slices leave; None without slices."""
        if not any(move.op is movement.slice_ for move in self.moves):
            return None
        source, np = self.moves[0].inputs[0], sys.modules.get("numpy")
        moves = [move for move in self.moves if move.op is not elementwise.cast]
        if np is None or source.dtype.coded:
            items = list(range(source.size))
            for move in moves:
                items = moved_items(move, items)
            return sorted(set(items))
        line = np.arange(source.size).reshape(source.shape)
        for move in moves:
            line = move.op.numpy(np, line, **move.attrs)
        return np.unique(line)


def check_ranges(data: HostArray, several: Sequence[Indexed]) -> None:
    """Raises IndexRangeError for an index of an input, used in several ways, that is out of range.

    No move makes an element that the input lacks, so the extremes of the input, found once, bound
    the indices of all these uses. Only where they are out of range does it matter which are left.
    """
    if several and data.size:
        low, high = data.extremes()
        for each in several:
            if each.refuses(low, high):
                each.examine(data)


def by_input(indexed: Iterable[Indexed]) -> dict[str, list[Indexed]]:
    """The uses of each input that is indices, by its name."""
    found: dict[str, list[Indexed]] = {}
    for each in indexed:
        found.setdefault(each.name, []).append(each)
    return found


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
        strict, ignored, what, axis = False, None, "", None
        if node.op in (gather.take, gather.take_along_axis):
            axis = node.attrs["axis"]
            index, length = node.inputs[1], node.inputs[0].shape[axis]
        elif node.op is gather.position:
            index, length = node.inputs[0], _number(node.inputs[1])
            axis = node.attrs.get("axis")
        elif node.op is gather.checked:
            index, length = node.inputs[0], node.attrs["count"]
            strict, ignored, what = True, node.attrs["ignored"], node.attrs["what"]
        else:
            continue
        moves = []
        while index.op in MOVES and index.inputs[0].dtype.is_integer:
            moves.append(index)
            index = index.inputs[0]
        if length is not None:
            name = index.attrs["name"] if index.is_input else ""
            moved = tuple(reversed(moves))
            yield index, Indexed(name, length, moved, strict, ignored, what, axis)


def _number(node: Node) -> int | None:
    """The number that an expanded constant holds."""
    while node.op in (movement.expand, movement.reshape):
        node = node.inputs[0]
    return node.attrs["data"].item() if node.is_scalar_constant else None
