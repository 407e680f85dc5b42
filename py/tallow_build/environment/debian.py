"""Debian's package manager, for programs not on pip or npm. Used only as root on Debian."""

from __future__ import annotations

import os
import shutil

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
