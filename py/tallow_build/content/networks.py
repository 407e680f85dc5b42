"""Third-party networks for the tests; tests/data/networks.json lists their sources."""

from __future__ import annotations

import json
from pathlib import Path

from ..environment.sources import fetch, origin
from ..errors import BuildError, explained
from ..paths import CACHE, ROOT

LIST = ROOT / "tests" / "data" / "networks.json"
FOLDER = CACHE / "networks"


def ensure() -> dict[str, Path]:
    """Every network by its file name. Raises BuildError."""
    step, remedy = "Reading tests/data/networks.json", "restore it with git"
    with explained(step, remedy):
        text = LIST.read_text("utf-8")
    try:
        records = json.loads(text)["networks"]
        paths = {str(record["file"]): FOLDER / record["file"] for record in records}
    except (ValueError, KeyError, TypeError) as error:
        raise BuildError(step, f"{error!r}", remedy) from error
    fetch([(origin(r["made_from"], str(LIST)), paths[r["file"]]) for r in records])
    return paths
