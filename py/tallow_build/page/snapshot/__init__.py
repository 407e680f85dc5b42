"""The files with which the page starts Python: the wheels as bytecode, and memory snapshots of a
Pyodide that has imported them, without and with NumPy (make.mjs)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...environment import node_env
from ...errors import explained
from ...files import replace_folder, scratch
from ...paths import BUILD, NODE_MODULES
from ...process import call
from ...stamps import Stamp, digest

PYODIDE = NODE_MODULES / "pyodide"

MADE = BUILD / "snapshot"

_STEP = "Making the memory snapshots of Python"

_HERE = Path(__file__).parent
_FILE = "snapshot.bin"
_NUMPY = "numpy.bin"
_RESULT = "made.json"

# Modules that are useless in the page: the command line, desktop GPUs, compilers.
_EXCLUDED = (
    *("tallow/__main__.py", "tallow/cli/"),
    *("tallow/devices/webgpu/native/", "tallow/devices/wasm/desktop"),
    *("numpy/f2py/", "numpy/_pyinstaller/"),
)


@dataclass(frozen=True)
class Library:
    """A shared library that is loaded in the snapshot with NumPy, and the information that the page
    needs to load it again (web/worker/libraries.js)."""

    file: Path
    info: dict[str, Any]


@dataclass(frozen=True)
class Snapshot:
    """image: the memory. fill: the bytes of a new instance's memory before only zeros follow.
    numpy: what NumPy changes in the memory. libraries: the libraries that it loads, in order.
    wheels: all given wheels, compiled, with NumPy's last."""

    image: Path
    fill: int
    numpy: Path
    libraries: list[Library]
    wheels: list[Path]


def ensure(imported: list[Path], numpy: Path) -> Snapshot:
    """The snapshots of a Python that has imported wheels, rebuilt when any of them has changed.

    numpy: NumPy's wheel, which the second snapshot has imported too. Raises BuildError.
    """
    wheels = [*imported, numpy]
    inputs = digest(_HERE, NODE_MODULES / ".package-lock.json", *wheels)
    stamp = Stamp("snapshot")
    if not stamp.fresh(inputs):
        stamp.clear()
        with scratch("snapshot", BUILD / "tmp") as folder:
            made = folder / "made"
            with explained(_STEP):
                made.mkdir()
            make(made, imported, numpy)
            with explained(_STEP):
                replace_folder(made, MADE)
        stamp.write(inputs, [MADE])
    result = json.loads((MADE / _RESULT).read_text("utf-8"))
    libraries = [Library(MADE / library.pop("file"), library) for library in result["libraries"]]
    compiled = [MADE / wheel.name for wheel in wheels]
    return Snapshot(MADE / _FILE, result["fill"], MADE / _NUMPY, libraries, compiled)


def make(folder: Path, imported: list[Path], numpy: Path) -> None:
    """Writes the snapshots into a folder, with the same bytes everywhere. Raises BuildError."""
    wanted = {
        "folder": str(folder),
        "leftOut": _EXCLUDED,
        "imported": [str(path) for path in imported],
        "numpy": str(numpy),
    }
    call(
        _STEP,
        [node_env.program(), _HERE / "make.mjs", json.dumps(wanted)],
        "delete node_modules and run the same command again",
    )


def version() -> str:
    """The version of Pyodide."""
    package = json.loads((PYODIDE / "package.json").read_text("utf-8"))
    return str(package["version"])
