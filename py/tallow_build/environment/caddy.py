"""Finds Caddy, which serves the page in deploy/, or unpacks Debian's. Only tests need it."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..paths import CACHE
from . import debian

_FOLDER = CACHE / "caddy"
_UNPACKED = _FOLDER / "usr" / "bin" / "caddy"


def find() -> Path | None:
    """The path of its program, or None."""
    found = shutil.which("caddy")
    if found:
        return Path(found)
    return _UNPACKED if _UNPACKED.is_file() else None


def ensure() -> None:
    """Unpacks Debian's if there is none and it is possible. Raises BuildError."""
    if find() is None and debian.available():
        debian.unpack("caddy", _FOLDER)
