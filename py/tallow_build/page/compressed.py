"""Writes Brotli and gzip versions next to each file of a site, where they are smaller.

Brotli's tightest level takes half a minute for Pyodide alone. Large files get it only in a site
that will be published; the quick level, for this machine, leaves an eighth more. Results are cached
by the hash of the content and of the compressing script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ..environment import node_env
from ..errors import explained
from ..files import file_sha256, files_below
from ..paths import BUILD
from ..process import call
from ..progress import MB
from ..stamps import digest

ENDINGS = (".br", ".gz")

_QUICK, _TIGHT = 9, 11  # levels of Brotli
_LARGE = 1 << 20

_CACHE = BUILD / "compressed"
_SCRIPT = Path(__file__).with_name("compress.mjs")

# Already compressed.
_PACKED = {".whl", ".zip", ".png", ".jpg", ".webp", *ENDINGS}

_STEP = "Compressing the site"


def compress(site: Path, cache: Path = _CACHE, *, tight: bool = True) -> None:
    """Writes FILE.br and FILE.gz next to each file where they are smaller. Raises BuildError.

    cache: the folder of files that were compressed for this site before. Entries that the site no
    longer needs, tight or not, are deleted, so two sites must not share one.
    """
    files = [path for path in files_below(site) if path.suffix not in _PACKED]
    put_packed({path: path for path in files}, cache, tight=tight)
    with explained(_STEP):
        used = {_name(path, each) for path in files for each in (True, False)}
        for packed in cache.iterdir():
            if packed.stem not in used:
                packed.unlink()


def put_packed(places: Mapping[Path, Path], cache: Path, *, tight: bool) -> None:
    """Writes PLACE.br and PLACE.gz of files where they are smaller. Raises BuildError.

    places: by file. cache: the folder of those that were compressed before.
    """
    with explained(_STEP):
        cache.mkdir(parents=True, exist_ok=True)
        targets = {path: cache / _name(path, tight) for path in places}
        missing = {target: path for path, target in targets.items() if not all(_known(target))}
    if missing:
        # The largest first, since they take the longest.
        todo = sorted(missing.items(), key=lambda pair: -pair[1].stat().st_size)
        size = sum(path.stat().st_size for _, path in todo)
        jobs = json.dumps([[str(path), str(target), _level(path, tight)] for target, path in todo])
        step = f"{_STEP} ({len(todo)} files, {size / MB:.1f} MB)"
        call(step, (node_env.program(), _SCRIPT, jobs), "run the same command again")
    with explained(_STEP):
        for path, target in targets.items():
            place = places[path]
            for ending in ENDINGS:
                packed = target.with_name(target.name + ending)
                if packed.stat().st_size:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.with_name(place.name + ending).write_bytes(packed.read_bytes())


def _level(path: Path, tight: bool) -> int:
    return _TIGHT if tight or path.stat().st_size < _LARGE else _QUICK


def _name(path: Path, tight: bool) -> str:
    return digest(file_sha256(path), str(_level(path, tight)), _SCRIPT)


def _known(target: Path) -> list[bool]:
    return [target.with_name(target.name + ending).is_file() for ending in ENDINGS]
