"""Records the inputs of a step, so that it is repeated only when they have changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from .files import file_sha256, files_below
from .paths import STAMPS


def digest(*parts: Path | str) -> str:
    """One hash over strings and over the names and contents of files and folders.

    A path that does not exist counts as empty, so the hash changes when it appears.
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
    """A record in build/stamps: the digest of a step's inputs and the state of its outputs."""

    def __init__(self, name: str, folder: Path = STAMPS) -> None:
        self.path = folder / f"{name}.json"

    def fresh(self, *inputs: str) -> bool:
        """Whether the step finished with one of these inputs and its outputs are unchanged."""
        try:
            note = json.loads(self.path.read_text("utf-8"))
            return note["inputs"] in inputs and all(
                _state(Path(name)) == state for name, state in note["outputs"].items()
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return False  # no record, or a damaged one: the step is repeated

    def clear(self) -> None:
        """Deletes the record; called before the step changes its outputs."""
        self.path.unlink(missing_ok=True)

    def write(self, inputs: str, outputs: Iterable[Path]) -> None:
        """Records a finished step. A folder among the outputs stands for all files in it."""
        states = {str(file): _state(file) for output in outputs for file in files_below(output)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        aside = self.path.with_suffix(".new")
        aside.write_text(json.dumps({"inputs": inputs, "outputs": states}), "utf-8")
        aside.replace(self.path)


def _state(path: Path) -> list[int]:
    """Size and modification time: a quick way to notice that a file was changed."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]
