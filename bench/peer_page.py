"""The peer's page of `bench --cold`: its folder, and how a well-kept host serves it.

Every file has brotli's tightest form beside it, and may be kept for a year by the browser; only the
document is asked about again. Tallow's files are served as `build.py serve` does it.
"""

from __future__ import annotations

import json
import mimetypes
import os
import shutil
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from bench.serving import IN_BROWSER, ORT
from tallow_build import node_env, server
from tallow_build.errors import BuildError
from tallow_build.paths import BUILD, DIST, shown
from tallow_build.process import call
from tallow_build.stamps import Stamp, digest

PEER = BUILD / "bench" / "peer"

MODELS = ("mnist", "efficientnet_lite0")

_COMPRESS = Path(__file__).with_name("compress.mjs")

_DOCUMENT = "index.html"
_FILES = {
    _DOCUMENT: IN_BROWSER / "ort_smallest.html",
    "ort_smallest.js": IN_BROWSER / "ort_smallest.js",
    **{
        name: ORT / name
        for name in (
            "ort.jspi.bundle.min.mjs",
            "ort-wasm-simd-threaded.jspi.wasm",
            "ort.wasm.bundle.min.mjs",
            "ort-wasm-simd-threaded.wasm",
        )
    },
}


def prepare(*, compressed: bool) -> None:
    """Makes the folder; `compressed` takes some minutes the first time. Raises BuildError."""
    folder = DIST / "samples"
    if not folder.is_dir():
        why, remedy = f"{shown(folder)} is missing", "run `python3 build.py build`"
        raise BuildError("Putting the peer's page together", why, remedy)
    first = json.loads((folder / "samples.json").read_text("utf-8"))[0]["name"]
    (sample,) = folder.glob(f"{first}[-.]*")
    models = {f"{name}.onnx": next((DIST / "models" / name).glob("*.onnx")) for name in MODELS}
    PEER.mkdir(parents=True, exist_ok=True)
    for name, path in {**_FILES, **models, "sample": sample}.items():
        shutil.copyfile(path, PEER / name)
        if name != _DOCUMENT:
            _compress(PEER / name, wanted=compressed)


def _compress(path: Path, *, wanted: bool) -> None:
    """Puts the compressed form beside a file, if it is the smaller one."""
    beside, stamp = Path(f"{path}.br"), Stamp(f"bench-peer-{path.name}")
    inputs = digest(path, _COMPRESS)
    if stamp.fresh(inputs):
        return
    stamp.clear()
    beside.unlink(missing_ok=True)
    if not wanted:
        return
    aside = Path(f"{path}.new")
    command = (node_env.program(), _COMPRESS, path, aside)
    call(f"Compressing {path.name}", command, "free some disk space, then start again")
    if aside.stat().st_size < path.stat().st_size:
        aside.replace(beside)
        stamp.write(inputs, [beside])
    else:
        aside.unlink()
        stamp.write(inputs, [])


class _Kept(StaticFiles):
    """Files that a browser keeps; compressed where that is there and the browser understands it."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        beside = Path(f"{os.fspath(full_path)}.br")
        if "br" in Headers(scope=scope).get("accept-encoding", "") and beside.is_file():
            kind, _ = mimetypes.guess_type(full_path)
            response: Response = FileResponse(beside, media_type=kind)
            response.headers["Content-Encoding"] = "br"
        else:
            response = super().file_response(full_path, stat_result, scope, status_code)
        is_document = Path(full_path).name == _DOCUMENT
        kept = "no-cache" if is_document else "public, max-age=31536000, immutable"
        MutableHeaders(raw=response.raw_headers)["Cache-Control"] = kept
        return response


def application() -> ASGIApp:
    """Both sites: Tallow's at /, the peer's at /peer/."""
    ours = server.application(DIST)
    return Starlette(
        routes=[Mount("/peer", _Kept(directory=PEER, html=True)), Mount("/", app=ours)]
    )
