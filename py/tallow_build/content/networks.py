"""Third-party networks and tokenizers for the tests; tests/data/networks.json lists sources."""

from __future__ import annotations

import json
from pathlib import Path

from ..environment.sources import fetch, origin
from ..errors import BuildError, explained
from ..paths import CACHE, ROOT

LIST = ROOT / "tests" / "data" / "networks.json"
FOLDER = CACHE / "networks"


def ensure(kind: str = "networks") -> dict[str, Path]:
    """Every network by its file name, or every tokenizer; all are fetched, since some share a
    package. Raises BuildError."""
    step, remedy = "Reading tests/data/networks.json", "restore it with git"
    with explained(step, remedy):
        text = LIST.read_text("utf-8")
    try:
        lists = json.loads(text)
        records = [*lists["networks"], *lists["tokenizers"]]
        paths = {str(record["file"]): FOLDER / record["file"] for record in records}
        wanted = {str(record["file"]): paths[record["file"]] for record in lists[kind]}
    except (ValueError, KeyError, TypeError) as error:
        raise BuildError(step, f"{error!r}", remedy) from error
    fetch([(origin(r["made_from"], str(LIST)), paths[r["file"]]) for r in records])
    return wanted
