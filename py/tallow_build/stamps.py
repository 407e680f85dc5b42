"""Remembers what a step was made from, so that it is done again only when that has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from .files import file_sha256, files_below
from .paths import STAMPS


def digest(*parts: Path | str) -> str:
    """One hash over texts and over the names and contents of files and folders.

    A path that does not exist counts as empty, so that its appearing changes the hash.
    """
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            total.update(f"text {part}\n".encode())
            continue
        for path in files_below(part):
            name = path.relative_to(part).as_posix()
            total.update(f"file {part.name} {name} {file_sha256(path)}\n".encode())
    return total.hexdigest()


class Stamp:
    """A note in build/stamps: the digest of a step's inputs and the look of its outputs."""

    def __init__(self, name: str, folder: Path = STAMPS) -> None:
        self.path = folder / f"{name}.json"

    def fresh(self, *inputs: str) -> bool:
        """Was the step finished with one of these inputs, and are its outputs untouched since?"""
        try:
            note = json.loads(self.path.read_text("utf-8"))
            return note["inputs"] in inputs and all(
                _look(Path(name)) == look for name, look in note["outputs"].items()
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False  # no note, or one that was damaged: the step is simply done again

    def clear(self) -> None:
        """Forgets; called before the step touches its outputs."""
        self.path.unlink(missing_ok=True)

    def write(self, inputs: str, outputs: Iterable[Path]) -> None:
        """Notes a finished step. A folder among the outputs stands for all files in it."""
        looks = {str(file): _look(file) for output in outputs for file in files_below(output)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_suffix(".new")
        aside.write_text(json.dumps({"inputs": inputs, "outputs": looks}), "utf-8")
        aside.replace(self.path)


def _look(path: Path) -> list[int]:
    """Size and time of change: enough to notice that somebody else changed a file, and quick."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]
