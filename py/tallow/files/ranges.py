"""Files that are read by ranges: bytes, a path, an address, a file that the visitor chose.

source = ranges_of("https://example.org/model.gguf")
start = run_sync(source.read(0, 64))
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from ..core.drivers import Steps, at_once
from ..errors import FetchError, OptionError
from .fetching import world_here
from .file import Fetched

_FIRST = 1 << 16
"""Bytes that the first question to a server brings, which tells the length, too."""


class Ranges(Protocol):
    """A file of which some bytes can be read."""

    @property
    def name(self) -> str:
        """What an error calls it."""

    def size(self) -> Steps[int]:
        """The bytes of the file."""

    def read(self, start: int, length: int) -> Steps[memoryview]:
        """Some of its bytes, which are within it. FetchError if they are not there, or are no
        longer those of the same file."""

    def beside(self, name: str) -> Ranges:
        """Another file of the same folder. OptionError if there is no folder."""


def ranges_of(source: Any, name: str = "weights") -> Ranges:
    """What reads a source by ranges.

    source: bytes, an open file, a path, an address (http: or https:), a JavaScript Blob or File, a
      file that was fetched, or what this function gave before.
    name: what errors call a source that has no name of its own.
    """
    if isinstance(source, (InMemory, OnDisk, AtAddress, InBlob)):
        return source
    if isinstance(source, Fetched):
        return ranges_of(source.source, name)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return InMemory(source, name)
    if hasattr(source, "arrayBuffer") and hasattr(source, "slice"):
        return InBlob(source, name)
    if hasattr(source, "read"):
        return InMemory(source.read(), str(getattr(source, "name", name)))
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        return AtAddress(source)
    return OnDisk(Path(source))


class InMemory:
    """Bytes, which are copied where someone else might change them."""

    def __init__(self, data: bytes | bytearray | memoryview, name: str) -> None:
        self.name = name
        self._data = memoryview(data if isinstance(data, bytes) else bytes(data))

    @at_once
    def size(self) -> int:
        """The bytes of the file."""
        return self._data.nbytes

    @at_once
    def read(self, start: int, length: int) -> memoryview:
        """Some of its bytes, without a copy."""
        return self._data[start : start + length]

    def beside(self, name: str) -> Ranges:
        """Raises OptionError: bytes are in no folder."""
        raise _alone(self.name, name)


class OnDisk:
    """A file of a folder."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name
        self._world = world_here(False)
        self._seen: tuple[int, ...] | None = None

    def size(self) -> Steps[int]:
        """The bytes of the file. Raises OSError."""
        yield from self.read(0, 0)
        assert self._seen is not None
        return self._seen[0]

    def read(self, start: int, length: int) -> Steps[memoryview]:
        """Some of its bytes. FetchError if the file has changed since it was first read."""
        found: memoryview = yield self._world.reads(self._read, start, length)
        return found

    def _read(self, start: int, length: int) -> memoryview:
        with self.path.open("rb", buffering=0) as file:
            seen = _identity(file)
            if self._seen not in (None, seen):
                raise _changed(self.name)
            self._seen = seen
            file.seek(start)
            pieces: list[bytes] = []
            left = length
            while left and (piece := file.read(left)):
                pieces.append(piece)
                left -= len(piece)
        if left:
            raise FetchError(
                f"{self.name}: {left:,} of {length:,} bytes from {start:,} on are gone"
            )
        return memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def beside(self, name: str) -> Ranges:
        """Another file of the same folder."""
        return OnDisk(self.path.with_name(name))


class AtAddress:
    """A file of a server that knows ranges."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.name = address.partition("?")[0].rpartition("/")[2] or address
        self._world = world_here(False)
        self._known: tuple[int, str] | None = None
        self._first = b""

    def size(self) -> Steps[int]:
        """The bytes of the file. FetchError if the server sends no ranges of it."""
        if self._known is None:
            self._first = yield from self._span(0, _FIRST)
        assert self._known is not None
        return self._known[0]

    def read(self, start: int, length: int) -> Steps[memoryview]:
        """Some of its bytes, in as many questions as bring some. FetchError if there is no answer,
        if the server sends the whole file, or if it has become another one."""
        yield from self.size()
        if start + length <= len(self._first):
            return memoryview(self._first)[start : start + length]
        pieces: list[bytes] = []
        end = start + length
        while start < end:
            piece = yield from self._span(start, end - start)
            if not piece:
                raise FetchError(f"{self.address}: the server ended at byte {start:,} of {end:,}")
            pieces.append(piece[: end - start])
            start += len(pieces[-1])
        return memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def _span(self, start: int, length: int) -> Steps[bytes]:
        try:
            span = yield self._world.asks(self.address, start, length)
        except FetchError as error:
            raise FetchError(f"{self.address}: {error}") from error
        known = span.total, span.mark
        if self._known not in (None, known):
            raise _changed(self.address)
        self._known = known
        data: bytes = span.data
        return data

    def beside(self, name: str) -> Ranges:
        """Another file of the same folder."""
        path, mark, query = self.address.partition("?")
        return AtAddress(f"{path.rpartition('/')[0]}/{name}{mark}{query}")


class InBlob:
    """A JavaScript Blob or File; one that changes on the disk can no longer be read."""

    def __init__(self, blob: Any, name: str) -> None:
        self.name = str(getattr(blob, "name", name))
        self._blob, self._world = blob, world_here(False)

    @at_once
    def size(self) -> int:
        """The bytes of the file."""
        return int(self._blob.size)

    def read(self, start: int, length: int) -> Steps[memoryview]:
        """Some of its bytes. FetchError if the browser cannot read them."""
        try:
            found = yield self._world.asks_blob(self._blob, start, length)
        except FetchError as error:
            raise FetchError(f"{self.name}: {error}") from error
        if len(found) != length:
            raise FetchError(f"{self.name}: {len(found):,} of {length:,} bytes from {start:,} on")
        return memoryview(found)

    def beside(self, name: str) -> Ranges:
        """Raises OptionError: a page sees no folder of a file."""
        raise _alone(self.name, name)


def _identity(file: BinaryIO | Any) -> tuple[int, ...]:
    """What changes with a file: its length first."""
    known = os.fstat(file.fileno())
    return known.st_size, known.st_mtime_ns, known.st_ino


def _changed(name: str) -> FetchError:
    return FetchError(f"{name} has become another file while it was read: open it once more")


def _alone(name: str, other: str) -> OptionError:
    return OptionError(
        f"{name} needs {other!r}, and its folder is unknown: give all files by name, in a dict"
    )
