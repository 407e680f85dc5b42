"""Creates .venv and installs the pinned requirements into it.

There are two sets: `runtime` for serve and build; `dev` adds those for test, check, bench and run.
Another set may have an environment of its own, below build/. pip checks the hash of every file;
only wheels are installed, so nothing needs compiling.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from ..errors import BuildError
from ..paths import BUILD, REQUIREMENTS, VENV, python_in, shown
from ..process import call
from ..stamps import Stamp, digest
from . import debian

Set = Literal["runtime", "dev"]


def ensure(name: Set) -> None:
    """Updates .venv for the set `name`; quick if it is already up to date."""
    _update(VENV, ("runtime", "dev") if name == "dev" else ("runtime",))


def apart(name: str) -> Path:
    """The Python of an environment that has the set `name` and nothing else, made if missing."""
    folder = BUILD / "environments" / name
    _update(folder, (name,))
    return python_in(folder)


def _update(folder: Path, parts: tuple[str, ...]) -> None:
    interrupted = folder / "installing"
    if interrupted.exists() or not _usable(folder):
        _create(folder)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for part in parts:
        requirements = REQUIREMENTS / f"{part}.txt"
        stamp = Stamp(f"python-{part}")
        inputs = digest(requirements)
        if stamp.fresh(inputs):
            continue
        stamp.clear()
        interrupted.touch()
        pip = (python_in(folder), "-m", "pip", "install", "--disable-pip-version-check")
        call(
            f"Installing Python packages ({shown(requirements)})",
            [*pip, "--no-input", "--require-hashes", "--only-binary=:all:", "-r", requirements],
            "check the network connection, then run the same command again; if a package is said "
            f"to have no version that fits, it has none for Python {version}",
            folder=folder,
        )
        interrupted.unlink()
        stamp.write(inputs, [folder / "pyvenv.cfg"])


def _usable(folder: Path) -> bool:
    """Whether the environment's Python starts and is the version that its packages are for."""
    interpreter = python_in(folder)
    if not interpreter.exists():
        return False
    probe = "import sys, sysconfig, pathlib as p; sys.exit(sys.version_info < (3, 11) or not "
    probe += "p.Path(sysconfig.get_path('purelib'), 'pip').is_dir())"
    try:
        return subprocess.run([interpreter, "-c", probe], check=False).returncode == 0
    except OSError:
        return False


def _create(folder: Path) -> None:
    step = f"Creating {shown(folder)} with Python {sys.version_info[0]}.{sys.version_info[1]}"
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "venv", "--clear", str(folder)]
    remedy = "install the venv module of this Python (on Debian: apt install python3-venv)"
    try:
        call(step, command, remedy)
    except BuildError:
        if not debian.available():
            raise
        # Debian ships Python without ensurepip, but root can install it.
        debian.install(f"python{sys.version_info[0]}.{sys.version_info[1]}-venv")
        call(step, command, remedy)
