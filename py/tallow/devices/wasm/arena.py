"""Memory that many programs share: a few large blocks, of which each program has a part.

An engine has room for few memories, however small they are, and a browser frees one only when it
collects garbage. So what a program leaves is used again by those after it.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

PAGE = 65536
"""Bytes of a page of memory."""

_ALIGNED = 64  # bytes, as in web/wasm/program.js: a line of most caches
_LEAST = 1 << 20
_MOST = 1 << 26
"""Bytes of a block, unless a program needs more. A block is as large as all those before it, so
that there are few; the system provides a page of it when something first writes there."""

_LIMIT = 1 << 32  # what WebAssembly can address with 32 bits


class Block:
    """A memory. free: what no program has, as starts and ends, sorted; neighbours are joined."""

    def __init__(self, memory: Any, size: int) -> None:
        self.memory = memory
        self.size = size
        self.free = [(0, size)]

    @property
    def is_free(self) -> bool:
        return self.free == [(0, self.size)]

    def take(self, size: int) -> int | None:
        """The start of the first part that is large enough; None if there is none."""
        for number, (start, end) in enumerate(self.free):
            if end - start >= size:
                self.free[number : number + 1] = [(start + size, end)] if end - start > size else []
                return start
        return None

    def take_all(self, sizes: Sequence[int]) -> list[int] | None:
        """The starts of parts of these sizes; None, and nothing is taken, if one does not fit."""
        before = list(self.free)
        starts: list[int] = []
        for size in sizes:
            start = self.take(size)
            if start is None:
                self.free = before
                return None
            starts.append(start)
        return starts

    def give_back(self, start: int, end: int) -> None:
        insort(self.free, (start, end))
        at = self.free.index((start, end))
        if at + 1 < len(self.free) and self.free[at + 1][0] == end:
            self.free[at : at + 2] = [(start, self.free[at + 1][1])]
        if at and self.free[at - 1][1] == start:
            self.free[at - 1 : at + 1] = [(self.free[at - 1][0], self.free[at][1])]


class Extent:
    """A part of a block, until it is closed, or nothing holds it."""

    __slots__ = ("_arena", "block", "memory", "size", "start")

    def __init__(self, arena: Arena, block: Block, start: int, size: int) -> None:
        self._arena: Arena | None = arena
        self.block = block
        self.memory = block.memory
        self.start, self.size = start, size

    def close(self) -> None:
        """Frees it; may be called only once."""
        arena, self._arena = self._arena, None
        if arena is not None:
            arena.left.append((self.block, self.start, self.start + self.size))

    def __del__(self) -> None:
        self.close()


class Arena:
    """The blocks of one kind of memory. make: gives a memory of so many pages, or raises
    MemoryError. left: what was given back and is not free yet; an extent may be closed at any
    moment, also while another one is made."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._blocks: list[Block] = []
        self._lock = Lock()
        self.left: deque[tuple[Block, int, int]] = deque()

    @property
    def blocks(self) -> Sequence[Block]:
        """The memories that there are."""
        return tuple(self._blocks)

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks."""
        return sum(block.size for block in self._blocks)

    @property
    def used(self) -> int:
        """Bytes that programs have."""
        with self._lock:
            self._collect()
            free = sum(end - start for block in self._blocks for start, end in block.free)
            return self.nbytes - free

    def extent(self, size: int) -> Extent:
        """Memory of so many bytes, with any content. Raises MemoryError."""
        return self.together([size])[0]

    def together(self, sizes: Sequence[int], room: int = 0) -> list[Extent]:
        """The same several times, all in one block. room: bytes that this has beside them.
        Raises MemoryError."""
        with self._lock:
            self._collect()
            for block in self._blocks:
                found = self._taken(block, sizes, _rounded(room) if room else 0)
                if found is not None:
                    return found
            # Blocks that are free but too small would only be in the way of a larger one.
            self._blocks = [block for block in self._blocks if not block.is_free]
            whole = self._size(sum(map(_rounded, sizes)) + room)
            block = Block(self._make(whole // PAGE), whole)
            self._blocks.append(block)
            found = self._taken(block, sizes)
            assert found is not None
            return found

    def within(self, block: Block, sizes: Sequence[int]) -> list[Extent] | None:
        """The same in a block that there is; None if it has no room."""
        with self._lock:
            self._collect()
            return self._taken(block, sizes)

    def _taken(self, block: Block, sizes: Sequence[int], room: int = 0) -> list[Extent] | None:
        rounded = [*map(_rounded, sizes)]
        starts = block.take_all([*rounded, room] if room else rounded)
        if starts is None:
            return None
        if room:
            start = starts.pop()
            block.give_back(start, start + room)
        return [Extent(self, block, *each) for each in zip(starts, rounded, strict=True)]

    def _size(self, size: int) -> int:
        """Of a new block. One for a large program has room for the next program, which may be a
        little larger."""
        usual = min(max(self.nbytes, _LEAST), _MOST)
        step = max(1 << (size.bit_length() - 3), PAGE)
        return min(max(usual, (size // step + 1) * step), _LIMIT)

    def _collect(self) -> None:
        while self.left:
            block, start, end = self.left.popleft()
            block.give_back(start, end)


def aligned(size: int) -> int:
    """What so many bytes take, so that what follows begins where it may."""
    return -(-size // _ALIGNED) * _ALIGNED


def _rounded(size: int) -> int:
    return max(aligned(size), _ALIGNED)
