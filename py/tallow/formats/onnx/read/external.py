"""External data: weights stored in files next to the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

from ....core.streamed_weights import StreamedFile
from ....errors import OnnxFormatError, OnnxMissingDataError
from .given import GivenNames, Parts


class MissingFileError(OnnxFormatError):
    """A file of external data is missing; `ExternalFiles.refuse` names all of them."""


class StreamedRange(NamedTuple):
    """Where data begins in a file that is still loading."""

    file: StreamedFile
    offset: int


class ExternalFiles:
    """Reads external data from the model's folder, or from files given by name (given.py): their
    bytes, or a StreamedFile. Without either, the model was loaded from bytes alone. read_from: the
    names of the files that were needed."""

    def __init__(self, folder: Path | None, given: Mapping[str, Any] | None = None) -> None:
        self._folder = folder
        self._given = given
        self._names = GivenNames(given or ())
        self.read_from: set[str] = set()
        self._missing: dict[str, None] = {}  # locations, in order

    def refuse(self) -> None:
        """Raises OnnxMissingDataError if any file was missing."""
        if self._missing:
            raise OnnxMissingDataError(tuple(self._missing))

    def read(
        self, entries: Mapping[str, str], needed: int, what: str
    ) -> bytes | memoryview | StreamedRange:
        """The `needed` bytes that the entries (location, offset, length) point to.

        For given files this is a view or a StreamedRange. Raises MissingFileError,
        OnnxAmbiguousDataError, or OnnxFormatError if there is neither a folder nor a file, the path
        leaves the folder, or the file is too short.
        """
        location = entries.get("location", "")
        if self._given is not None:
            return self._view(location, entries, needed, what)
        if self._folder is None:
            raise OnnxFormatError(
                f"{what} is stored in another file, {location!r}, but this model was loaded from "
                "bytes: load it by its path, or save it with its weights inside"
            )
        path = self._inside(location, what)
        offset = _offset(entries, needed, what)
        try:
            _check_size(location, path.stat().st_size, offset, needed, what)
            with path.open("rb") as file:
                file.seek(offset)
                data = file.read(needed)
        except FileNotFoundError as error:
            raise self._lacks(location, what) from error
        except OSError as error:
            raise OnnxFormatError(
                f"{what} is stored in {location!r}, which cannot be read: {error.strerror}"
            ) from error
        if len(data) != needed:
            raise OnnxFormatError(f"{what}: {location!r} shrank while it was being read")
        return data

    def _view(
        self, location: str, entries: Mapping[str, str], needed: int, what: str
    ) -> memoryview | StreamedRange:
        assert self._given is not None
        _relative(location, what)
        name = self._names.find(location)
        if name is None:
            raise self._lacks(location, what)
        self.read_from.add(name)
        given, offset = self._given[name], _offset(entries, needed, what)
        content = given if isinstance(given, StreamedFile) else memoryview(given).cast("B")
        _check_size(location, content.nbytes, offset, needed, what)
        if isinstance(content, StreamedFile):
            return StreamedRange(content, offset)
        return content[offset : offset + needed]

    def _lacks(self, location: str, what: str) -> MissingFileError:
        self._missing[location] = None
        return MissingFileError(f"{what} is stored in {location!r}, which is missing")

    def _inside(self, location: str, what: str) -> Path:
        assert self._folder is not None
        folder = self._folder.resolve()
        path = folder.joinpath(*_relative(location, what)).resolve()
        if not path.is_relative_to(folder):  # through a symlink
            raise _outside(location, what)
        return path


def _relative(location: str, what: str) -> Parts:
    """The parts of a location; OnnxFormatError unless it is a path below the model's folder."""
    path = PureWindowsPath(location)  # knows both kinds of separator, and drives
    if not path.parts or "\0" in location or path.is_absolute() or path.drive or path.root:
        raise OnnxFormatError(f"{what} is stored in {location!r}, which is not a relative path")
    if ".." in path.parts:
        raise _outside(location, what)
    return path.parts


def _outside(location: str, what: str) -> OnnxFormatError:
    return OnnxFormatError(f"{what} is stored in {location!r}, outside the model's folder")


def _offset(entries: Mapping[str, str], needed: int, what: str) -> int:
    length = _number(entries, "length", needed, what)
    if length != needed:
        raise OnnxFormatError(f"{what} needs {needed:,} bytes, but claims {length:,}")
    return _number(entries, "offset", 0, what)


def _check_size(location: str, size: int, offset: int, needed: int, what: str) -> None:
    if offset + needed > size:
        raise OnnxFormatError(
            f"{what} needs {needed:,} bytes at {offset:,} of {location!r}, which has {size:,}"
        )


def _number(entries: Mapping[str, str], key: str, default: int, what: str) -> int:
    text = entries.get(key, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise OnnxFormatError(f"{what}: its external data has the {key} {text!r}")
    return int(text)
