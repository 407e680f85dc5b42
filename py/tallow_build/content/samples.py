"""The sample photographs: samples/samples.json lists their sources and authors.

They come from pinned registry packages, are never committed, and go into dist/samples/ unchanged,
with a list of credits. The tests use them too. Each has a thumbnail for the page's gallery
(small.py).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..environment.sources import fetch, origin
from ..errors import BuildError, explained
from ..files import replace_folder, scratch
from ..paths import BUILD, CACHE, REQUIREMENTS, ROOT
from ..process import call, python
from ..stamps import Stamp, digest

LIST = ROOT / "samples" / "samples.json"

SMALL = BUILD / "samples"

_CREDITS = {"name", "file", "author", "licence", "licence_url", "source_url"}

_STEP = "Reading samples/samples.json"
_REMEDY = "restore it with git"

_SMALL_STEP = "Making thumbnails of the samples"


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
    """Every photograph: its name below dist/samples/ -> its current path. Raises BuildError."""
    paths = {str(record["file"]): CACHE / "photos" / record["file"] for record in _records()}
    fetch([(origin(r["made_from"], str(LIST)), paths[r["file"]]) for r in _records()])
    return paths


def ensure_small(photographs: dict[str, Path]) -> dict[str, Path]:
    """A thumbnail of every photograph, by the same names, rebuilt when a photograph, small.py or
    Pillow has changed. Raises BuildError."""
    pictures = {name: SMALL / f"{Path(name).stem}-small.webp" for name in photographs}
    maker = Path(__file__).with_name("small.py")
    stamp = Stamp("samples")
    with explained(_SMALL_STEP):
        inputs = digest(*photographs.values(), maker, REQUIREMENTS / "runtime.txt")
    if stamp.fresh(inputs):
        return pictures
    stamp.clear()
    with scratch("samples", BUILD / "tmp") as folder:
        made = folder / "made"
        with explained(_SMALL_STEP):
            made.mkdir()
        pairs = [[str(photographs[name]), str(made / pictures[name].name)] for name in pictures]
        call(
            _SMALL_STEP,
            python("-m", "tallow_build.content.small", json.dumps(pairs)),
            "see py/tallow_build/content/small.py",
            extra={"PYTHONPATH": str(ROOT / "py"), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        with explained(_SMALL_STEP):
            replace_folder(made, SMALL)
    stamp.write(inputs, [SMALL])
    return pictures


def published() -> list[dict[str, Any]]:
    """The list for the page: the credits, without the source of each file."""
    return [{key: record[key] for key in sorted(_CREDITS)} for record in _records()]
