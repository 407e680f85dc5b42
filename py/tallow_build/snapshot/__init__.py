"""What the page starts Python with: the wheels as bytecode, and a memory snapshot of a Pyodide that
has imported them (make.mjs)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from .. import node_env
from ..errors import explained
from ..files import replace_folder, scratch
from ..paths import BUILD, NODE_MODULES
from ..process import call
from ..stamps import Stamp, digest

PYODIDE = NODE_MODULES / "pyodide"

_HERE = Path(__file__).parent
_MADE = BUILD / "snapshot"
_FILE = "snapshot.bin"

# What only other Pythons can use: the command line, desktop GPUs, compilers.
_LEFT_OUT = (
    *("tallow/__main__.py", "tallow/cli/", "tallow/backends/native"),
    *("numpy/f2py/", "numpy/_pyinstaller/"),
)


@dataclass(frozen=True)
class Snapshot:
    """image: the memory. wheels: all that were given, compiled, in the same order."""

    image: Path
    wheels: list[Path]


def ensure(imported: list[Path], others: list[Path]) -> Snapshot:
    """The snapshot of a Python that has imported wheels, made anew when any has changed.

    others: wheels that are compiled, but not in the snapshot. Raises BuildError.
    """
    wheels = [*imported, *others]
    inputs = digest(_HERE, NODE_MODULES / ".package-lock.json", *wheels)
    stamp = Stamp("snapshot")
    if not stamp.fresh(inputs):
        stamp.clear()
        step = "Making the memory snapshot of Python"
        with scratch("snapshot", BUILD / "tmp") as folder:
            made = folder / "made"
            with explained(step):
                made.mkdir()
            wanted = {
                "folder": str(made),
                "leftOut": _LEFT_OUT,
                "imported": [str(path) for path in imported],
                "compiled": [str(path) for path in others],
            }
            call(
                step,
                [node_env.program(), _HERE / "make.mjs", json.dumps(wanted)],
                "delete node_modules and start the same command again",
            )
            with explained(step):
                replace_folder(made, _MADE)
        stamp.write(inputs, [_MADE])
    return Snapshot(_MADE / _FILE, [_MADE / wheel.name for wheel in wheels])


def version() -> str:
    """Pyodide's own."""
    told = json.loads((PYODIDE / "package.json").read_text("utf-8"))
    return str(told["version"])
