"""ZIP archives from strangers: what is in them is known before anything is unpacked."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import Self

from ..errors import FormatError

MAX_ENTRIES = 1 << 20

_HEADER = 30  # bytes of an entry's own header, without its name

_TROUBLE = (
    zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, OSError, OverflowError,
    RuntimeError, ValueError, struct.error, MemoryError,
)  # fmt: skip
"""What zipfile raises for damaged archives, for encrypted and for unusual ones."""


class Archive:
    """The entries of an archive. limit: bytes that all of them together may unpack to.

    Raises FormatError for what is no archive, for entries that overlap (one compressed block that
    counts many times, as in Fifield 2019, "A better zip bomb"), that occur twice, or that unpack
    to more than the limit.
    """

    def __init__(self, data: memoryview, source: str, limit: int) -> None:
        self._source = source
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
            entries = self._file.infolist()
        except _TROUBLE as error:
            raise FormatError(f"{source}: not a whole ZIP archive: {str(error)[:200]}") from error
        self._sizes = {entry.filename: entry.file_size for entry in entries}
        if len(self._sizes) != len(entries) or len(entries) > MAX_ENTRIES:
            raise FormatError(f"{source}: entries of the archive have the same name")
        end = 0
        for entry in sorted(entries, key=lambda each: each.header_offset):
            stored = entry.compress_type == zipfile.ZIP_STORED
            if entry.header_offset < end or (stored and entry.compress_size != entry.file_size):
                raise FormatError(f"{source}: entries of the archive overlap")
            end = entry.header_offset + _HEADER + entry.compress_size
        if end > data.nbytes:
            raise FormatError(f"{source}: the archive is cut short")
        total = sum(self._sizes.values())
        if total > limit:
            raise FormatError(
                f"{source}: {data.nbytes} bytes would unpack to {total}, more than the {limit} "
                "that are allowed; max_bytes=... changes that"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    @property
    def names(self) -> list[str]:
        """The names of all entries."""
        return list(self._sizes)

    def read(self, name: str) -> memoryview:
        """An entry, its checksum compared. Raises FormatError if it is missing or damaged."""
        if name not in self._sizes:
            raise FormatError(f"{self._source}: {name!r} is missing in the archive")
        size = self._sizes[name]
        try:
            with self._file.open(name) as file:
                data = file.read(size + 1)  # one more, which compares the checksum
        except _TROUBLE as error:
            raise FormatError(f"{self._source}: {name!r} is damaged: {str(error)[:200]}") from error
        if len(data) != size:
            raise FormatError(f"{self._source}: {name!r} has {len(data)} bytes, expected {size}")
        return memoryview(data)
