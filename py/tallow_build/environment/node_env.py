"""Installs node_modules from package-lock.json.

There are few runtime packages (those in dist/); the development packages are large, so serve and
build work without them. Install scripts of packages are not run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from ..errors import BuildError
from ..paths import NODE_MODULES, PACKAGE_JSON, PACKAGE_LOCK, ROOT
from ..process import call
from ..stamps import Stamp, digest

_MIN_VERSION = 20


def ensure(*, dev: bool) -> None:
    """Updates node_modules to package-lock.json; with `dev`, including development tools."""
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
        "check the network connection, then run the same command again",
        folder=NODE_MODULES,
    )
    stamp.write(everything if dev else runtime, [NODE_MODULES / ".package-lock.json"])


def pack(package: str, folder: Path) -> list[str]:
    """The command line that downloads a package, such as name@1.0, as a tarball to a folder."""
    return [_npm(), "pack", package, "--ignore-scripts", "--pack-destination", str(folder)]


def binary(name: str) -> Path:
    """The program `name` of an installed package."""
    found = shutil.which(name, path=str(NODE_MODULES / ".bin"))
    if found is None:
        remedy = "delete node_modules and run the same command again"
        raise BuildError(f"Finding {name}", "it is not in node_modules/.bin", remedy)
    return Path(found)


def program() -> str:
    """The path of Node.js, whose version ensure() has checked."""
    return shutil.which("node") or "node"


def _npm() -> str:
    """The path of npm, after checking the version of Node. Raises BuildError."""
    remedy = f"install Node.js {_MIN_VERSION} or newer, npm included, and put it on PATH"
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        missing = "node" if node is None else "npm"
        raise BuildError("Looking for Node.js", f"no program named {missing} is on PATH", remedy)
    output = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.match(r"v(\d+)\.", output)
    if version is None or int(version[1]) < _MIN_VERSION:
        why = f"{node} reports version {output.strip() or 'nothing'}; the minimum is {_MIN_VERSION}"
        raise BuildError("Looking for Node.js", why, remedy)
    return npm
