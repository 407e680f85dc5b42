"""Runs: a folder of each in the page's storage, and one in Python's memory while it learns.

about.json                 its name, settings, data, state and curve (`About`)
run.json, step-*           what `tl.train.Learner` keeps: its checkpoints, and their list
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tallow.errors import CheckpointError, DataError, OptionError
from tallow.train.checkpoints import Folder

from ..javascript import copied

if TYPE_CHECKING:
    from ..contract.train import TrainRun

__all__ = ["ABOUT", "Storage", "StorageError", "Working", "packed_run", "unpack_run"]

ABOUT, _INDEX = "about.json", "run.json"


class StorageError(CheckpointError):
    """The page's storage did not keep a file. full: whether it has no space left."""

    def __init__(self, file: str, why: str) -> None:
        self.full = why == "full"
        super().__init__(
            f"{file}: the browser's storage is full; remove runs, then resume: nothing is lost"
            if self.full
            else f"{file}: the browser's storage refuses it ({why}); resume, or reload the page"
        )


class Storage(Protocol):
    """The page's storage, a KeptRuns of web/views/train/runs/kept_runs.js."""

    async def files(self, run: str) -> Iterable[str]:
        """The names of a run's files."""

    async def read(self, run: str, file: str) -> Any:
        """The bytes of a file."""

    async def write(self, run: str, file: str, content: bytes) -> str:
        """Writes a file as a whole; "" or why that failed, "full" without space."""

    async def drop(self, run: str, file: str) -> None:
        """Removes a file."""


class Working:
    """A run's folder in Python's memory, which the storage is a copy of."""

    def __init__(self, storage: Storage, run: str) -> None:
        self.run, self._storage = run, storage
        self.folder = Path(tempfile.mkdtemp(prefix="run-"))
        self._kept: dict[str, tuple[int, int]] = {}

    async def pull(self) -> None:
        """Takes what the storage has."""
        for name in await self._storage.files(self.run):
            path = self.folder / str(name)
            path.write_bytes(copied(await self._storage.read(self.run, str(name))))
            self._kept[path.name] = _stamp(path)

    async def is_newest(self) -> bool:
        """Whether no other tab has gone on with the run since."""
        path = self.folder / _INDEX
        if not path.exists() or path.name not in self._kept:
            return True
        if _INDEX not in [str(name) for name in await self._storage.files(self.run)]:
            return True  # it was removed, and is written anew
        stored = copied(await self._storage.read(self.run, _INDEX))
        return bool(stored == path.read_bytes() or self._kept[_INDEX] != _stamp(path))

    def about(self) -> TrainRun | None:
        """What `about.json` says; None for a new run. Raises CheckpointError if it is damaged."""
        try:
            found: TrainRun = json.loads((self.folder / ABOUT).read_text("utf-8"))
            if "batch" not in found["settings"]:
                raise ValueError("it has no settings")
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"the run {self.run}: its {ABOUT} is damaged ({error!r}); remove the run"
            ) from error
        return found

    def checkpoints(self) -> list[str]:
        """The names of the checkpoints, the oldest first: those that the list says; all that are
        there if it is damaged, which then is removed."""
        try:
            return Folder(self.folder).names()
        except CheckpointError:
            (self.folder / _INDEX).unlink(missing_ok=True)
            return sorted(path.stem for path in self.folder.glob("step-*.safetensors"))

    def tell(self, about: TrainRun) -> None:
        """Writes `about.json`."""
        (self.folder / ABOUT).write_text(json.dumps(about), "utf-8")

    async def push(self) -> None:
        """Gives the storage what has changed: the list of checkpoints after these, and what the run
        no longer has is removed last. Raises StorageError without space; what the storage had is
        still there then, and what is new stays in memory."""
        paths = {path.name: path for path in self.folder.iterdir() if _belongs(path.name)}
        for name in sorted(paths, key=lambda each: (each == _INDEX, each)):
            stamp = _stamp(paths[name])
            if self._kept.get(name) == stamp:
                continue
            failed = await self._storage.write(self.run, name, paths[name].read_bytes())
            if failed:
                raise StorageError(name, str(failed))
            self._kept[name] = stamp
        for name in self._kept.keys() - paths.keys():
            await self._storage.drop(self.run, name)
            del self._kept[name]

    def close(self) -> None:
        """Frees the folder in memory."""
        shutil.rmtree(self.folder, ignore_errors=True)


async def packed_run(run: str, storage: Storage) -> bytes:
    """A run as one file, a zip of its folder's, for another visitor. Raises OptionError for a run
    that is not kept."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in await storage.files(run):
            if _belongs(str(name)):
                archive.writestr(str(name), copied(await storage.read(run, str(name))))
        if not archive.namelist():
            raise OptionError(f"the run {run} is not kept any more")
    return target.getvalue()


async def unpack_run(run: str, content: Any, storage: Storage) -> str:
    """Keeps a run that `packed_run` has made of one. Returns its `TrainRun`.

    run: the name of its folder here. content: the file, a JavaScript typed array or a buffer.
    Raises DataError for another or a damaged file, StorageError without space; nothing is kept
    then.
    """
    working = Working(storage, run)
    try:
        about = _unpacked(copied(content), working) | {"run": run}
        working.tell(about)
        try:
            await working.push()
        except StorageError:
            for name in await storage.files(run):
                await storage.drop(run, str(name))
            raise
        return json.dumps(about)
    finally:
        working.close()


def _unpacked(content: Any, working: Working) -> Any:
    """What the file says of the run, whose other files are now in the folder."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                if _belongs(name):
                    (working.folder / name).write_bytes(archive.read(name))
        about = working.about()
        folder = Folder(working.folder)
        for name in folder.names():
            folder.load(name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise DataError(f"this file is no run, or it is damaged: {error}") from error
    except CheckpointError as error:
        raise DataError(f"the run in this file is damaged: {error}") from error
    if about is None:
        raise DataError(f"this file is no run: it has no {ABOUT}")
    return about


def _belongs(name: str) -> bool:
    return name in (ABOUT, _INDEX) or (name.startswith("step-") and name.endswith(".safetensors"))


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
