"""Memory: which result lies in which slot.

A slot is one buffer. Results that are not needed at the same time share a slot; a kernel's result
never shares one with what it reads, since WebGPU does not bind a buffer both ways.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..graph import Node
from .fuse import Fusion, Group


def share_slots(
    fusion: Fusion, groups: list[Group], sizes: dict[Node, int], kept: Iterable[Node]
) -> tuple[dict[Node, int], list[int]]:
    """Slot numbers for the groups' results, and the slots' sizes in bytes.

    sizes: bytes of each result. kept: results that must outlive the run and share with nothing.
    The largest result chooses first, the smallest slot that is free while it lives ("greedy by
    size", Pisarchyk and Lee 2020, arXiv:2001.03288): a slot never grows.
    """
    lives = _lives(fusion, groups)
    forever = {fusion.memory_of(node) for node in kept}
    slot_of: dict[Node, int] = {}
    slots: list[int] = []
    tenants: list[list[tuple[int, int]]] = []  # when each slot is taken
    for node in sorted(lives, key=lambda node: -sizes[node]):
        first, last = (0, len(groups)) if node in forever else lives[node]
        slot = next(
            (
                number
                for number in reversed(range(len(slots)))
                if all(last < begin or end < first for begin, end in tenants[number])
            ),
            len(slots),
        )
        if slot == len(slots):
            slots.append(sizes[node])
            tenants.append([])
        tenants[slot].append((first, last))
        slot_of[node] = slot
    return slot_of, slots


def _lives(fusion: Fusion, groups: list[Group]) -> dict[Node, tuple[int, int]]:
    """From which step to which each result is needed."""
    lives = {group.root: (step, step) for step, group in enumerate(groups)}
    for step, group in enumerate(groups):
        for node in group.reads:
            memory = fusion.memory_of(node)
            if memory in lives:
                lives[memory] = (lives[memory][0], step)
    return lives
