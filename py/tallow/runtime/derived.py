"""What rules make of a graph, such as its gradients: found again without being made.

A training step builds the same graph in every turn, and of the same graph rules make the same
gradients. So the plan of both is known by the structure of the first, and by what else the rules
look at. When these come again, the plan runs, and no rule is asked.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

from ..graph import Node
from . import eager
from .buffer import Buffer, Memory
from .structure import Numbers, Structure


class Derived(NamedTuple):
    """A plan that computes nodes of a graph, and what was made of it.

    entry: its program, until that has to go. leaves: what the plan is given, as indices into the
    graph's order; or single numbers that the rules made, which they would make again. made: which
    results were made of the graph; None where there is none. kept: nodes whose identity is part of
    the key.
    """

    entry: ref[eager.Entry]
    leaves: list[int | Node]
    made: list[int | None]
    kept: list[Node]

    def run(self, order: Sequence[Node], memory: Memory) -> list[Buffer] | None:
        """The results for another graph of the same structure; None if the plan is gone, or if
        there should be a better one by now."""
        entry = self.entry()
        if entry is None or not eager.used_again(entry, memory):
            return None
        leaves = [order[x] if isinstance(x, int) else x for x in self.leaves]
        if not eager.fits(entry.bounded, leaves):
            return None
        return eager.run(entry, leaves, memory)


def find(
    memory: Memory, structure: Structure, outputs: Sequence[Node], marks: Hashable
) -> tuple[Structure, Hashable, Derived | None]:
    """What is known of a graph with these marks; the structure by which it is or will be known, in
    which numbers that differ from turn to turn are inputs; and its key."""
    table = _tables.setdefault(memory, {})
    key = structure.key_of(outputs), marks
    if key not in table:
        fed = _numbers.setdefault(memory, Numbers()).fed(structure, outputs)
        if fed is not structure:
            structure, key = fed, (fed.key_of(outputs), marks)
    return structure, key, table.get(key)


def remember(
    memory: Memory,
    key: Hashable,
    structure: Structure,
    entry: eager.Entry,
    leaves: Sequence[Node],
    made: list[int | None],
) -> None:
    """Keeps the plan, unless it was given data that this structure does not have, or has numbers
    within it that are inputs of this structure: another graph may have others."""
    indices = [_leaf_index(leaf, structure.numbers) for leaf in leaves]
    found = [index for index in indices if index is not None]
    lacking = set(structure.leaves).difference(leaves)
    within = [leaf for leaf in lacking if not leaf.is_buffer]
    if within or len(found) < len(indices):
        return
    table = _tables.setdefault(memory, {})
    if len(table) >= _MOST:
        gone = [each for each, derived in table.items() if derived.entry() is None]
        for old in gone or [*table]:
            del table[old]
    table[key] = Derived(ref(entry), found, made, structure.kept)


_MOST = 128

_tables: WeakKeyDictionary[Any, dict[Hashable, Derived]] = WeakKeyDictionary()

_numbers: WeakKeyDictionary[Any, Numbers] = WeakKeyDictionary()


def _leaf_index(leaf: Node, numbers: Mapping[Node, int]) -> int | Node | None:
    if leaf in numbers:
        return numbers[leaf]
    number = leaf.is_constant and leaf.size == 1 and "varies" not in leaf.attrs
    return leaf if number else None
