"""Imports what the page needs, before the memory of this Python is kept. Runs in Pyodide."""

from __future__ import annotations

import gc
import importlib
import linecache
import re
import sys
import zipimport
from pathlib import Path
from typing import Any

# What NumPy wants of the standard library, to be installed and imported: its own modules can't be
# in a snapshot.
_FOR_NUMPY = (
    *("ctypes", "hmac", "importlib.metadata", "pickle", "platform", "secrets", "sysconfig"),
    "tarfile",
)

# More than any free piece of memory is large, and than any piece in use.
_HUGE = 1 << 20


def imports() -> None:
    """All of Tallow, the page's Python, the texts of the kernels, ONNX's schema, and what NumPy
    will ask for."""
    here = Path(importlib.import_module("tallow").__path__[0])
    for folder in (here, here.with_name("tallow_page")):
        for path in sorted(folder.rglob("*.pyc")):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
    importlib.import_module("onnx.onnx_ml_pb2")
    for name in _FOR_NUMPY:
        importlib.import_module(name)
    kernels = importlib.import_module("tallow.codegen.wgsl.kernels")
    for text in sorted((here / "kernels_wgsl").glob("*.wgsl")):
        kernels.kernel_file(text.stem)


def numpy() -> None:
    """NumPy, after all that."""
    importlib.import_module("numpy")


def tidy() -> None:
    """Forgets what is of no use after a restart: files that will be gone, and what was freed."""
    linecache.clearcache()
    re.purge()
    sys.path_importer_cache.clear()
    zipimport._zip_directory_cache.clear()  # type: ignore[attr-defined]
    for _ in range(3):
        gc.collect()
    _wipe()
    gc.collect()


def _wipe() -> None:
    """Fills free memory with zeros, which compress to nothing.

    Pieces of each size are taken until one comes from beyond `top`, where nothing was in use yet.
    """
    top = id(bytes(_HUGE))
    held: Any = None
    for size in (*(1 << power for power in range(19, 9, -1)), *range(1000, 8, -8)):
        while id(piece := bytes(size)) < top:
            held = (piece, held)
    while held:  # one by one: freeing a long chain at once would be a deep recursion
        held = held[1]
