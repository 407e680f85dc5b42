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

# Of Tallow, what only other Pythons can use: the command line, desktop GPUs.
_LEFT_OUT = ("tallow/__main__.py", "tallow/cli/", "tallow/backends/native")


@dataclass(frozen=True)
class Snapshot:
    """image: the memory. wheels: the ones that were given, compiled, in the same order."""

    image: Path
    wheels: list[Path]


def ensure(wheels: list[Path]) -> Snapshot:
    """The snapshot of a Python that has imported these wheels, made anew when they have changed."""
    inputs = digest(_HERE, NODE_MODULES / ".package-lock.json", *_LEFT_OUT, *wheels)
    stamp = Stamp("snapshot")
    if not stamp.fresh(inputs):
        stamp.clear()
        step = "Making the memory snapshot of Python"
        with scratch("snapshot", BUILD / "tmp") as folder:
            made = folder / "made"
            with explained(step):
                made.mkdir()
            call(
                step,
                [node_env.program(), _HERE / "make.mjs", made, ",".join(_LEFT_OUT), *wheels],
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
