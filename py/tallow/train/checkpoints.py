"""The checkpoints of a run: a folder with a file for each, and `run.json`, which lists them.

    runs/a/run.json                    the checkpoints, the history, whether the run has ended
    runs/a/step-00000938.safetensors   parameters, optimisers, random numbers, position: all of it
    runs/a/run.lock                    held while a process writes here

A file is written beside its place and renamed, and `run.json` is the last one to be written. So a
process that is killed at any moment leaves a run that can go on from its last checkpoint.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from ..errors import CheckpointError, FormatError
from ..formats.weights import load, save

_INDEX, _LOCK, _VERSION = "run.json", "run.lock", 1

_UNWRITABLE = "free some space or choose another folder; the run's older checkpoints are intact"


class Folder:
    """The folder of a run. keep: how many of the last checkpoints stay, beside the best one."""

    def __init__(self, path: str | os.PathLike[str], keep: int = 2) -> None:
        self.path, self._keep = Path(path), keep
        self._held: IO[bytes] | None = None

    # ---- who writes here -----------------------------------------------------------------------

    def hold(self) -> None:
        """Keeps other runs out until `release`. Raises CheckpointError if one is here."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            held = (self.path / _LOCK).open("ab")
        except OSError as error:
            raise CheckpointError(
                f"{self.path}: the folder cannot be written ({error}); choose another one"
            ) from error
        try:
            _lock(held)
        except OSError as error:
            held.close()
            raise CheckpointError(
                f"{self.path}: another run writes its checkpoints here right now; wait for it, or "
                "choose another folder"
            ) from error
        self._held = held

    def release(self) -> None:
        """Lets other runs in. Closing the file frees the lock, as does the end of the process."""
        if self._held is not None:
            self._held.close()
            self._held = None

    # ---- what is here --------------------------------------------------------------------------

    def index(self) -> dict[str, Any] | None:
        """What `run.json` holds; None if there is no run. Raises CheckpointError if it is
        damaged."""
        try:
            text = (self.path / _INDEX).read_text("utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CheckpointError(f"{self.path / _INDEX}: cannot be read ({error})") from error
        try:
            found = json.loads(text)
            if found["version"] != _VERSION or not isinstance(found["checkpoints"], list):
                raise ValueError(f"its version is {found['version']!r}, not {_VERSION}")
            return dict(found)
        except (ValueError, KeyError, TypeError) as error:
            names = ", ".join(path.stem for path in sorted(self.path.glob("step-*.safetensors")))
            raise CheckpointError(
                f"{self.path / _INDEX}: is damaged ({error}); remove it and load a checkpoint by "
                f"name, resume(..., checkpoint=NAME). There are: {names or 'none'}"
            ) from error

    def names(self) -> list[str]:
        """The checkpoints, the oldest first."""
        found = self.index()
        return [] if found is None else [each["name"] for each in found["checkpoints"]]

    def load(self, name: str) -> dict[str, Any]:
        """The state in a checkpoint. Raises CheckpointError if it is missing or damaged; the
        message names the next older one."""
        path = self.path / f"{name}.safetensors"
        try:
            state = load(path)
            if not isinstance(state, Mapping) or "position" not in state:
                raise FormatError("it holds weights, but no run")
            return dict(state)
        except (OSError, FormatError) as error:
            older = [each for each in self.names() if each < name]
            remedy = (
                f"the next older one is {older[-1]}: resume(..., checkpoint={older[-1]!r})"
                if older
                else "there is no older one; begin anew in another folder"
            )
            raise CheckpointError(f"{path}: cannot be loaded ({error}); {remedy}") from error

    # ---- writing -------------------------------------------------------------------------------

    def write(self, name: str, state: Mapping[str, Any], index: Mapping[str, Any]) -> None:
        """Writes a checkpoint, then `run.json`, then removes what is no longer kept.

        index: what `run.json` gets beside the list; "best" is the name of the best checkpoint, and
        "about" what the list says of this one.
        Raises: CheckpointError if there is no space; all that was here before is still here then.
        """
        before = self.index() or {"checkpoints": []}
        listed = [each for each in before["checkpoints"] if each["name"] != name]
        listed.append({"name": name, **index["about"]})
        kept = listed[-self._keep :]
        kept = [each for each in listed if each in kept or each["name"] == index["best"]]
        try:
            save(self.path / f"{name}.safetensors", state)
        except OSError as error:
            raise CheckpointError(
                f"{self.path}: the checkpoint {name} cannot be written ({error}); {_UNWRITABLE}"
            ) from error
        self.write_index({**index, "checkpoints": kept})
        names = {each["name"] for each in kept}
        for path in self.path.glob("step-*.safetensors*"):
            if path.name.partition(".")[0] not in names:
                path.unlink(missing_ok=True)

    def write_index(self, index: Mapping[str, Any]) -> None:
        """Replaces `run.json`. Raises CheckpointError if that fails; the old one stays then."""
        held = {key: value for key, value in index.items() if key != "about"}
        text = json.dumps({"version": _VERSION, **held}, indent=1)
        part = self.path / f"{_INDEX}.part"
        try:
            part.write_text(text, "utf-8")
            part.replace(self.path / _INDEX)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise CheckpointError(
                f"{self.path / _INDEX}: cannot be written ({error}); {_UNWRITABLE}"
            ) from error


def _lock(held: IO[bytes]) -> None:
    """Locks an open file for this process. Raises OSError if another one has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(held.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
