"""Stand-ins for the images that the Containerfiles begin with: this machine's Debian, with the
package of the same program, under the same name. Python and Caddy are then Debian's versions."""

from __future__ import annotations

from pathlib import Path

from ..files import scratch
from ..paths import BUILD
from ..process import call
from . import podman

_DEBIAN = "localhost/debian:rehearsed"

# The images, and how each is made of Debian.
_STEPS = {
    "docker.io/library/python": "apt-get install -y --no-install-recommends ca-certificates "
    "python3-pip python3-venv && ln -s python3 /usr/bin/python",
    "docker.io/library/caddy": "apt-get install -y --no-install-recommends caddy wget",
}


def ensure(image: str) -> None:
    """Makes the stand-in for an image, unless it is here. Raises BuildError."""
    if podman.has(image):
        return
    _ensure_debian()
    steps = _STEPS[image.rpartition(":")[0]]
    with scratch("base", BUILD / "tmp") as folder:
        file = folder / "Containerfile"
        file.write_text(f"FROM {_DEBIAN}\nRUN apt-get update && {steps}\n", "utf-8")
        podman.build(file, image, folder, pip=False)


def _ensure_debian() -> None:
    if podman.has(_DEBIAN):
        return
    with scratch("debian", BUILD / "tmp") as folder:
        root, archive = folder / "root", folder / "root.tar"
        call(
            "Installing Debian into a folder",
            ["debootstrap", "--variant=minbase", _release(), root, _site()],
            "see what it printed, and check the network connection",
        )
        call("Packing it", ["tar", "-C", root, "-cf", archive, "."], "free some space")
        podman.podman("import", archive, _DEBIAN, step="Making an image of it")


def _release() -> str:
    """The name of this machine's Debian, such as bookworm."""
    lines = Path("/etc/os-release").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"]


def _site() -> str:
    """Where this machine's packages of that release come from."""
    words = ["apt-get", "indextargets", "--format", "$(CODENAME) $(SITE)", "Created-By: Packages"]
    found = call("Looking for Debian's packages", words, "run apt-get update, then try again")
    return dict(line.split(" ", 1) for line in found.splitlines())[_release()]
