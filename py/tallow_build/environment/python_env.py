"""Creates .venv and installs the pinned requirements into it.

There are two sets: `runtime` for serve and build; `dev` adds those for test, check, bench and run.
pip checks the hash of every file; only wheels are installed, so nothing needs compiling.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Literal

from ..errors import BuildError
from ..paths import REQUIREMENTS, VENV, VENV_PYTHON, shown
from ..process import call, python
from ..stamps import Stamp, digest
from . import debian

Set = Literal["runtime", "dev"]

_NETWORK = "check the network connection, then run the same command again"


def ensure(name: Set) -> None:
    """Updates .venv for the set `name`; quick if it is already up to date."""
    interrupted = VENV / "installing"
    if interrupted.exists() or not _usable():
        _create()
    for part in ("runtime", "dev") if name == "dev" else ("runtime",):
        requirements = REQUIREMENTS / f"{part}.txt"
        stamp = Stamp(f"python-{part}")
        inputs = digest(requirements)
        if stamp.fresh(inputs):
            continue
        stamp.clear()
        interrupted.touch()
        pip = python("-m", "pip", "install", "--disable-pip-version-check", "--no-input")
        call(
            f"Installing Python packages ({shown(requirements)})",
            [*pip, "--require-hashes", "--only-binary=:all:", "-r", str(requirements)],
            _NETWORK,
            folder=VENV,
        )
        interrupted.unlink()
        stamp.write(inputs, [VENV / "pyvenv.cfg"])


def _usable() -> bool:
    """Whether .venv's Python starts and is the version that its packages were installed for."""
    if not VENV_PYTHON.exists():
        return False
    probe = "import sys, sysconfig, pathlib as p; sys.exit(sys.version_info < (3, 11) or not "
    probe += "p.Path(sysconfig.get_path('purelib'), 'pip').is_dir())"
    try:
        return subprocess.run([VENV_PYTHON, "-c", probe], check=False).returncode == 0
    except OSError:
        return False


def _create() -> None:
    step = f"Creating {shown(VENV)} with Python {sys.version_info[0]}.{sys.version_info[1]}"
    shutil.rmtree(VENV, ignore_errors=True)
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    remedy = "install the venv module of this Python (on Debian: apt install python3-venv)"
    try:
        call(step, command, remedy)
    except BuildError:
        if not debian.available():
            raise
        # Debian ships Python without ensurepip, but root can install it.
        debian.install(f"python{sys.version_info[0]}.{sys.version_info[1]}-venv")
        call(step, command, remedy)
