"""What rules make of a graph, such as its gradients: found again without being made.

A training step builds the same graph in every turn, and of the same graph rules make the same
gradients. So the plan of both is known by the structure of the first, and by what else the rules
look at. When these come again, the plan runs, and no rule is asked.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..graph import Node
from . import eager
from .buffer import Buffer, Memory
from .structure import Structure


class Derived(NamedTuple):
    """A plan that computes nodes of a graph, and what was made of it.

    leaves: what the plan is given, as places in the graph's order; or single numbers that the rules
    made, which a graph of the same structure gives the same. made: which results were made of it;
    None where there is none. kept: nodes whose identity is part of the key.
    """

    entry: eager.Entry
    leaves: list[int | Node]
    made: list[int | None]
    kept: list[Node]

    def run(self, order: Sequence[Node], memory: Memory) -> list[Buffer]:
        """The results for another graph of the same structure."""
        leaves = [order[x] if isinstance(x, int) else x for x in self.leaves]
        return eager.run(self.entry, leaves, memory)


def find(memory: Memory, key: Hashable) -> Derived | None:
    """The plan by that key, if it is still there."""
    found = _tables.setdefault(memory, {}).get(key)
    return found if found is not None and eager.used_again(found.entry, memory) else None


def remember(
    memory: Memory,
    key: Hashable,
    structure: Structure,
    entry: eager.Entry,
    leaves: Sequence[Node],
    made: list[int | None],
) -> None:
    """Keeps the plan, unless it was given data that is not part of the graph of this structure:
    another graph may have other data."""
    places = [_place(leaf, structure.numbers) for leaf in leaves]
    found = [place for place in places if place is not None]
    if len(found) < len(places):
        return
    table = _tables.setdefault(memory, {})
    if len(table) >= _MOST:
        for old in [each for each, derived in table.items() if derived.entry.closed] or [*table]:
            del table[old]
    table[key] = Derived(entry, found, made, structure.kept)


_MOST = 128

_tables: WeakKeyDictionary[Any, dict[Hashable, Derived]] = WeakKeyDictionary()


def _place(leaf: Node, numbers: Mapping[Node, int]) -> int | Node | None:
    if leaf in numbers:
        return numbers[leaf]
    number = leaf.is_constant and leaf.size == 1 and "varies" not in leaf.attrs
    return leaf if number else None
