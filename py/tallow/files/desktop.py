"""Fetching and keeping on a desktop: urllib, and folders."""

from __future__ import annotations

import gzip
import http.client
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from ..core.drivers import InThread
from ..errors import FetchError
from ..version import __version__
from .file import Fetched, File, Span, span_of
from .memory import MAGIC

_CHUNK = 1 << 18
_SECONDS = 30
"""How long a server may be silent."""

_NOT_SATISFIABLE = 416


class Reply:
    """What a server sends. start: the first of its bytes within the file; total: the length of the
    file, None if that is unknown; is_exact: that fewer bytes mean a cut connection."""

    is_exact = True

    def __init__(self, response: Any, start: int) -> None:
        self._response = response
        headers = response.headers
        self.start = start
        length = headers.get("Content-Length")
        self.total = start + int(length) if length and length.isdigit() else None

    def read(self) -> bytes:
        """Some bytes; none at the end. Raises FetchError, OSError for a cut connection."""
        try:
            found: bytes = self._response.read(_CHUNK)
        except http.client.HTTPException as error:
            raise FetchError(f"{type(error).__name__}: {error}") from error
        return found

    def close(self) -> None:
        """Ends the connection."""
        self._response.close()


class FolderPart:
    """What there is of a file in a folder: under the name .NAME.part, which this process has
    claimed, or under a name of its own while another process fetches the same file."""

    def __init__(self, folder: Path, name: str, resumes: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._path, self._file = _claimed(folder / f".{name}.part") or _private(folder, name)
        if not resumes:
            self._file.truncate(0)
        self.size = self._file.seek(0, os.SEEK_END)

    def write(self, chunk: bytes) -> None:
        """Adds bytes. Raises OSError."""
        self._file.write(chunk)
        self._file.flush()  # here no space is an error, and the bytes stay if this process dies
        self.size += len(chunk)

    def clear(self) -> None:
        """Forgets all."""
        self._file.seek(0)
        self._file.truncate(0)
        self.size = 0

    def content(self) -> bytes:
        """The bytes."""
        return self._path.read_bytes()[: self.size]

    def finish(self, file: File, source: str, packed: bool) -> Fetched:
        """The file, which is whole, under its own name. Raises ChecksumError, and FetchError for
        what cannot be unpacked; then nothing is left of it."""
        hasher = file.hasher()
        fresh: Path | None = None
        try:
            with self._path.open("rb") as begin:
                packed = packed and begin.read(2) == MAGIC
            if packed:
                fresh, target = _private(self._folder, file.name)
                with target, gzip.open(self._path, "rb") as unpacking:
                    for chunk in _chunks(unpacking):
                        target.write(chunk)
                        if hasher is not None:
                            hasher.update(chunk)
            elif hasher is not None:
                with self._path.open("rb") as whole:
                    for chunk in _chunks(whole):
                        hasher.update(chunk)
            file.check(hasher, source)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            self._drop(fresh)
            raise FetchError(f"what {source} gave cannot be unpacked: {error}") from error
        except BaseException:
            self._drop(fresh)
            raise
        target_path = self._folder / file.name
        if os.name == "nt":
            self.close()  # Windows renames no file that is open
        (fresh or self._path).replace(target_path)
        if fresh is not None:
            self._drop(None)
        return Fetched(target_path)

    def _drop(self, other: Path | None) -> None:
        """Removes the part, and another file."""
        self.clear()
        if os.name == "nt":
            self.close()
        for path in (self._path, other):
            if path is not None:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Gives up the claim. What is there stays for a later run, unless it has a name of its
        own, or is nothing."""
        if self._file.closed:
            return
        if self.size == 0 or not self._path.name.endswith(".part"):
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        self._file.close()


class Desktop:
    """What `fetching` asks for."""

    request = InThread
    reads = InThread
    has_offline = True

    def find(self, file: File) -> Fetched | None:
        """The file, if it is kept."""
        path = file.place / file.name
        return Fetched(path) if path.is_file() else None

    def begin(self, file: File, packed: bool) -> FolderPart:
        """What there is of it, packed or not. Raises OSError if nothing can be kept there."""
        name = f"{file.name}.gz" if packed else file.name
        return FolderPart(file.place, name, resumes=bool(file.checksum))

    def room(self, file: File) -> int | None:
        """The bytes that are free where it is kept."""
        return free_space(file.place)

    def open(self, address: str, start: int) -> Reply:
        """Asks a server for a file from a byte on. Raises FetchError."""
        headers = _headers(f"bytes={start}-" if start else "")
        try:
            response = urlopen(HttpRequest(address, headers=headers), timeout=_SECONDS)
        except HTTPError as error:
            error.close()
            if start and error.code == _NOT_SATISFIABLE:
                return self.open(address, 0)
            raise FetchError(f"the server answered {error.code} {error.reason}") from error
        except (URLError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise FetchError(f"no answer: {reason}") from error
        is_part = start and getattr(response, "status", None) == http.HTTPStatus.PARTIAL_CONTENT
        return Reply(response, start if is_part else 0)

    def asks(self, address: str, start: int, length: int) -> InThread:
        """Requests some bytes of a server's file: a Span."""
        return InThread(self.span, address, start, length)

    def span(self, address: str, start: int, length: int) -> Span:
        """Asks a server for some bytes of a file. Raises FetchError."""
        headers = _headers(f"bytes={start}-{start + length - 1}")
        try:
            response = urlopen(HttpRequest(address, headers=headers), timeout=_SECONDS)
        except HTTPError as error:
            response = error
        except (URLError, http.client.HTTPException, ValueError, OSError) as error:
            raise FetchError(f"no answer: {getattr(error, 'reason', error)}") from error
        with response:
            return span_of(response.status, response.headers.get, start, partial(_body, response))


def _headers(wanted: str) -> dict[str, str]:
    """The headers of a question for a range of bytes; "" for all."""
    headers = {"User-Agent": f"tallow/{__version__}", "Accept-Encoding": "identity"}
    return {**headers, "Range": wanted} if wanted else headers


def _body(response: Any) -> bytes:
    """The body of an answer, or what there was of it when the connection was cut."""
    pieces: list[bytes] = []
    with suppress(http.client.HTTPException, OSError):
        while chunk := response.read(_CHUNK):
            pieces.append(chunk)
    return b"".join(pieces)


def free_space(folder: Path) -> int | None:
    """The bytes that are free where a folder is, or will be; None if nobody knows."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _chunks(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _private(folder: Path, name: str) -> tuple[Path, IO[bytes]]:
    """A file of this process's own."""
    handle, path = tempfile.mkstemp(prefix=f".{name}.", suffix=".own", dir=folder)
    umask = os.umask(0)
    os.umask(umask)
    Path(path).chmod(0o666 & ~umask)  # as other files are; mkstemp's are its user's alone
    return Path(path), os.fdopen(handle, "r+b")


def _claimed(path: Path) -> tuple[Path, IO[bytes]] | None:
    """A file that no other process writes into; None if one does. The claim ends with the process,
    however it ends."""
    while True:
        file = path.open("a+b")
        try:
            _lock(file)
        except OSError:
            file.close()
            return None
        try:
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return path, file
        except FileNotFoundError:
            pass
        file.close()  # its claim ended with the file in its place: look again


def _lock(file: IO[bytes]) -> None:
    """Raises OSError if another process has the file."""
    if os.name == "nt":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
