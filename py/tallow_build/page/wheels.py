"""The wheels that are built here: `tallow` itself, the page's Python, the schema from the `onnx`
package, and Jinja2.

They have the same bytes wherever they are built, so dist/ does too.
"""

from __future__ import annotations

import base64
import hashlib
import json
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import DEVNULL, run

from ..errors import BuildError, explained
from ..files import scratch
from ..paths import BUILD, ROOT
from ..process import call, environment, python
from ..stamps import Stamp, digest

WHEELS = BUILD / "wheels"

# The earliest time in a zip file; every entry gets it.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_EPOCH_SECONDS = "315532800"

_SETTINGS = ROOT / "pyproject.toml"


def version() -> str:
    """Tallow's version in pyproject.toml."""
    return str(tomllib.loads(_SETTINGS.read_text("utf-8"))["project"]["version"])


def tallow() -> Path:
    """The tallow wheel, rebuilt when its sources have changed."""
    texts = [_SETTINGS, ROOT / "README.md", ROOT / "LICENSE"]
    folders = ("py/tallow", "kernels_wgsl", "web/gpu", "web/wasm")
    inputs = digest(*texts, *(ROOT / folder for folder in folders))
    wheel = WHEELS / f"tallow-{version()}-py3-none-any.whl"
    stamp = Stamp("tallow-wheel")
    if stamp.fresh(inputs):
        return wheel
    stamp.clear()
    step = "Building the tallow wheel"
    with scratch("tallow") as folder:
        call(
            step,
            python("-m", "hatchling", "build", "-t", "wheel", "-d", folder),
            "fix what it reports about pyproject.toml or the files it names",
            extra={"SOURCE_DATE_EPOCH": _EPOCH_SECONDS},
        )
        with explained(step):
            WHEELS.mkdir(parents=True, exist_ok=True)
            (folder / wheel.name).replace(wheel)
    stamp.write(inputs, [wheel])
    return wheel


def page() -> Path:
    """A wheel of py/tallow_page, the Python functions that the page calls."""
    folder, licence = ROOT / "py" / "tallow_page", ROOT / "LICENSE"
    sources = {
        path.relative_to(folder.parent).as_posix(): path for path in sorted(folder.rglob("*.py"))
    }
    return _wheel(
        "Building the wheel of py/tallow_page", "tallow-page", "MIT", version(), sources, licence
    )


def onnx_schema() -> Path:
    """A wheel with only onnx/onnx_ml_pb2.py: the ONNX format, without the C++ parts of `onnx`.

    It has no onnx/__init__.py, so `from onnx import onnx_ml_pb2` works the same with this and
    with the whole package.
    """
    step = "Extracting the schema from the onnx package"
    folder, version, licence = _installed(step, "onnx")
    sources = {"onnx/onnx_ml_pb2.py": folder / "onnx" / "onnx_ml_pb2.py"}
    return _wheel(step, "onnx-schema", "Apache-2.0", version, sources, licence)


def templates() -> Path:
    """A wheel of Jinja2 and MarkupSafe, without what is compiled: for the chat templates of
    language models. Both have the BSD licence, and one author."""
    step = "Extracting jinja2 and markupsafe"
    folder, version, licence = _installed(step, "jinja2")
    sources = {
        path.relative_to(folder).as_posix(): path
        for name in ("jinja2", "markupsafe")
        for path in sorted((folder / name).glob("*.py"))
    }
    return _wheel(step, "templates", "BSD-3-Clause", version, sources, licence)


def _wheel(
    step: str, project: str, terms: str, version: str, sources: Mapping[str, Path], licence: Path
) -> Path:
    """A wheel of these files, rebuilt when any of them has changed. terms: the licence's name."""
    inputs = digest(*sources.values(), licence, *sources, version, "layout 2")
    name = f"{project.replace('-', '_')}-{version}"
    wheel = WHEELS / f"{name}-py3-none-any.whl"
    stamp = Stamp(project)
    if stamp.fresh(inputs):
        return wheel
    stamp.clear()
    info = f"{name}.dist-info"
    about = f"Metadata-Version: 2.4\nName: {project}\nVersion: {version}\nLicense: {terms}\n"
    format_ = "Wheel-Version: 1.0\nGenerator: tallow\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with explained(step), scratch(project) as folder:
        entries = {path: source.read_bytes() for path, source in sources.items()}
        entries |= {
            f"{info}/METADATA": about.encode(),
            f"{info}/WHEEL": format_.encode(),
            f"{info}/licenses/LICENSE": licence.read_bytes(),
        }
        rows = (f"{path},{_record_hash(data)},{len(data)}\n" for path, data in entries.items())
        entries[f"{info}/RECORD"] = f"{''.join(rows)}{info}/RECORD,,\n".encode()
        WHEELS.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(folder / wheel.name, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in entries.items():
                archive.writestr(zipfile.ZipInfo(path, _EPOCH), data, zipfile.ZIP_DEFLATED)
        (folder / wheel.name).replace(wheel)
    stamp.write(inputs, [wheel])
    return wheel


def _record_hash(data: bytes) -> str:
    raw = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={raw}"


def _installed(step: str, project: str) -> tuple[Path, str, Path]:
    """The folder of a project in .venv and its version, without importing it, and its licence."""
    script = (
        f"import importlib.metadata as m, json; d = m.distribution({project!r}); "
        "print(json.dumps([str(d.locate_file('')), d.version]))"
    )
    done = run(
        python("-c", script), capture_output=True, text=True, stdin=DEVNULL, env=environment()
    )
    try:
        folder, version = json.loads(done.stdout)
    except ValueError as error:
        why = f"{project} is not in .venv: {done.stderr.strip()[-500:]}"
        raise BuildError(step, why, "delete .venv and try again") from error
    licences = Path(folder) / f"{project}-{version}.dist-info" / "licenses"
    return Path(folder), str(version), min(licences.glob("LICENSE*"))
