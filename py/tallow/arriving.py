"""Weights that are still on their way: known by type and shape, while their bytes come.

A graph is built and compiled with them; a GPU takes the bytes from the file itself as they arrive
(web/shared/streamed.js), so that they never are in Python's memory. Whoever asks for one before
it is here gets NotHereError: few do, and then it is all read first, and the same done again.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

from .codes import packed_bytes
from .dtype import DType
from .errors import TallowError
from .hostarray import HostArray
from .shape import Shape, size_of


class NotHereError(TallowError):
    """The bytes of an array were asked for before they had arrived."""


class Part(Protocol):
    """Some bytes of a file that is on its way: `Part` in web/arriving.js. here: whether they are
    there."""

    @property
    def here(self) -> bool: ...

    def ready(self) -> Awaitable[Any]:
        """Resolves once they are there."""

    def take(self) -> Any:
        """Gives them, when they are; nobody asks for them again."""


class Sender(Protocol):
    """A file that is on its way: `StreamedFile` in web/arriving.js."""

    size: int

    def part(self, offset: int, length: int) -> Part:
        """Some of its bytes, which are asked for once at most."""


class ArrivingFile:
    """A file of weights, and the arrays in it that something needs."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._arrays: dict[tuple[int, Shape, DType], ArrivingArray] = {}

    @property
    def nbytes(self) -> int:
        """Its length."""
        return int(self._sender.size)

    def array(self, offset: int, shape: Shape, dtype: DType) -> ArrivingArray:
        """The elements that begin at an offset; they lie within the file."""
        key = offset, shape, dtype
        if key not in self._arrays:
            part = self._sender.part(offset, packed_bytes(dtype, size_of(shape)))
            self._arrays[key] = ArrivingArray(part, shape, dtype)
        return self._arrays[key]

    async def arrive(self) -> None:
        """Has the bytes of every array here."""
        for array in self._arrays.values():
            await array.arrive()


class ArrivingArray(HostArray):
    """One whose bytes are here after `arrive`, and before that in `part`."""

    __slots__ = ("_held", "part")

    def __init__(self, part: Part, shape: Shape, dtype: DType) -> None:
        for name, value in (("shape", shape), ("dtype", dtype), ("part", part), ("_held", None)):
            object.__setattr__(self, name, value)

    part: Part | None
    _held: memoryview | None

    @property
    def data(self) -> memoryview:
        """The bytes; NotHereError before they have arrived."""
        if self._held is None:
            raise NotHereError(f"{self.dtype.name} {self.shape} is still on its way")
        return self._held

    async def arrive(self) -> None:
        """Waits for the bytes, and copies them into Python's memory."""
        if self.part is None:
            return
        if not self.part.here:
            await self.part.ready()
        content = self.part.take()
        content = content.to_bytes() if hasattr(content, "to_bytes") else content
        object.__setattr__(self, "_held", memoryview(content).cast("B"))
        object.__setattr__(self, "part", None)
