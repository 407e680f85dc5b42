"""Podman with images of its own, below build/; it needs no daemon."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..environment import debian
from ..errors import BuildError
from ..paths import BUILD
from ..process import call

_FOLDER = BUILD / "containers"

# Podman asks for more open files than a root that lacks CAP_SYS_RESOURCE may have.
_SETTINGS = "[containers]\ndefault_ulimits = []\n"

# What says where packages come from, on the machine and so in a build: Debian's, and Python's.
_APT = ("/etc/apt",)
_PIP = ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")

_REMEDY = "see what it printed; it needs root on Debian, or one of its derivatives"


def ensure() -> None:
    """Installs Podman where that is possible. Raises BuildError."""
    if not debian.available():
        why = "containers are rehearsed by root on Debian, with its packages"
        remedy = "build them by hand, as deploy/README.md says"
        raise BuildError("Preparing Podman", why, remedy)
    debian.require("podman", "runc", "debootstrap")
    _FOLDER.mkdir(parents=True, exist_ok=True)
    (_FOLDER / "containers.conf").write_text(_SETTINGS, "utf-8")


def podman(*arguments: str | Path, step: str = "Running Podman") -> str:
    """Runs Podman and returns what it printed. Raises BuildError."""
    return call(step, _command(arguments), _REMEDY, extra=_environment())


def attempt(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """As `podman`, but its failure is an answer, too."""
    return subprocess.run(
        _command(arguments),
        env=os.environ | _environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def build(file: Path, image: str, context: Path, *arguments: str | Path, pip: bool = True) -> None:
    """Builds an image. Its steps run in a root folder of their own (chroot), with the network and
    the sources of packages that this machine has. pip False: without its certificates, which stand
    in the way of Debian's package of certificates."""
    wanted = _APT + _PIP if pip else _APT
    sources = [f"--volume={each}:{each}:ro" for each in wanted if Path(each).exists()]
    podman(
        *("build", "--isolation", "chroot", "--network", "host", "--pull=never"),
        *("--format", "docker", *sources, *arguments, "-f", file, "-t", image, context),
        step=f"Building {image}",
    )


def has(image: str) -> bool:
    """Whether the image is here."""
    return attempt("image", "exists", image).returncode == 0


def config(image: str) -> dict[str, Any]:
    """What the image says of itself."""
    (record,) = json.loads(podman("image", "inspect", image))
    found: dict[str, Any] = record["Config"] | {"Healthcheck": record.get("Healthcheck")}
    return found


def _environment() -> dict[str, str]:
    return {"CONTAINERS_CONF": str(_FOLDER / "containers.conf")}


def _command(arguments: Sequence[str | Path]) -> list[str]:
    places = ("--root", _FOLDER / "images", "--runroot", _FOLDER / "run")
    how = ("--cgroup-manager", "cgroupfs", "--runtime", "runc")
    return [str(part) for part in ("podman", *places, *how, *arguments)]
