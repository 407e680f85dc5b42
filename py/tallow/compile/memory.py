"""Memory: which result is stored in which slot.

A slot is one buffer. Results that are not needed at the same time share a slot. A kernel's result
never shares one with what the kernel reads, since WebGPU does not bind a buffer both ways; unless
it is computed in place: element by element over a value that is no longer read.

On every device `update_at` is: where its source is read by nothing else any more, its region is all
that is written.

Inputs and states keep their slots for the whole run, since their buffers may belong to others.
Only the next value of a state may be computed in its slot, once the old one is no longer read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from ..graph import Node
from ..ops.positions import update_at
from .fuse import Fusion, Group


@dataclass(eq=False)
class _Value:
    """What needs memory from one step to another: a result, and those computed over it."""

    bytes: int
    first: int
    last: int


# Why: docs/decisions/engine.md, "A slot is a buffer of its own"
def share_slots(
    fusion: Fusion,
    groups: list[Group],
    sizes: dict[Node, int],
    given: Collection[Node],
    kept: Collection[Node],
    in_place: bool,
    states: Mapping[Node, Node],
) -> tuple[dict[Node, int], list[int]]:
    """Slot numbers for the groups' results and what is given, and the slots' sizes in bytes.

    sizes: bytes of each. given: what is there before the first step, and stays. kept: what must
    outlive the last. in_place: whether any group may write over what it reads, not `update_at`
    alone. states: the given value that each of these results is to replace, and may be computed
    over.

    The largest value chooses first ("greedy by size", Pisarchyk and Lee 2020, arXiv:2001.03288),
    or the first one does, whichever takes less memory.
    """
    values = _values(fusion, groups, sizes, given, kept, in_place, states)
    by_time = list(dict.fromkeys(values.values()))
    packed = _pack_by_size(by_time, len(groups) + 1), _pack_by_time(by_time)
    number_of, slots = min(packed, key=lambda each: sum(each[1]))
    return {node: number_of[value] for node, value in values.items()}, slots


Packed = tuple[dict[_Value, int], list[int]]
"""The slot of each value, and the sizes of the slots. A value gets the slot, of those that are free
while it lives, that grows least, of those that are large enough the smallest; of such the first."""


def _pack_by_time(values: list[_Value]) -> Packed:
    """The values choose in the order in which they begin, in which they are given."""
    number_of: dict[_Value, int] = {}
    slots: list[int] = []
    free: list[tuple[int, int]] = []  # sizes and numbers, sorted
    taken: list[tuple[int, int]] = []  # last steps and numbers, a heap
    for value in values:
        while taken and taken[0][0] < value.first:
            number = heappop(taken)[1]
            insort(free, (slots[number], number))
        if free:
            # The smallest that is large enough, or the first of the largest.
            index = bisect_left(free, (value.bytes, 0))
            index = index if index < len(free) else bisect_left(free, (free[-1][0], 0))
            number = free.pop(index)[1]
        else:
            number = len(slots)
            slots.append(0)
        slots[number] = max(slots[number], value.bytes)
        heappush(taken, (value.last, number))
        number_of[value] = number
    return number_of, slots


def _pack_by_size(values: list[_Value], steps: int) -> Packed:
    """The largest value chooses first: a slot is as large as its first value, and never grows."""
    number_of: dict[_Value, int] = {}
    slots: list[int] = []
    kinds: list[int] = []  # the first slot of each size; sizes fall
    busy = _Busy(steps)
    for value in sorted(values, key=lambda value: -value.bytes):
        free = (1 << len(slots)) - 1 & ~busy.slots(value.first, value.last)
        if free:
            first = kinds[bisect_right(kinds, free.bit_length() - 1) - 1]
            alike = free >> first
            number = first + (alike & -alike).bit_length() - 1
        else:
            number = len(slots)
            if not slots or value.bytes < slots[-1]:
                kinds.append(number)
            slots.append(value.bytes)
        busy.take(number, value.first, value.last)
        number_of[value] = number
    return number_of, slots


class _Busy:
    """Which slots are in use at which steps: a tree of halves of the time, so that neither a long
    life nor many slots are walked through. Sets of slots are the bits of an integer."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._whole = [0] * (2 * steps)  # in use all the time of that part
        self._some = [0] * (2 * steps)  # in use at some time of it

    def _parts(self, first: int, last: int) -> Iterator[int]:
        """The parts of the time that together are the steps from first to last."""
        low, high = first + self._steps, last + self._steps + 1
        while low < high:
            if low & 1:
                yield low
                low += 1
            if high & 1:
                high -= 1
                yield high
            low >>= 1
            high >>= 1

    def slots(self, first: int, last: int) -> int:
        """The slots that are in use at any step from first to last."""
        found = 0
        for part in self._parts(first, last):
            found |= self._some[part]
            while part := part >> 1:
                found |= self._whole[part]
        return found

    def take(self, number: int, first: int, last: int) -> None:
        """Puts a slot to use at the steps from first to last."""
        bit = 1 << number
        for part in self._parts(first, last):
            self._whole[part] |= bit
            while part and not self._some[part] & bit:
                self._some[part] |= bit
                part >>= 1


def _values(
    fusion: Fusion,
    groups: list[Group],
    sizes: dict[Node, int],
    given: Collection[Node],
    kept: Collection[Node],
    in_place: bool,
    states: Mapping[Node, Node],
) -> dict[Node, _Value]:
    """The value of each result, by the node whose memory it is."""
    end = len(groups)
    last = dict.fromkeys(given, -1)
    for step, group in enumerate(groups):
        for node in (group.root, *group.reads):
            last[fusion.memory_of(node)] = step
    last.update(dict.fromkeys(kept, end))
    values = {node: _Value(sizes[node], 0, end) for node in given}
    for step, group in enumerate(groups):
        result = fusion.memory_of(group.root)
        if result in values:  # another part of it is stored already
            continue
        over, state = None, states.get(result)
        if group.root.op is update_at and result not in kept:
            # On the way to the next value of a state, which takes the same memory at the end.
            source = fusion.memory_of(group.root.inputs[0])
            state = state or (source if source in states.values() else None)
        if in_place or group.root.op is update_at:
            over = _dying(fusion, group, step, last, values, state, given)
        if in_place and state and sizes[state] == sizes[result] and last[state] < step:
            over = state
        if over is None:
            values[result] = _Value(sizes[result], step, last[result])
        else:
            values[result] = values[over]
            values[result].last = last[result]
    return values


def _dying(
    fusion: Fusion,
    group: Group,
    step: int,
    last: dict[Node, int],
    values: dict[Node, _Value],
    state: Node | None,
    given: Collection[Node],
) -> Node | None:
    """The memory that a group can write its result over, if there is any; the state's if it can,
    and of what is given no other."""
    if group.root in fusion.regions:
        return None
    for node in sorted(group.reads, key=lambda read: fusion.memory_of(read) is not state):
        memory = fusion.memory_of(node)
        if memory in given and memory is not state:
            continue
        if group.root.op is update_at and node is not group.root.inputs[0]:
            continue  # the region of the source is written, and nothing else
        fits = node.dtype == group.root.dtype and node.size == memory.size
        others = {read for read in group.reads if fusion.memory_of(read) is memory}
        if fits and memory in values and last[memory] == step and others <= group.in_place:
            return memory
    return None
