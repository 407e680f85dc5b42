"""The pictures in a zip, one after the other; the page asks for the next one when it has room."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

from tallow.errors import DataError, OptionError

from ..javascript import copied

__all__ = ["open_zip", "read_zip"]

_LARGEST = 128 << 20
"""Bytes of a file within it, at most: more than any photograph has."""


class _Blob(io.RawIOBase):
    """A file of the browser's, read part by part."""

    def __init__(self, read: Callable[[int, int], Any], size: int) -> None:
        self._read, self._size, self._at = read, size, 0

    def readable(self) -> bool:
        """See `io.IOBase`."""
        return True

    def seekable(self) -> bool:
        """See `io.IOBase`."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """See `io.IOBase`."""
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at}.get(whence, self._size))
        return self._at

    def readinto(self, into: Any) -> int:
        """See `io.RawIOBase`."""
        end = min(self._at + len(into), self._size)
        found = bytes(copied(self._read(self._at, end))) if end > self._at else b""
        into[: len(found)] = found
        self._at += len(found)
        return len(found)


_zip: tuple[str, zipfile.ZipFile, list[zipfile.ZipInfo]] | None = None


async def open_zip(name: str, read: Callable[[int, int], Any], size: int) -> str:
    """Opens a zip; the one before is closed. Returns the paths of its files, JSON.

    read: its bytes from one place to another, a JavaScript function or another. size: of the zip.
    Raises DataError for a damaged one.
    """
    global _zip
    try:
        opened = zipfile.ZipFile(io.BufferedReader(_Blob(read, size), 1 << 20))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise DataError(f"{name} is damaged, or no zip: {error}") from error
    infos = [each for each in opened.infolist() if not each.is_dir()]
    _zip = name, opened, infos
    return json.dumps([each.filename for each in infos])


def read_zip(name: str, number: int) -> bytes:
    """A file of the open zip. number: of its path in the answer of `open_zip`.

    Raises DataError for a file that is damaged, encrypted or larger than 128 MB; OptionError if
    another zip is open.
    """
    if _zip is None or _zip[0] != name:
        raise OptionError(f"{name} is not open")
    _, opened, infos = _zip
    info = infos[number]
    if info.file_size > _LARGEST:
        raise DataError(f"{name}: {info.filename} has {info.file_size:,} bytes, too many")
    try:
        return opened.read(info)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{name}: {info.filename} cannot be read: {error}") from error
