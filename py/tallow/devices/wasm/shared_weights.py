"""Weights, and what plans compute from them at their start, that programs have in common.

A language model runs as several plans: one for a token, others for the parts of a prompt. Each of
them alone would hold all weights, and each length of sentences their panels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from ...compile.plan import Plan, Step
from ...core.hostarray import HostArray
from .arena import Arena, Block, Extent, aligned

_LEAST = 1 << 12
"""Bytes of what is shared; less is not worth a part of its own."""

_WORTH = 1 << 20
"""Bytes of a program's weights from which on they are shared."""


_Content: TypeAlias = tuple[Any, tuple[object, ...]]
"""What is in a slot: a key, equal for what is the same, and the arrays by whose identity that is
known (`HostArray.origin`)."""


class Shared:
    """Bytes in a memory, for as long as a program has them."""

    __slots__ = ("__weakref__", "content", "extent", "is_new")

    def __init__(self, extent: Extent, content: _Content) -> None:
        # While its origins are held, no other array has their identity.
        self.extent, self.content = extent, content
        self.is_new = True  # until it is written


class Placed:
    """A program's memory. part: what it shares with nobody. states: for its states; None if it has
    none. apart: the slots that are not in `part`. shared: where the weights are that it needs.
    needed: all slots that it needs. prepare: the steps that have to run, since nobody has what they
    compute."""

    def __init__(
        self,
        part: Extent,
        states: Extent | None,
        apart: set[int],
        shared: dict[int, Shared],
        needed: set[int],
        prepare: list[Step],
    ) -> None:
        self.part, self.states = part, states
        self.apart, self.shared = apart, shared
        self.needed, self.prepare = needed, prepare

    @property
    def lacking(self) -> set[int]:
        """The slots of what has to be written or computed."""
        return {slot for slot, place in self.shared.items() if place.is_new}


class SharedWeights:
    """Where the weights of programs are, in one arena."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._places: WeakValueDictionary[tuple[Any, Block], Shared] = WeakValueDictionary()

    def place(self, whole: int, plan: Plan, weights: Mapping[int, HostArray]) -> Placed | None:
        """The memory of a program; None if its weights are small, or others may change them.

        whole: its bytes if it shares nothing. weights: by their slots. Raises MemoryError.
        """
        contents = dict(_contents(plan, weights))
        sizes = {slot: plan.slots[slot].bytes for slot in contents}
        if sum(sizes.values()) < _WORTH:
            return None
        own = whole - sum(sizes.values())
        there, block = self._there(contents, sizes)
        found = self._placed(plan, contents, there, block, own, sizes) if block else None
        if found is not None:
            return found
        made = self._placed(plan, contents, {}, None, own, sizes)
        assert made is not None
        return made

    def _there(
        self, contents: Mapping[int, _Content], sizes: Mapping[int, int]
    ) -> tuple[dict[int, Shared], Block | None]:
        """What of this is in one block, the one that has most of it."""
        best: tuple[dict[int, Shared], Block | None] = {}, None
        most = 0
        for block in self._arena.blocks:
            found = {slot: self._places.get((key, block)) for slot, (key, _) in contents.items()}
            there = {slot: place for slot, place in found.items() if place is not None}
            held = sum(sizes[slot] for slot in there)
            if held > most:
                best, most = (there, block), held
        return best

    def _placed(
        self,
        plan: Plan,
        contents: Mapping[int, _Content],
        there: Mapping[int, Shared],
        block: Block | None,
        own: int,
        sizes: Mapping[int, int],
    ) -> Placed | None:
        """The memory beside what is there; None if its block has no room."""
        wanted, prepare = _needed(plan, {slot for slot, each in there.items() if not each.is_new})
        lacking: dict[Any, int] = {}  # a slot of each content
        for slot in sorted(wanted & contents.keys() - there.keys()):
            lacking.setdefault(contents[slot][0], slot)
        states = {port.slot for port in plan.states}
        kept = sum(aligned(port.bytes) for port in plan.states)
        parts = [own - kept, *([kept] if states else ()), *(sizes[s] for s in lacking.values())]
        if block is None:
            # For the other plans of the same network. What nothing writes takes no memory.
            extents = self._arena.together(parts, room=max(3 * own, sum(parts)))
        else:
            given = self._arena.within(block, parts)
            if given is None:
                return None
            extents = given
        part, *others = extents
        place_of_states = others.pop(0) if states else None
        places = {contents[slot][0]: place for slot, place in there.items()}
        for (key, slot), extent in zip(lacking.items(), others, strict=True):
            places[key] = self._places[key, part.block] = Shared(extent, contents[slot])
        shared = {slot: places[contents[slot][0]] for slot in wanted & contents.keys()}
        apart = contents.keys() | states
        return Placed(part, place_of_states, apart, shared, wanted, prepare)


def _contents(plan: Plan, weights: Mapping[int, HostArray]) -> Iterator[tuple[int, _Content]]:
    """What of a plan's slots can be shared, by slots: weights, and what is computed from them."""
    written = Counter(step.bindings[-1] for step in (*plan.prepare, *plan.run))
    known: dict[int, _Content] = {}
    for slot, data in weights.items():
        origin = data.origin
        if origin is not None and not written[slot]:
            known[slot] = (id(origin), data.dtype.name), (origin,)
    for step in plan.prepare:
        *reads, slot = step.bindings
        if written[slot] == 1 and step.region is None and all(read in known for read in reads):
            of = [known[read] for read in reads]
            computed = repr((step.reads, step.write, step.host))
            origins = tuple(origin for _, several in of for origin in several)
            known[slot] = (computed, *(key for key, _ in of)), origins
    for slot, content in known.items():
        if plan.slots[slot].bytes >= _LEAST:
            yield slot, content


def _needed(plan: Plan, ready: set[int]) -> tuple[set[int], list[Step]]:
    """The slots that a program has to have, and the steps of `prepare` that it has to run, if some
    slots are ready."""
    wanted = used_slots(plan)
    prepare: list[Step] = []
    for step in reversed(plan.prepare):
        if step.bindings[-1] in wanted - ready:
            wanted.update(step.bindings)
            prepare.insert(0, step)
    return wanted, prepare


def used_slots(plan: Plan) -> set[int]:
    """The slots that the runs of a plan use."""
    steps: Sequence[Step] = plan.run
    slots = {slot for step in steps for slot in step.bindings}
    ports = (*plan.inputs, *plan.outputs, *plan.states)
    return slots | {port.slot for port in ports} | {copy.source for copy in plan.copies}
