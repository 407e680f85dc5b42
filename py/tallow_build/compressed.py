"""Brotli and gzip beside each file of a site that they make smaller, for servers to choose from.

Brotli at its best takes half a minute for Pyodide alone, so what was compressed is kept by the
hash of its content, and of the script that did it.
"""

from __future__ import annotations

import json
from pathlib import Path

from . import node_env
from .errors import explained
from .files import file_sha256, files_below
from .paths import BUILD
from .process import call
from .progress import MB
from .stamps import digest

ENDINGS = (".br", ".gz")

_KEPT = BUILD / "compressed"
_SCRIPT = Path(__file__).with_name("compress.mjs")

# Compressed already.
_PACKED = {".whl", ".zip", ".png", ".jpg", ".webp", *ENDINGS}

_STEP = "Compressing the site"


def put_beside(site: Path, kept: Path = _KEPT) -> None:
    """Writes FILE.br and FILE.gz beside each file that they make smaller. Raises BuildError.

    kept: the folder of what was compressed for this site before. What the site has no use for any
    more is deleted there, so no two sites may share one.
    """
    files = [path for path in files_below(site) if path.suffix not in _PACKED]
    with explained(_STEP):
        kept.mkdir(parents=True, exist_ok=True)
        targets = {path: kept / digest(file_sha256(path), _SCRIPT) for path in files}
        missing = {target: path for path, target in targets.items() if not all(_known(target))}
    if missing:
        # The largest first, since they decide when all is done.
        todo = sorted(missing.items(), key=lambda pair: -pair[1].stat().st_size)
        size = sum(path.stat().st_size for _, path in todo)
        pairs = json.dumps([[str(path), str(target)] for target, path in todo])
        step = f"{_STEP} ({len(todo)} files, {size / MB:.1f} MB)"
        call(step, (node_env.program(), _SCRIPT, pairs), "start the same command again")
    with explained(_STEP):
        used = set()
        for path, target in targets.items():
            for ending in ENDINGS:
                packed = target.with_name(target.name + ending)
                used.add(packed)
                if packed.stat().st_size:
                    path.with_name(path.name + ending).write_bytes(packed.read_bytes())
        for left in set(kept.iterdir()) - used:
            left.unlink()


def _known(target: Path) -> list[bool]:
    return [target.with_name(target.name + ending).is_file() for ending in ENDINGS]
