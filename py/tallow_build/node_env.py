"""Makes node_modules from package-lock.json.

The runtime packages (what dist/ carries) are few; the development packages are large, so serve
and build do without them. No package's own install script is run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from .errors import BuildError
from .paths import NODE_MODULES, PACKAGE_JSON, PACKAGE_LOCK, ROOT
from .process import call
from .stamps import Stamp, digest

_OLDEST = 20


def ensure(*, dev: bool) -> None:
    """Brings node_modules to what package-lock.json says; with `dev`, development tools too."""
    stamp = Stamp("node")
    lock = digest(PACKAGE_JSON, PACKAGE_LOCK, ROOT / ".npmrc")
    runtime, everything = f"runtime {lock}", f"everything {lock}"
    if stamp.fresh(everything, *([] if dev else [runtime])):
        return
    npm = _npm()
    stamp.clear()
    call(
        "Installing npm packages (package-lock.json)",
        [
            *(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress"),
            "--include=dev" if dev else "--omit=dev",
        ],
        "check the network connection, then start the same command again",
        folder=NODE_MODULES,
    )
    stamp.write(everything if dev else runtime, [NODE_MODULES / ".package-lock.json"])


def binary(name: str) -> Path:
    """The program `name` of an installed package."""
    found = shutil.which(name, path=str(NODE_MODULES / ".bin"))
    if found is None:
        remedy = "delete node_modules and start the same command again"
        raise BuildError(f"Finding {name}", "it is not in node_modules/.bin", remedy)
    return Path(found)


def program() -> str:
    """The path of Node.js, which ensure() has found new enough."""
    return shutil.which("node") or "node"


def _npm() -> str:
    """The path of npm, once Node is known to be new enough. Raises BuildError."""
    remedy = f"install Node.js {_OLDEST} or newer, npm included, and put it on PATH"
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        missing = "node" if node is None else "npm"
        raise BuildError("Looking for Node.js", f"no program named {missing} is on PATH", remedy)
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"v(\d+)\.", said)
    if version is None or int(version[1]) < _OLDEST:
        why = f"{node} says it is {said.strip() or 'nothing at all'}, {_OLDEST} is the oldest"
        raise BuildError("Looking for Node.js", why, remedy)
    return npm
