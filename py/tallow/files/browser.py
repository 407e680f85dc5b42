"""Fetching and keeping in a browser: `fetch`, and the page's own files (OPFS), below `tallow/`.

A worker writes what arrives into a file of the storage at once, so that another visit goes on from
it; the browser lets one writer have that file. Code that must block uses JavaScript Promise
Integration, or, in a worker without it, a request that blocks, whose answer is not kept.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import inspect
import io
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyodide.ffi import (  # type: ignore[import-not-found]
    JsException,
    can_run_sync,
    run_sync,
    to_js,
)

import js  # type: ignore[import-not-found]

from ..core.drivers import Steps
from ..errors import FetchError
from .file import Fetched, File, Span, span_of
from .memory import MAGIC

_NOT_SATISFIABLE, _PARTIAL = 416, 206

_PIECE = 1 << 20
"""Bytes of a kept file that are in Python's memory at a time."""


def _object(fields: Mapping[str, Any]) -> Any:
    return to_js(fields, dict_converter=js.Object.fromEntries)


def world(blocks: bool) -> Browser | BlockingBrowser:
    """What fetches and keeps for code that awaits, or that must block."""
    return BlockingBrowser() if blocks and not can_run_sync() else Browser()


class Awaiting:
    """Requests a call, which may have to be awaited."""

    def __init__(self, call: Callable[..., Any], *args: Any) -> None:
        self._call, self._args = call, args

    def run_sync(self) -> Any:
        """What the call gives; blocks."""
        return run_sync(self.run_async())

    async def run_async(self) -> Any:
        """What the call gives, once it is there."""
        found = self._call(*self._args)
        return await found if inspect.isawaitable(found) else found


class Reply:
    """What a server sends. `total` may be of packed bytes, so that fewer or more mean nothing; the
    browser itself tells a cut connection."""

    is_exact = False

    def __init__(self, response: Any, start: int) -> None:
        self._reader = response.body.getReader()
        self.start = start
        length = response.headers.get("Content-Length")
        self.total = start + int(length) if length else None

    async def read(self) -> bytes:
        """Some bytes; none at the end. Raises FetchError for a cut connection."""
        try:
            found = await self._reader.read()
            while not found.done and not found.value.length:
                found = await self._reader.read()
        except JsException as error:
            raise FetchError(str(error.message)) from error
        return b"" if found.done else bytes(found.value.to_bytes())

    def close(self) -> None:
        """Ends the connection."""
        self._reader.cancel().catch(js.Boolean)  # a promise whose failure nobody waits for


class StoragePart:
    """What there is of a file in the page's storage, which this worker alone writes."""

    def __init__(self, folder: Any, handle: Any, access: Any, hasher: Any = None) -> None:
        """hasher: makes the checksum of these bytes while they arrive; None without one."""
        self._folder, self._handle, self._access = folder, handle, access
        self.size = int(access.getSize())
        self._open = True
        self._hasher, self._hashed = hasher, 0

    def write(self, chunk: bytes) -> None:
        """Adds bytes. Raises OSError."""
        self._hash_rest()
        try:
            written = self._access.write(to_js(chunk), _object({"at": self.size}))
        except JsException as error:
            full = str(error.name) == "QuotaExceededError"
            raise OSError(errno.ENOSPC if full else errno.EIO, str(error.message)) from error
        if written < len(chunk):
            raise OSError(errno.ENOSPC, "the storage is full")
        self.size += len(chunk)
        self._hash(chunk)

    def _hash(self, chunk: bytes) -> None:
        self._hashed += len(chunk)
        if self._hasher is not None:
            self._hasher.update(chunk)

    def _hash_rest(self) -> None:
        """Hashes what an earlier visit has left."""
        while self._hashed < self.size:
            self._hash(self.read(self._hashed, _PIECE))

    def clear(self) -> None:
        """Forgets all."""
        self._access.truncate(0)
        self.size = self._hashed = 0
        if self._hasher is not None:
            self._hasher = hashlib.new(self._hasher.name, usedforsecurity=False)

    def read(self, start: int, length: int) -> bytes:
        """Some of the bytes, as many as there are."""
        found = js.Uint8Array.new(max(0, min(length, self.size - start)))
        self._access.read(found, _object({"at": start}))
        return bytes(found.to_bytes())

    def content(self) -> bytes:
        """The bytes."""
        return self.read(0, self.size)

    async def finish(self, file: File, source: str, packed: bool) -> Fetched:
        """The file, which is whole, under its own name. Raises ChecksumError, and FetchError for
        what cannot be unpacked; then nothing is left of it."""
        if packed and self.read(0, len(MAGIC)) == MAGIC:
            return await self._finish_unpacked(file, source)
        self._hash_rest()
        try:
            file.check(self._hasher, source)
        except FetchError:
            self.clear()
            raise
        self._access.flush()
        self.close()
        await self._handle.move(file.name)
        return Kept(None, blob=await self._handle.getFile())

    async def _finish_unpacked(self, file: File, source: str) -> Fetched:
        """The same of what it has packed, which is written beside it, a piece after the other."""
        fresh = await _part(self._folder, f".{file.name}.own", file.hasher())
        fresh.clear()
        try:
            with gzip.open(io.BufferedReader(_Reader(self), _PIECE)) as unpacking:
                while chunk := unpacking.read(_PIECE):
                    fresh.write(chunk)
            return await fresh.finish(file, source, False)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FetchError(f"what {source} gave cannot be unpacked: {error}") from error
        finally:
            fresh.close()
            self.clear()

    def close(self) -> None:
        """Gives up the claim; what is there stays for a later run."""
        if self._open:
            self._open = False
            self._access.close()


class _Reader(io.RawIOBase):
    """A part as a file of Python's."""

    def __init__(self, part: StoragePart) -> None:
        self._part, self._at = part, 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        found = self._part.read(self._at, len(target))
        target[: len(found)] = found
        self._at += len(found)
        return len(found)


@dataclass(frozen=True, slots=True)
class Kept(Fetched):
    """A file of the page's storage, which is read when it is needed, and then in parts.

    blob: a JavaScript File.
    """

    blob: Any = None

    @property
    def source(self) -> Any:
        """The Blob."""
        return self.blob

    def reading(self) -> Steps[bytes]:
        """The steps of `read`."""
        content: bytes = yield Either("blob_part", self.blob, 0, int(self.blob.size))
        return content


class Lent:
    """Bytes that are read when JavaScript asks for them: a Streamed of web/gpu/python.js."""

    def __init__(self, read: Callable[[], memoryview]) -> None:
        self._read = read

    def ready(self) -> None:
        """Does nothing: they are read at once."""

    def bytes(self) -> Any:
        """A copy of the bytes, which JavaScript frees."""
        return to_js(self._read())


class Browser:
    """What `fetching` asks for."""

    request = Awaiting
    has_offline = False

    async def find(self, file: File) -> Fetched | None:
        """The file, if it is kept."""
        try:
            folder = await _folder(file, create=False)
            blob = await (await folder.getFileHandle(file.name)).getFile()
        except (AttributeError, JsException):
            return None
        return Kept(None, blob=blob)

    async def begin(self, file: File, packed: bool) -> StoragePart:
        """What there is of it, packed or not. Raises OSError if nothing can be kept."""
        name = f".{file.name}.gz.part" if packed else f".{file.name}.part"
        try:
            part = await _part(
                await _folder(file, create=True), name, None if packed else file.hasher()
            )
        except AttributeError as error:
            raise OSError("this page has no storage for files; a worker has") from error
        except JsException as error:
            raise OSError(f"the browser refuses storage: {error.message}") from error
        if not file.checksum:
            part.clear()
        return part

    async def room(self, file: File) -> int | None:
        """The bytes that this page may still keep; None if the browser does not tell."""
        try:
            found = await js.navigator.storage.estimate()
        except (AttributeError, JsException):
            return None
        return int(found.quota - found.usage)

    async def open(self, address: str, start: int) -> Reply:
        """Asks a server for a file from a byte on. Raises FetchError."""
        headers = {"Range": f"bytes={start}-"} if start else {}
        try:
            response = await js.fetch(address, _object({"headers": _object(headers)}))
        except JsException as error:
            raise FetchError(
                f"no answer: {error.message}; or the server lets no other page read it (CORS)"
            ) from error
        if start and response.status == _NOT_SATISFIABLE:
            return await self.open(address, 0)
        if not response.ok:
            raise FetchError(f"the server answered {response.status} {response.statusText}")
        return Reply(response, start if response.status == _PARTIAL else 0)

    def reads(self, call: Callable[..., Any], *args: Any) -> Awaiting:
        """Requests a call that reads from Python's own files."""
        return Direct(call, *args)

    def asks(self, address: str, start: int, length: int) -> Awaiting:
        """Requests some bytes of a server's file: a Span."""
        return Either("span", address, start, length)

    def asks_blob(self, blob: Any, start: int, length: int) -> Awaiting:
        """Requests some bytes of a Blob."""
        return Either("blob_part", blob, start, length)

    async def span(self, address: str, start: int, length: int) -> Span:
        """Asks a server for some bytes of a file. Raises FetchError."""
        headers = _object({"Range": f"bytes={start}-{start + length - 1}"})
        try:
            response = await js.fetch(address, _object({"headers": headers}))
            found = span_of(response.status, response.headers.get, start, bytes)
            content = (await response.arrayBuffer()).to_bytes() if found.total > start else b""
        except JsException as error:
            raise FetchError(
                f"no answer: {error.message}; or the server lets no other page read it (CORS)"
            ) from error
        return Span(content, found.total, found.mark)

    async def blob_part(self, blob: Any, start: int, length: int) -> bytes:
        """Some bytes of a JavaScript Blob, such as a file that the visitor chose. Raises
        FetchError."""
        try:
            found = await blob.slice(start, start + length).arrayBuffer()
        except JsException as error:
            raise FetchError(f"the browser cannot read it: {error.message}") from error
        return bytes(found.to_bytes())


async def _part(folder: Any, name: str, hasher: Any) -> StoragePart:
    """A file of a folder, to be written by this worker alone."""
    handle = await folder.getFileHandle(name, _object({"create": True}))
    return StoragePart(folder, handle, await handle.createSyncAccessHandle(), hasher)


async def _folder(file: File, create: bool) -> Any:
    """The folder of a file in the page's storage."""
    folder = await js.navigator.storage.getDirectory()
    for name in ("tallow", *file.place.parts):
        if name not in ("/", ".", ".."):
            folder = await folder.getDirectoryHandle(name, _object({"create": create}))
    return folder


# ---- without JavaScript Promise Integration --------------------------------------------------


class Direct(Awaiting):
    """Requests a call that blocks."""

    def run_sync(self) -> Any:
        """What the call gives."""
        return self._call(*self._args)


class Either(Awaiting):
    """Requests what `Browser` and `BlockingBrowser` both have, by its name, from the one that can
    answer."""

    def __init__(self, name: str, *args: Any) -> None:
        super().__init__(getattr(Browser(), name), *args)
        self._name = name

    def run_sync(self) -> Any:
        """What the call gives; blocks."""
        if can_run_sync():
            return super().run_sync()
        return getattr(BlockingBrowser(), self._name)(*self._args)


class Whole:
    """An answer that has arrived."""

    is_exact = False
    start = 0

    def __init__(self, content: bytes) -> None:
        self.total = len(content)
        self._content = content

    def read(self) -> bytes:
        """All bytes, then none."""
        found, self._content = self._content, b""
        return found

    def close(self) -> None:
        """Does nothing."""


class BlockingBrowser:
    """What `fetching` asks for, where nothing can be awaited."""

    request = Direct
    has_offline = False

    def find(self, file: File) -> Fetched | None:
        """None: the storage can only be awaited."""

    def begin(self, file: File, packed: bool) -> StoragePart:
        """Raises OSError: the storage can only be awaited."""
        raise OSError("this browser keeps files for code that awaits alone: await fetch_async(...)")

    def room(self, file: File) -> int | None:
        """None: nobody knows."""

    def open(self, address: str, start: int) -> Whole:
        """Asks a server for a file, and waits for all of it. Raises FetchError."""
        asked = _asked(address)
        if not 200 <= asked.status < 300:
            raise FetchError(f"the server answered {asked.status} {asked.statusText}")
        return Whole(bytes(asked.response.to_bytes()))

    def span(self, address: str, start: int, length: int) -> Span:
        """Asks a server for some bytes of a file, and waits for them. Raises FetchError."""
        asked = _asked(address, f"bytes={start}-{start + length - 1}")
        return span_of(
            asked.status, asked.getResponseHeader, start, lambda: bytes(asked.response.to_bytes())
        )

    def blob_part(self, blob: Any, start: int, length: int) -> bytes:
        """Some bytes of a JavaScript Blob. Raises FetchError."""
        if getattr(js, "FileReaderSync", None) is None:
            raise FetchError("a page must not block; await the async form, such as load_async")
        try:
            found = js.FileReaderSync.new().readAsArrayBuffer(blob.slice(start, start + length))
        except JsException as error:
            raise FetchError(f"the browser cannot read it: {error.message}") from error
        return bytes(found.to_bytes())


def _asked(address: str, wanted: str = "") -> Any:
    """A server's answer, which is awaited. wanted: the range; "" for all. Raises FetchError."""
    if getattr(js, "WorkerGlobalScope", None) is None:
        raise FetchError("a page must not block; await the async form, such as fetch_async")
    asked = js.XMLHttpRequest.new()
    asked.open("GET", address, False)
    asked.responseType = "arraybuffer"
    if wanted:
        asked.setRequestHeader("Range", wanted)
    try:
        asked.send()
    except JsException as error:
        raise FetchError(
            f"no answer: {error.message}; or the server lets no other page read it (CORS)"
        ) from error
    return asked
