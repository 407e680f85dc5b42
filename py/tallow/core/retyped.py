"""Arrays whose bytes are read as elements of another type, though they may be on their way."""

from __future__ import annotations

from .dtype import DType
from .hostarray import HostArray
from .shape import Shape
from .streamed_weights import Part, StreamedArray


class Retyped(StreamedArray):
    """The bytes of another one, as elements of another type."""

    __slots__ = ("_source",)

    def __init__(self, source: StreamedArray, shape: Shape, dtype: DType) -> None:
        for name, value in (("shape", shape), ("dtype", dtype), ("_source", source)):
            object.__setattr__(self, name, value)

    _source: StreamedArray

    @property
    def part(self) -> Part | None:  # type: ignore[override]
        """That of the other one."""
        return self._source.part

    @property
    def data(self) -> memoryview:
        """The bytes; DataNotLoadedError before they have arrived."""
        return self._source.data

    @property
    def origin(self) -> object:
        """That of the other one."""
        return self._source.origin

    async def arrive(self) -> None:
        """Waits for the bytes, and copies them into Python's memory."""
        await self._source.arrive()


def retyped(data: HostArray, shape: Shape, dtype: DType) -> HostArray:
    """The bytes of an array as one of another type."""
    if isinstance(data, StreamedArray):
        return Retyped(data, shape, dtype)
    return HostArray(data.data, shape, dtype)
