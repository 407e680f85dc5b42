"""Adapts JavaScript values for the library. Tests pass Python values instead."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any


def view(buffer: Any) -> memoryview:
    """The bytes of a typed array, without a copy, or of any Python buffer."""
    found = buffer.to_memoryview() if hasattr(buffer, "to_memoryview") else memoryview(buffer)
    return found.cast("B")


def copied(buffer: Any) -> Any:
    """The bytes of a typed array, copied into Python's memory; a Python buffer unchanged."""
    return buffer.to_bytes() if hasattr(buffer, "to_bytes") else buffer


def plain(value: Any) -> Any:
    """An object or a list of JavaScript as Python's; a Python value unchanged."""
    return value.to_py() if hasattr(value, "to_py") else value


class Part:
    """Adapts a `Part` of web/site/streamed.js for tallow/core/streamed_weights.py."""

    def __init__(self, part: Any) -> None:
        self.handle = part

    @property
    def here(self) -> bool:
        return bool(self.handle.here)

    def ready(self) -> Awaitable[Any]:
        """Resolves once the bytes are loaded."""
        promise: Awaitable[Any] = self.handle.ready()
        return promise

    def take(self) -> memoryview:
        """The bytes, copied into Python's memory."""
        return memoryview(copied(self.handle.take())).cast("B")


class Source:
    """Adapts a `StreamedFile` of web/site/streamed.js for tallow/core/streamed_weights.py."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.size = int(file.size)

    def part(self, offset: int, length: int) -> Part:
        """A range of its bytes."""
        return Part(self._file.part(offset, length))
