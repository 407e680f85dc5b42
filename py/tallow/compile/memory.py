"""Memory: which result lies in which slot.

A slot is one buffer. Results that are not needed at the same time share a slot. A kernel's result
never shares one with what the kernel reads, since WebGPU does not bind a buffer both ways; unless
it is computed in place: element by element over something that nobody reads any more.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..graph import Node
from .fuse import Fusion, Group


@dataclass(eq=False)
class _Value:
    """What needs memory from one step to another: a result, and those computed over it."""

    bytes: int
    first: int
    last: int


def share_slots(
    fusion: Fusion,
    groups: list[Group],
    sizes: dict[Node, int],
    given: Collection[Node],
    kept: Collection[Node],
    in_place: bool,
) -> tuple[dict[Node, int], list[int]]:
    """Slot numbers for the groups' results and what is given, and the slots' sizes in bytes.

    sizes: bytes of each. given: what is there before the first step. kept: what must outlive the
    last. in_place: whether a group may write over what it reads.

    The largest value chooses first ("greedy by size", Pisarchyk and Lee 2020, arXiv:2001.03288),
    or the first one does, whichever takes less memory.
    """
    values = _values(fusion, groups, sizes, given, kept, in_place)
    by_time = list(dict.fromkeys(values.values()))
    by_size = sorted(by_time, key=lambda value: -value.bytes)
    number_of, slots = min(_pack(by_size), _pack(by_time), key=lambda packed: sum(packed[1]))
    return {node: number_of[value] for node, value in values.items()}, slots


def _pack(values: list[_Value]) -> tuple[dict[_Value, int], list[int]]:
    """A slot for each value in turn: of those that are free while it lives the one that grows
    least, of those that are large enough the smallest."""
    number_of: dict[_Value, int] = {}
    slots: list[int] = []
    tenants: list[list[_Value]] = []
    for value in values:
        free = [
            number
            for number, others in enumerate(tenants)
            if all(value.last < other.first or other.last < value.first for other in others)
        ]
        if not free:
            free = [len(slots)]
            slots.append(0)
            tenants.append([])
        slot = min(free, key=lambda n: (max(0, value.bytes - slots[n]), slots[n]))
        slots[slot] = max(slots[slot], value.bytes)
        tenants[slot].append(value)
        number_of[value] = slot
    return number_of, slots


def _values(
    fusion: Fusion,
    groups: list[Group],
    sizes: dict[Node, int],
    given: Collection[Node],
    kept: Collection[Node],
    in_place: bool,
) -> dict[Node, _Value]:
    """The value of each result, by the node whose memory it is."""
    end = len(groups)
    last = dict.fromkeys(given, 0)
    for step, group in enumerate(groups):
        for node in (group.root, *group.reads):
            last[fusion.memory_of(node)] = step
    last.update(dict.fromkeys(kept, end))
    values = {node: _Value(sizes[node], 0, last[node]) for node in given}
    for step, group in enumerate(groups):
        result = fusion.memory_of(group.root)
        if result in values:  # another part of it is there already
            continue
        over = _dying(fusion, group, step, last, values) if in_place else None
        if over is None:
            values[result] = _Value(sizes[result], step, last[result])
        else:
            values[result] = values[over]
            values[result].last = last[result]
    return values


def _dying(
    fusion: Fusion, group: Group, step: int, last: dict[Node, int], values: dict[Node, _Value]
) -> Node | None:
    """The memory that a group can write its result over, if there is any."""
    if group.root in fusion.regions:
        return None
    for node in group.reads:
        memory = fusion.memory_of(node)
        fits = node.dtype == group.root.dtype and node.size == memory.size
        others = {read for read in group.reads if fusion.memory_of(read) is memory}
        if fits and memory in values and last[memory] == step and others <= group.in_place:
            return memory
    return None
