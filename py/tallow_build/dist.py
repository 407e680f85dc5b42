"""Puts dist/ together: the page, Pyodide, the wheels, the models, the samples, the licences; and a
service worker that keeps all of it for use without a network.

dist/ is a plain folder that any static web server can host, under any path.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from . import integrity, models, node_env, samples, snapshot, sources, wheels
from .errors import explained
from .files import file_sha256, replace_folder, scratch
from .paths import BUILD, DIST, NODE_MODULES, ROOT, WEB
from .process import call
from .progress import MB, folder_bytes, say
from .stamps import Stamp, digest

PYODIDE_FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)

# What the page registers its service worker with, and what writes that worker.
WORKBOX = "runtime/workbox-window.prod.mjs"
WORKBOX_SOURCE = NODE_MODULES / "workbox-window" / "build" / "workbox-window.prod.mjs"
SERVICE_WORKER = Path(__file__).with_name("service_worker.mjs")

SNAPSHOT = "runtime/snapshot.bin"

LICENCES = ("LICENSE", "NOTICE")

_STEP = "Putting dist/ together"


def ensure() -> None:
    """Makes dist/ from its parts, unless it is there and none of them has changed."""
    numpy, protobuf = sources.pyodide_numpy(), sources.pure_protobuf()
    sources.fetch([numpy, protobuf])
    memory = snapshot.ensure([wheels.tallow(), protobuf[1], wheels.onnx_schema()], [numpy[1]])
    packages = dict(zip(("tallow", "protobuf", "onnx", "numpy"), memory.wheels, strict=True))
    model_files = models.ensure() | models.cards()
    photographs = samples.ensure()
    index = json.dumps(models.published(), indent=1)
    credits = json.dumps(samples.published(), indent=1, ensure_ascii=False)
    parts: dict[str, Path] = {
        **{f"runtime/pyodide/{name}": snapshot.PYODIDE / name for name in PYODIDE_FILES},
        SNAPSHOT: memory.image,
        **{f"runtime/wheels/{path.name}": path for path in packages.values()},
        **{f"models/{name}": path for name, path in model_files.items()},
        **{f"samples/{name}": path for name, path in photographs.items()},
        WORKBOX: WORKBOX_SOURCE,
        **{name: ROOT / name for name in LICENCES},
    }
    with explained(_STEP, "restore the file with git, or delete node_modules and start again"):
        makers = (SERVICE_WORKER, Path(integrity.__file__), NODE_MODULES / ".package-lock.json")
        inputs = digest(WEB, *makers, index, credits, *(x for pair in parts.items() for x in pair))
        stamp = Stamp("dist")
        if stamp.fresh(inputs):
            return
        stamp.clear()
        with scratch("dist", BUILD / "tmp") as folder:
            made = folder / "dist"
            shutil.copytree(WEB, made, ignore=shutil.ignore_patterns("*.d.ts"))
            for name, path in parts.items():
                (made / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, made / name)
            (made / "models" / "manifest.json").write_text(index + "\n", "utf-8")
            (made / "samples" / "samples.json").write_text(credits + "\n", "utf-8")
            runtime = json.dumps(_runtime(packages, memory.image), indent=1)
            (made / "runtime" / "runtime.json").write_text(runtime + "\n", "utf-8")
            integrity.seal(made / "index.html", WORKBOX)
            integrity.seal(made / "python.html")
            keep_offline(made)
            replace_folder(made, DIST)
        stamp.write(inputs, [DIST])
    say(f"dist/ is ready: {folder_bytes(DIST) / MB:.1f} MB")


def keep_offline(site: Path) -> None:
    """Writes the service worker of a site that is complete otherwise. Raises BuildError."""
    command = (node_env.program(), SERVICE_WORKER, site)
    remedy = "delete node_modules and start the same command again"
    call("Writing the service worker", command, remedy)


def _runtime(packages: dict[str, Path], image: Path) -> dict[str, Any]:
    """runtime.json: what the worker downloads, with sizes for the progress and hashes."""
    return {
        "version": wheels.version(),
        "pyodide": {
            "version": snapshot.version(),
            "files": {name: _known(snapshot.PYODIDE / name) for name in PYODIDE_FILES},
        },
        "snapshot": _known(image),
        "packages": {
            name: {"file": f"wheels/{path.name}", **_known(path)} for name, path in packages.items()
        },
    }


def _known(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
