"""Where weights are that programs have in common, and what plans compute from them at their start
(runtime/contents.py), such as panels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from ...compile.plan import Plan, Step
from ...core.hostarray import HostArray
from ...runtime.contents import Content, contents, needed
from .arena import Arena, Block, Extent, aligned


class Shared:
    """Bytes in a memory, for as long as a program has them."""

    __slots__ = ("__weakref__", "content", "extent", "is_new")

    def __init__(self, extent: Extent, content: Content) -> None:
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
        known = contents(plan, weights)
        if not known:
            return None
        sizes = {slot: plan.slots[slot].bytes for slot in known}
        own = whole - sum(sizes.values())
        there, block = self._there(known, sizes)
        found = self._placed(plan, known, there, block, own, sizes) if block else None
        if found is not None:
            return found
        made = self._placed(plan, known, {}, None, own, sizes)
        assert made is not None
        return made

    def _there(
        self, known: Mapping[int, Content], sizes: Mapping[int, int]
    ) -> tuple[dict[int, Shared], Block | None]:
        """What of this is in one block, the one that has most of it."""
        best: tuple[dict[int, Shared], Block | None] = {}, None
        most = 0
        for block in self._arena.blocks:
            found = {slot: self._places.get((key, block)) for slot, (key, _) in known.items()}
            there = {slot: place for slot, place in found.items() if place is not None}
            held = sum(sizes[slot] for slot in there)
            if held > most:
                best, most = (there, block), held
        return best

    def _placed(
        self,
        plan: Plan,
        known: Mapping[int, Content],
        there: Mapping[int, Shared],
        block: Block | None,
        own: int,
        sizes: Mapping[int, int],
    ) -> Placed | None:
        """The memory beside what is there; None if its block has no room."""
        wanted, prepare = needed(plan, {slot for slot, each in there.items() if not each.is_new})
        lacking: dict[Any, int] = {}  # a slot of each content
        for slot in sorted(wanted & known.keys() - there.keys()):
            lacking.setdefault(known[slot][0], slot)
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
        places = {known[slot][0]: place for slot, place in there.items()}
        for (key, slot), extent in zip(lacking.items(), others, strict=True):
            places[key] = self._places[key, part.block] = Shared(extent, known[slot])
        shared = {slot: places[known[slot][0]] for slot in wanted & known.keys()}
        apart = known.keys() | states
        return Placed(part, place_of_states, apart, shared, wanted, prepare)
