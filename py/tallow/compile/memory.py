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
    A free slot is taken if it is large enough, the smallest such; else the largest free one is
    grown; else a new one is made.
    """
    last_use: dict[Node, int] = {}
    for step, group in enumerate(groups):
        for node in group.reads:
            last_use[fusion.memory_of(node)] = step
    forever = {fusion.memory_of(node) for node in kept}
    slot_of: dict[Node, int] = {}
    slots: list[int] = []
    free: list[int] = []
    ending: dict[int, list[Node]] = {}
    for node, step in last_use.items():
        ending.setdefault(step, []).append(node)
    for step, group in enumerate(groups):
        node, size = group.root, sizes[group.root]
        if node in forever or not free:
            slot = len(slots)
            slots.append(size)
        else:
            fitting = [slot for slot in free if slots[slot] >= size]
            slot = (
                min(fitting, key=slots.__getitem__) if fitting else max(free, key=slots.__getitem__)
            )
            slots[slot] = max(slots[slot], size)
            free.remove(slot)
        slot_of[node] = slot
        for dead in ending.get(step, []):
            if dead in slot_of and dead not in forever:
                free.append(slot_of[dead])
        if node not in last_use and node not in forever:
            free.append(slot)
    return slot_of, slots
