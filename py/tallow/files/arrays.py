"""Arrays whose bytes lie in a file until a device takes them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..core.dtype import DType
from ..core.hostarray import HostArray
from ..core.shape import Shape
from ..core.streamed_weights import StreamedArray


class ReadArray(StreamedArray):
    """One whose bytes are read whenever they are asked for, and not kept."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], memoryview], shape: Shape, dtype: DType) -> None:
        part = None if dtype.kind == "b" else _Unread(read)  # a device has bools in another form
        super().__init__(part, shape, dtype)  # type: ignore[arg-type]
        object.__setattr__(self, "_read", read)

    _read: Callable[[], memoryview]

    @property
    def data(self) -> memoryview:
        """The bytes, read now."""
        return self._read()

    async def arrive(self) -> None:
        """Does nothing: they are there, in the file."""

    def made(self, make: Callable[[HostArray], HostArray], shape: Shape, dtype: DType) -> ReadArray:
        """What a function makes of it, made whenever its bytes are asked for."""
        return ReadArray(lambda: make(self).data, shape, dtype)


class _Unread:
    """The bytes of a ReadArray, for a device in a browser: a Part."""

    here = False
    """So that a device that writes bytes itself asks for those of the array."""

    def __init__(self, read: Callable[[], memoryview]) -> None:
        self.take = read

    @property
    def handle(self) -> Any:
        """What the browser's runner uploads."""
        if sys.platform != "emscripten":
            return self
        from .browser import Lent

        return Lent(self.take)

    async def ready(self) -> None:
        """Does nothing."""
