"""Debian's package manager, for programs not on pip or npm. Used only as root on Debian."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..errors import explained
from ..files import replace_folder, scratch
from ..process import call

_REMEDY = "check the network connection and Debian's package sources, or install it by hand"


def available() -> bool:
    """Whether this process may install Debian packages."""
    return os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(package: str) -> None:
    """Installs a Debian package by name. Raises BuildError."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    call("Reading Debian's package lists", ["apt-get", "update", "-q"], _REMEDY, extra=quiet)
    command = ["apt-get", "install", "-q", "-y", "--no-install-recommends", package]
    call(f"Installing Debian's {package}", command, _REMEDY, extra=quiet)


def require(*programs: str) -> None:
    """Installs those programs that are missing, from packages of their names. Raises BuildError."""
    for name in programs:
        if shutil.which(name) is None:
            install(name)


def unpack(package: str, folder: Path) -> None:
    """Puts a Debian package's files below `folder`, a new one. Nothing is installed, so none of its
    services start. Raises BuildError."""
    call("Reading Debian's package lists", ["apt-get", "update", "-q"], _REMEDY)
    step = f"Unpacking Debian's {package}"
    with explained(step), scratch(package) as aside:
        files = aside / "files"
        fetch = ["sh", "-c", f"cd {aside} && apt-get download -q {package}"]
        call(step, fetch, _REMEDY)
        call(step, ["dpkg-deb", "-x", next(aside.glob("*.deb")), files], _REMEDY)
        replace_folder(files, folder)
