"""External data: weights that lie in files beside the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath

from ..errors import OnnxFormatError


class ExternalFiles:
    """Reads external data from the folder of a model; None: the model came as bytes."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def read(self, entries: Mapping[str, str], needed: int, what: str) -> bytes:
        """The `needed` bytes that the entries (location, offset, length) point to.

        Raises OnnxFormatError if there is no folder, the path leaves it, or the file is too short.
        """
        location = entries.get("location", "")
        if self._folder is None:
            raise OnnxFormatError(
                f"{what} lies in another file, {location!r}, and this model came as bytes: "
                "load it by its path, or save it with its weights inside"
            )
        path = self._inside(location, what)
        offset = _number(entries, "offset", 0, what)
        length = _number(entries, "length", needed, what)
        if length != needed:
            raise OnnxFormatError(f"{what} needs {needed:,} bytes, but claims {length:,}")
        try:
            size = path.stat().st_size
            if offset + needed > size:
                raise OnnxFormatError(
                    f"{what} needs {needed:,} bytes at {offset:,} of {location!r}, "
                    f"which has {size:,}"
                )
            with path.open("rb") as file:
                file.seek(offset)
                data = file.read(needed)
        except OSError as error:
            raise OnnxFormatError(
                f"{what} lies in {location!r}, which cannot be read: {error.strerror}"
            ) from error
        if len(data) != needed:
            raise OnnxFormatError(f"{what}: {location!r} shrank while it was read")
        return data

    def _inside(self, location: str, what: str) -> Path:
        assert self._folder is not None
        parts = PureWindowsPath(location)  # knows both kinds of separator, and drives
        if not location or "\0" in location or parts.is_absolute() or parts.drive or parts.root:
            raise OnnxFormatError(f"{what} lies in {location!r}, which is not a relative path")
        folder = self._folder.resolve()
        path = folder.joinpath(*parts.parts).resolve()
        if ".." in parts.parts or not path.is_relative_to(folder):
            raise OnnxFormatError(f"{what} lies in {location!r}, outside the model's folder")
        return path


def _number(entries: Mapping[str, str], key: str, default: int, what: str) -> int:
    text = entries.get(key, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise OnnxFormatError(f"{what}: external data with {key} {text!r}")
    return int(text)
