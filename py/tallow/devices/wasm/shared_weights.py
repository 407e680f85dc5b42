"""Weights that several programs have in one memory.

A language model runs as several plans: one for a token, others for the parts of a prompt. Each of
them alone would hold all weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakValueDictionary

from ...core.hostarray import HostArray
from .arena import Arena, Block, Extent

_LEAST = 1 << 12
"""Bytes of a weight that is shared; smaller ones are not worth a part of their own."""

_WORTH = 1 << 20
"""Bytes of a program's weights from which on they are shared."""

_Key = tuple[int, str]


class Shared:
    """A weight in a memory, for as long as a program has it."""

    __slots__ = ("__weakref__", "extent", "is_new", "origin")

    def __init__(self, extent: Extent, origin: object) -> None:
        """origin: see `HostArray.origin`; while it is held, its identity is that of no other."""
        self.extent, self.origin = extent, origin
        self.is_new = True  # until it is written


class SharedWeights:
    """Where the weights of programs are, in one arena."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._places: WeakValueDictionary[tuple[_Key, Block], Shared] = WeakValueDictionary()

    def place(
        self, whole: int, weights: Mapping[int, tuple[HostArray, int]]
    ) -> tuple[Extent, dict[int, Shared]] | None:
        """The memory of a program; None if its weights are small, or others may change them.

        whole: its bytes if it shares nothing. weights: by their slots, with their bytes there.
        Gives the part for what is not shared, and where the shared weights are, in the same block.
        Raises MemoryError.
        """
        keys: dict[int, _Key] = {}
        sizes: dict[_Key, int] = {}
        origins: dict[_Key, object] = {}
        for slot, (data, size) in weights.items():
            origin = data.origin
            if origin is not None and size >= _LEAST:
                keys[slot] = key = (id(origin), data.dtype.name)
                sizes[key], origins[key] = size, origin
        if sum(sizes.values()) < _WORTH:
            return None
        own = whole - sum(sizes[key] for key in keys.values())
        places, block = self._there(sizes)
        lacking = [key for key in sizes if key not in places]
        wanted = [own, *(sizes[key] for key in lacking)]
        extents = self._arena.within(block, wanted) if block else None
        if extents is None:
            places, lacking = {}, [*sizes]
            # The other plans of the same network need about as much of their own.
            extents = self._arena.together([own, *sizes.values()], room=3 * own)
        part, *others = extents
        for key, extent in zip(lacking, others, strict=True):
            places[key] = self._places[key, part.block] = Shared(extent, origins[key])
        return part, {slot: places[key] for slot, key in keys.items()}

    def _there(self, sizes: Mapping[_Key, int]) -> tuple[dict[_Key, Shared], Block | None]:
        """Those of these weights that are in one block, the one that has most of them."""
        best: tuple[dict[_Key, Shared], Block | None] = {}, None
        most = 0
        for block in self._arena.blocks:
            found = {key: self._places.get((key, block)) for key in sizes}
            places = {key: place for key, place in found.items() if place is not None}
            held = sum(sizes[key] for key in places)
            if held > most:
                best, most = (places, block), held
        return best
