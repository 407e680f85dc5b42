"""Files that are either complete or absent: written elsewhere, checked, then moved into place."""

from __future__ import annotations

import hashlib
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .errors import BuildError
from .paths import CACHE, shown
from .progress import say


def file_sha256(path: Path) -> str:
    """The sha256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_below(path: Path) -> list[Path]:
    """The file itself, or every file below a folder in a fixed order, without compiled Python."""
    if path.is_file():
        return [path]
    found = (p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return sorted(found, key=lambda p: p.as_posix())


@contextmanager
def scratch(name: str, root: Path = CACHE / "tmp") -> Iterator[Path]:
    """An empty temporary folder, deleted afterwards; a leftover one is deleted first."""
    folder = root / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(made: Path, target: Path, sha256: str, step: str) -> None:
    """Moves a finished file into place after checking its content.

    A file with another sha256 is deleted and BuildError raised; `target` stays unchanged.
    """
    found = file_sha256(made)
    if found != sha256:
        size = made.stat().st_size
        made.unlink()
        raise BuildError(
            step,
            f"{target.name} ({size} bytes) has sha256 {found}, expected {sha256}",
            f"run the same command again; if it still fails, the pin of {shown(target)} is wrong",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    made.replace(target)


def replace_folder(made: Path, target: Path) -> None:
    """Replaces a folder by a finished one, and deletes the old one once the new one is in place.

    Raises OSError if the system refuses; the old folder is then back in place.
    """
    with scratch("replaced", made.parent) as aside:
        old = aside / target.name
        if target.exists():
            target.rename(old)
        try:
            made.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise


@contextmanager
def only_one(path: Path = CACHE / "lock") -> Iterator[None]:
    """Holds a lock, so that two commands do not build the same things at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if not _try_lock(file):
            say("Another build.py is setting up in this checkout; waiting for it ...")
            while not _try_lock(file):
                time.sleep(0.2)
        yield


def _try_lock(file: IO[bytes]) -> bool:
    """Locks the open file unless another process has; closing it or exiting unlocks it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
