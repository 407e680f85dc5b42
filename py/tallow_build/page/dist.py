"""Builds dist/: the page, Pyodide, the wheels, the models, the samples, the licences; a service
worker that caches all of it for offline use; and compressed versions of the files.

dist/ is a plain folder that any static web server can host, under any path.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ..content import models, published, samples, split_model
from ..environment import node_env, sources
from ..errors import explained
from ..files import file_sha256, files_below, replace_folder, scratch
from ..paths import BUILD, DIST, NODE_MODULES, ROOT, WEB
from ..process import call
from ..progress import MB, folder_bytes, say
from ..stamps import Stamp, digest
from . import budget, bundled, compressed, documents, snapshot, wheels
from .site import Site

PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
LOCK = "pyodide-lock.json"

PAGES = ("index.html", "python.html")
LICENCES = ("LICENSE", "NOTICE")

_SERVICE_WORKER = Path(__file__).with_name("service_worker.mjs")
_MAKERS = Path(__file__).parents[1]  # all of build.py's own code

_IDX = "-ubyte"
"""The ending of files in the idx format."""
_PACKED_DATA = BUILD / "compressed-data"

_STEP = "Building dist/"


def ensure(*, tight: bool = False) -> None:
    """Builds dist/ from its parts, unless it exists and none of them has changed. A tight one is
    compressed to be published; it does for this machine, too."""
    numpy, protobuf = sources.pyodide_numpy(), sources.pure_protobuf()
    sources.fetch([numpy, protobuf])
    own = {"tallow": wheels.tallow(), "page": wheels.page()}
    imported = own | {"protobuf": protobuf[1], "onnx": wheels.onnx_schema()}
    imported |= {"templates": wheels.templates()}
    memory = snapshot.ensure([*imported.values()], numpy[1])
    packages = dict(zip((*imported, "numpy"), memory.wheels, strict=True))
    model_files = models.ensure() | models.cards()
    photographs = samples.ensure()
    pictures = samples.ensure_small(photographs)
    with explained(_STEP, "restore the file with git, or delete node_modules and try again"):
        made_of = [*packages.values(), *model_files.values(), *photographs.values()]
        made_of += pictures.values()
        made_of += [memory.image, memory.numpy, *(library.file for library in memory.libraries)]
        made_of += [WEB, *(ROOT / name for name in LICENCES), NODE_MODULES / ".package-lock.json"]
        makers = [*_MAKERS.rglob("*.py"), *_MAKERS.rglob("*.mjs"), budget.FILE]
        libraries = [library.info for library in memory.libraries]
        lists = (models.published(), samples.published(), published.listed(), libraries)
        inputs = digest(*made_of, *sorted(makers), *(json.dumps(part) for part in lists))
        stamp = Stamp("dist")
        if stamp.fresh(f"tight {inputs}") or (not tight and stamp.fresh(inputs)):
            return
        stamp.clear()
        with scratch("dist", BUILD / "tmp") as folder:
            made = folder / "dist"
            site = Site(made)
            _put_runtime(site, packages, memory)
            _put_page(site)
            _put_models(site, model_files)
            site.put_json("models/published.json", published.listed())
            _put_samples(site, photographs, pictures)
            for name in LICENCES:
                site.put(name, ROOT / name)
            keep_offline(made)
            compressed.compress(made, tight=tight)
            put_published(made, published.ensure() if tight else published.kept(), tight=tight)
            spent = budget.check(made)
            replace_folder(made, DIST)
        stamp.write(f"tight {inputs}" if tight else inputs, [DIST])
    say(f"dist/ is ready: {folder_bytes(DIST) / MB:.1f} MB")
    for line in spent:
        say(line)


def keep_offline(site: Path) -> None:
    """Writes the service worker of an otherwise complete site. Raises BuildError."""
    remedy = "delete node_modules and run the same command again"
    call("Writing the service worker", (node_env.program(), _SERVICE_WORKER, site), remedy)


def _put_page(site: Site) -> None:
    """Puts modules, styles, icons and documents into a site that already has Python."""
    bundled.put_modules(site, WEB)
    for path in files_below(WEB):
        if path.suffix in (".svg", ".png"):
            site.put_hashed(path.relative_to(WEB).as_posix(), path)
    for name in PAGES:
        documents.put_page(site, name)
    documents.put_app(site)


def _put_runtime(site: Site, packages: dict[str, Path], memory: snapshot.Snapshot) -> None:
    """Puts Python and its packages into a site, and runtime.js, which tells the worker how to
    download them, with sizes for progress and hashes. It becomes part of the worker's bundle."""
    pyodide = {name: snapshot.PYODIDE / name for name in PYODIDE_FILES}
    folder = site.put_in_hashed_folder("runtime/pyodide", pyodide)
    # Code that parses a wheel's file name needs it unchanged.
    wheel_folders = {
        name: site.put_in_hashed_folder(f"runtime/{name}", {path.name: path})
        for name, path in packages.items()
    }
    runtime = {
        "version": wheels.version(),
        "pyodide": {
            "version": snapshot.version(),
            "folder": folder.removeprefix("runtime/"),
            "files": {name: _known(path) for name, path in pyodide.items()},
        },
        "lock": _lock(),
        "snapshot": {**_put_part(site, memory.image), "fill": memory.fill},
        "numpy": {
            "snapshot": _put_part(site, memory.numpy),
            "libraries": [
                {**_put_part(site, library.file), **library.info} for library in memory.libraries
            ],
        },
        "packages": {
            name: {
                "file": f"{wheel_folders[name].removeprefix('runtime/')}/{path.name}",
                **_known(path),
            }
            for name, path in packages.items()
        },
    }
    text = json.dumps(json.dumps(runtime, separators=(",", ":")))
    site.put("runtime/runtime.js", f"export default JSON.parse({text});\n".encode())


def _lock() -> dict[str, Any]:
    """Pyodide's list of packages, reduced to the only one that the page may load."""
    lock = json.loads((snapshot.PYODIDE / LOCK).read_text("utf-8"))
    return {"info": lock["info"], "packages": {"numpy": lock["packages"]["numpy"]}}


def _put_part(site: Site, content: Path) -> dict[str, Any]:
    """Writes a file of the Python runtime, and returns its entry for the worker."""
    return {"file": _below("runtime", site, content, content.name), **_known(content)}


def _put_models(site: Site, files: dict[str, Path]) -> None:
    """Writes the models in parts, their labels and cards, and the list of models."""
    index = models.published()
    hashed: dict[str, str] = {}
    for group in index.values():
        for entry in group:
            hashed[entry["file"]] = _below("models", site, files[entry["file"]], entry["file"])
            entry["file"] = hashed[entry["file"]]
    for entry in index["models"]:
        _put_parts(site, entry, files[f"{entry['name']}/{entry['name']}.onnx"])
        card = json.loads(files[entry["card"]].read_text("utf-8"))
        card["labels"] = hashed[card["labels"]]
        if "labels_in" in card:
            card["labels_in"] = {key: hashed[name] for key, name in card["labels_in"].items()}
        path = site.put_hashed_json(f"models/{entry['card']}", card)
        entry["card"] = path.removeprefix("models/")
    site.put_json("models/manifest.json", index)


def _put_parts(site: Site, entry: dict[str, Any], model: Path) -> None:
    """Writes a model's graph as a separate file, and lists the pieces of its .onnx file."""
    content = model.read_bytes()
    graph = split_model.graph_of(content, model.name)
    path = site.put_hashed(f"models/{entry['name']}/{entry['name']}.graph", graph)
    entry["graph"] = {
        "file": path.removeprefix("models/"),
        "bytes": len(graph),
        "sha256": hashlib.sha256(graph).hexdigest(),
    }
    entry["pieces"] = split_model.pieces_of(content, model.name)


def put_published(folder: Path, files: dict[str, Path], *, tight: bool = False) -> None:
    """Puts published models and data that are not there yet into a site whose other files are kept
    offline and compressed. A visitor chooses them. Models are large and hardly become smaller; data
    in the idx format do, to a fifth."""
    site = Site(folder)
    missing = {
        path: content
        for path, content in files.items()
        if not (folder / published.FOLDER / path).exists()
    }
    packs = {
        content: folder / published.FOLDER / path
        for path, content in missing.items()
        if path.endswith(_IDX)
    }
    compressed.put_packed(packs, _PACKED_DATA, tight=tight)  # first: a server has them at once
    for path, content in missing.items():
        site.put_linked(f"{published.FOLDER}/{path}", content)


def _put_samples(site: Site, photographs: dict[str, Path], pictures: dict[str, Path]) -> None:
    """Writes the sample photographs, a thumbnail of each, and the list of them."""
    listed = samples.published()
    for one in listed:
        photograph, picture = photographs[one["file"]], pictures[one["file"]]
        one["file"] = _below("samples", site, photograph, one["file"])
        one["small"] = _below("samples", site, picture, picture.name)
    site.put_json("samples/samples.json", listed)


def _below(folder: str, site: Site, content: Path, name: str) -> str:
    """Writes a file into a folder, with a hash in its name; returns its path there."""
    return site.put_hashed(f"{folder}/{name}", content).removeprefix(f"{folder}/")


def _known(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
