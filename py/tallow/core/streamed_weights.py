"""Weights that are still on their way: known by type and shape, while their bytes come.

A graph is built and compiled with them. A device may take the bytes from the file itself as they
arrive, so that they are never in Python's memory. Asking for the bytes of one before they are here
raises DataNotLoadedError. This is rare: `StreamedFile.arrive` then reads everything, and the step
is retried.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

from ..errors import DataNotLoadedError
from .codes import packed_bytes
from .dtype import DType
from .hostarray import HostArray
from .shape import Shape, size_of


class Part(Protocol):
    """Some bytes of a file that is on its way. here: whether they are there. handle: what a device
    that reads the file itself takes in place of the bytes."""

    @property
    def handle(self) -> Any:
        """What a device that reads the file itself takes."""

    @property
    def here(self) -> bool:
        """Whether the bytes have arrived."""

    def ready(self) -> Awaitable[Any]:
        """Resolves once they are there."""

    def take(self) -> memoryview:
        """Returns them, once they have arrived; may be called only once."""


class Source(Protocol):
    """A file that is on its way."""

    @property
    def size(self) -> int:
        """The bytes of the file."""

    def part(self, offset: int, length: int) -> Part:
        """Some of its bytes, which are asked for once at most."""


class StreamedFile:
    """A file of weights, and the arrays in it that something needs."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._arrays: dict[tuple[int, Shape, DType], StreamedArray] = {}

    @property
    def nbytes(self) -> int:
        """Its length."""
        return self._source.size

    def array(self, offset: int, shape: Shape, dtype: DType) -> StreamedArray:
        """The elements that begin at an offset; they are within the file."""
        key = offset, shape, dtype
        if key not in self._arrays:
            part = self._source.part(offset, packed_bytes(dtype, size_of(shape)))
            self._arrays[key] = StreamedArray(part, shape, dtype)
        return self._arrays[key]

    async def arrive(self) -> None:
        """Waits until the bytes of every array have arrived."""
        for array in self._arrays.values():
            await array.arrive()


class StreamedArray(HostArray):
    """One whose bytes are here after `arrive`, and before that in `part`."""

    __slots__ = ("_held", "part")

    def __init__(self, part: Part, shape: Shape, dtype: DType) -> None:
        for name, value in (("shape", shape), ("dtype", dtype), ("part", part), ("_held", None)):
            object.__setattr__(self, name, value)

    part: Part | None
    _held: memoryview | None

    @property
    def data(self) -> memoryview:
        """The bytes; DataNotLoadedError before they have arrived."""
        if self._held is None:
            raise DataNotLoadedError(f"{self.dtype.name} {self.shape} is still on its way")
        return self._held

    @property
    def origin(self) -> object:
        """Itself, also before its bytes are here."""
        return self

    async def arrive(self) -> None:
        """Waits for the bytes, and copies them into Python's memory."""
        if self.part is None:
            return
        if not self.part.here:
            await self.part.ready()
        object.__setattr__(self, "_held", memoryview(self.part.take()).cast("B"))
        object.__setattr__(self, "part", None)
