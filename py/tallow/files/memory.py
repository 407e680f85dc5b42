"""A file that is kept in memory alone, and the unpacking of what is there."""

from __future__ import annotations

import gzip
import zlib

from ..errors import FetchError
from .file import Fetched, File

MAGIC = b"\x1f\x8b"
"""How a packed file begins. Some servers say that they have packed a file that was packed before,
so that a browser has unpacked it."""


def unpacked(content: bytes, source: str) -> bytes:
    """The content of a .gz file. Raises FetchError if it is damaged."""
    if content[:2] != MAGIC:
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        raise FetchError(f"what {source} gave cannot be unpacked: {error}") from error


class MemoryPart:
    """What there is of a file, in memory."""

    def __init__(self, content: bytes = b"") -> None:
        self._content = bytearray(content)

    @property
    def size(self) -> int:
        """How many bytes are there."""
        return len(self._content)

    def write(self, chunk: bytes) -> None:
        """Adds bytes."""
        self._content += chunk

    def clear(self) -> None:
        """Forgets all."""
        self._content = bytearray()

    def content(self) -> bytes:
        """The bytes."""
        return bytes(self._content)

    def finish(self, file: File, source: str, packed: bool) -> Fetched:
        """The file, which is whole. Raises ChecksumError."""
        content = self.content()
        found = unpacked(content, source) if packed else content
        hasher = file.hasher()
        if hasher is not None:
            hasher.update(found)
        file.check(hasher, source)
        return Fetched(None, found)

    def close(self) -> None:
        """Does nothing."""
