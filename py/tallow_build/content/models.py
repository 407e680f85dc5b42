"""The model files: committed ones are checked, the others are built by their make.py.

models/manifest.json lists them and how they are built; models/README.md describes it. It pins the
sha256 of every file, including built ones, so a correct file is not built again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..environment.sources import fetch, origin
from ..errors import BuildError, explained
from ..files import file_sha256, publish, scratch
from ..paths import BUILD, CACHE, DIST, MODELS, shown
from ..process import call, python

MADE = BUILD / "models"

_STEP = "Reading models/manifest.json"

_OWN = ("models", "labels")
_PUBLISHED = {"name", "title", "task", "memory", "licence", "files"}  # content/published.py


def manifest() -> dict[str, list[dict[str, Any]]]:
    """models/manifest.json. Raises BuildError."""
    path = MODELS / "manifest.json"
    with explained(_STEP, "see models/README.md"):
        text = path.read_text("utf-8")
    try:
        found = json.loads(text)
        files = [one for model in found["published"] for one in model["files"]]
        for entry in [*found["models"], *found["labels"], *files]:
            assert {"file", "bytes", "sha256"} <= entry.keys(), f"an entry lacks a field: {entry}"
        for model in found["published"]:
            assert model.keys() == _PUBLISHED, f"an entry has other fields: {model}"
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        raise BuildError(_STEP, f"{error!r}", "see models/README.md") from error
    return {group: found[group] for group in (*_OWN, "published")}


def ensure(*, again: bool = False) -> dict[str, Path]:
    """Every model and label file: its path under dist/models/ -> its current path.

    again: rebuild built files even if they exist. Raises BuildError.
    """
    entries = [entry for group in _own().values() for entry in group]
    result: dict[str, Path] = {}
    for entry in entries:
        file = str(entry["file"])
        result[file] = (MADE if "make" in entry else MODELS) / file
        if "make" not in entry:
            _check_committed(result[file], entry["sha256"])
        elif again or not _is(result[file], entry["sha256"]):
            _make(entry, result[file])
    return result


def cards() -> dict[str, Path]:
    """The models' cards: path under dist/models/ -> current path. Raises BuildError."""
    found = {str(entry["card"]): MODELS / str(entry["card"]) for entry in manifest()["models"]}
    for path in found.values():
        if not path.is_file():
            raise BuildError(_STEP, f"{shown(path)} is missing", "write the model's card")
    return found


def published() -> dict[str, list[dict[str, Any]]]:
    """The manifest for the page, without how each file was built."""
    return {
        group: [
            {key: value for key, value in entry.items() if key not in ("make", "made_from")}
            for entry in entries
        ]
        for group, entries in _own().items()
    }


def in_dist(name: str) -> Path:
    """The .onnx file of a model in dist/, which must already be built."""
    folder = DIST / "models"
    index = json.loads((folder / "manifest.json").read_text("utf-8"))
    return next(folder / str(one["file"]) for one in index["models"] if one["name"] == name)


def _own() -> dict[str, list[dict[str, Any]]]:
    found = manifest()
    return {group: found[group] for group in _OWN}


def _is(path: Path, sha256: str) -> bool:
    return path.is_file() and file_sha256(path) == sha256


def _check_committed(path: Path, sha256: str) -> None:
    if not path.is_file():
        why, remedy = f"{shown(path)} is missing", "restore it with git"
    elif file_sha256(path) != sha256:
        why = f"{shown(path)} has sha256 {file_sha256(path)}, models/manifest.json has {sha256}"
        remedy = "restore it with git, or correct its entry if it was meant to change"
    else:
        return
    raise BuildError(_STEP, why, remedy)


def _make(entry: Mapping[str, Any], target: Path) -> None:
    file = str(entry["file"])
    step = f"Building {file}"
    source = origin(entry["made_from"], f"{file} in models/manifest.json")
    kept = CACHE / "model-sources" / Path(file).parent / Path(str(source.member)).name
    fetch([(source, kept)])
    with scratch("model") as folder:
        aside = folder / target.name
        script = MODELS / str(entry["make"])
        command = python(script, "--source", kept, "--out", aside)
        call(step, command, f"see {shown(script)}", extra={"PYTHONDONTWRITEBYTECODE": "1"})
        with explained(step, f"see {shown(script)}"):
            publish(aside, target, str(entry["sha256"]), step)
