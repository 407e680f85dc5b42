"""What two graphs of eager code have in common, so that one plan serves both.

Two graphs have one structure if they are the same ops on sources of the same shapes and types.
Buffers and data are inputs of the plan. Single numbers are part of the structure, since passes fold
them into kernels; those that differ from turn to turn become inputs too (`Numbers`). One walk over
a graph finds its structure, and which of its nodes something else refers to.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from sys import getrefcount
from typing import NamedTuple

from ..compile.ranges import is_wide
from ..core.dtype import float32
from ..errors import GraphError
from ..graph import Node, seams
from ..ops.kinds import Frozen, Movement
from ..ops.movement import reshape, slice_
from ..ops.source import buffer as buffer_op
from ..ops.source import constant as constant_op
from ..ops.source import input_ as input_op
from . import starts
from .trace import not_known

_SMALL = 64
"""Elements up to which a constant that is no input is compared by its content."""

_CONSTANT_DEPTH = {True: 2, False: 16}
"""The depth beyond which what is made of single numbers alone is worth a buffer, for floating types
and others. Those below are folded into kernels; integers, which may be indices, are checked on the
host."""


class Structure(NamedTuple):
    """A graph as eager code sees it.

    key: what graphs of one structure share, but for their outputs. leaves: what may differ, in the
    same order. kept: nodes whose identity is part of the key. variants: single numbers and slices
    that may become leaves, by their index in the key. numbers: that of each node.
    readers: how often the graph itself refers to a node. aliases: nodes with the value of another.
    worth: whether a node is worth a buffer if something else needs it.
    """

    key: list[Hashable]
    leaves: list[Node]
    kept: list[Node]
    variants: dict[int, Node]
    numbers: dict[Node, int]
    readers: list[int]
    aliases: list[Node]
    worth: list[bool]

    def key_of(self, outputs: Sequence[Node]) -> Hashable:
        """The key with the outputs that are asked for."""
        numbers = self.numbers
        return *self.key, tuple([numbers[node] for node in outputs])

    def fed(self, indices: Collection[int]) -> Structure:
        """The same with inputs instead of the variants at these indices. As where buffers stand in
        the place of numbers: the two share a key, so their leaves have one order."""
        key, leaves = list(self.key), list(self.leaves)
        for index in indices:
            node = self.variants[index]
            if node.op is slice_:
                key[index] = starts.leaf_key(node), self.numbers[node.inputs[0]]
            else:
                key[index] = _leaf(node)
            leaves.append(node)
        leaves.sort(key=self.numbers.__getitem__)
        return self._replace(key=key, leaves=leaves)

    # Why: docs/decisions/eager.md, "A read keeps what something still refers to, by CPython's own
    # count of references"
    def held(self, order: list[Node], among: Iterable[Node] = ()) -> list[Node]:
        """The nodes that something outside of the graph holds, in topological order: a living
        tensor, or what is built from them and is not part of the graph. order: the list of which
        the structure is. among: one for each other reference of the caller's to a node.

        CPython counts references anyway; tables of weak references would cost every op. Nothing but
        speed depends on the answer: a node that is missed is computed again, and one too many is
        stored.
        """
        probe = Node(reshape, (), Frozen(), (), float32)  # which only this function holds
        order.append(probe)
        self.numbers[probe] = len(self.readers)
        counts = [getrefcount(node) for node in order]
        del self.numbers[order.pop()]
        least = counts[-1] - 1
        for node in among:
            if node in self.numbers:
                counts[self.numbers[node]] -= 1
        return [
            node
            for node, count, inside, worth in zip(
                order, counts, self.readers, self.worth, strict=False
            )
            if worth and count - inside > least
        ]


def structure_of(order: Sequence[Node], exact: bool = False) -> Structure:
    """The structure of a graph, whose nodes come in topological order. exact: whether 64-bit
    integers are part of it, for a device that must see what they are. Raises GraphError or
    TracingError for a graph with inputs."""
    key: list[Hashable] = []
    leaves: list[Node] = []
    kept: list[Node] = []
    variants: dict[int, Node] = {}
    index: dict[Node, int] = {}
    readers = [0] * len(order)
    aliases: list[Node] = []
    worth: list[bool] = []
    fed: list[bool] = []  # whether it depends on data
    known: list[bool] = []  # whether it only moves what is known
    with_past = []
    for number, node in enumerate(order):
        index[node] = number
        op, inputs = node.op, node.inputs
        if inputs:
            numbers = [index[child] for child in inputs]
            of_data = False
            for each in numbers:
                readers[each] += 1
                of_data = of_data or fed[each]
            key.append((op, node.attrs.exact, tuple(numbers)))
            moved = known[numbers[0]] and isinstance(op, Movement)
            if op is reshape and node.is_alias:
                aliases.append(node)
            elif op is slice_ and of_data and starts.may_vary(node):
                variants[number] = node
            if node.past is not None:
                with_past.append(node)
            fed.append(of_data)
            known.append(moved)
            dtype = node.dtype
            deep = of_data or node.depth > _CONSTANT_DEPTH[dtype.is_floating]
            worth.append(deep and not moved and not dtype.coded)
            continue
        is_data = False
        if op is buffer_op:
            is_data = True
            leaves.append(node)
            key.append(_leaf(node))
        elif op is constant_op:
            is_data = _is_data(node, exact)
            if is_data:
                leaves.append(node)
                key.append(_leaf(node))
            elif node.size <= _SMALL:
                if _is_number(node, exact):
                    variants[number] = node
                key.append((op, node.shape, node.dtype, bytes(node.attrs["data"].data)))
            else:
                kept.append(node)
                key.append((op, id(node)))
        elif op is input_op:
            raise not_known(node) or GraphError(
                f"the value of the graph's input {node.attrs['name']!r} is known to a session alone"
            )
        else:
            key.append((op, node.attrs.exact))
        fed.append(is_data)
        known.append(True)
        worth.append(False)
    for node in with_past:
        for child in seams.derivatives.needs(node):
            if child in index:
                readers[index[child]] += 1
    return Structure(key, leaves, kept, variants, index, readers, aliases, worth)


class Numbers:
    """Which single numbers, and starts of slices, differ between graphs that are alike but for
    these, as a learning rate that falls from turn to turn does. They become inputs of a plan that
    serves all turns."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, _Alike] = {}

    def fed(self, structure: Structure, outputs: Sequence[Node]) -> Structure:
        """A structure that no plan was found for, with inputs for what has differed often enough;
        itself if there is nothing."""
        variants = structure.variants
        if not variants:
            return structure
        alike = hash(structure.fed(variants).key_of(outputs))
        values = {index: _value(node) for index, node in variants.items()}
        seen = self._seen.get(alike)
        if seen is None:
            if len(self._seen) >= _MOST_ALIKE:
                self._seen.clear()
            self._seen[alike] = _Alike(values, {})
            return structure
        for index, value in values.items():
            if seen.first.get(index) != value:  # a buffer may have stood there
                seen.differed[index] = seen.differed.get(index, 0) + 1
        differed = seen.differed
        often = [i for i, x in variants.items() if differed.get(i, 0) >= _often(x)]
        return structure.fed(often) if often else structure


class _Alike(NamedTuple):
    """first: what the first graph had, by index. differed: how often another one had something else
    there."""

    first: dict[int, Hashable]
    differed: dict[int, int]


def _value(node: Node) -> Hashable:
    return node.attrs["starts"] if node.op is slice_ else bytes(node.attrs["data"].data)


def _often(node: Node) -> int:
    """How many other values than at first make it an input. A number that is tried with two values
    is better off as a literal of two plans."""
    return 1 if node.op is slice_ else 2


_MOST_ALIKE = 1024


def _leaf(node: Node) -> Hashable:
    """What a plan depends on of an input. Every device has types of four bytes as they are, so that
    data and what was computed serve alike: a loop's first turn reads the one, its second the
    other."""
    dtype = node.dtype
    whole = dtype.size == 4 and dtype.kind in "fiu"
    return None if whole else node.op, node.shape, dtype


def _is_number(node: Node, exact: bool) -> bool:
    """Whether a small constant may become an input of a plan, once it has differed often enough:
    floating numbers, and integers that were computed and read."""
    if node.dtype.is_floating:
        return not node.dtype.coded
    return "read" in node.attrs and node.size == 1 and not (exact and is_wide(node.dtype))


# Why: docs/decisions/eager.md, "Eager expressions are compiled by structure"
def _is_data(node: Node, exact: bool) -> bool:
    """Whether a constant is an input of the plan: all data but single numbers, so that a step finds
    its plan again with the next batch, whatever that holds."""
    if "varies" in node.attrs:  # the number of a random draw
        return True
    dtype = node.dtype
    known = dtype.coded or (exact and is_wide(dtype))
    return bool(node.shape) and node.size > 1 and not known
