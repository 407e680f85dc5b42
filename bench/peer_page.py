"""The peer's page of `bench --cold`: its folder, built and served like Tallow's own page.

Every file has compressed versions next to it, and browsers may cache it forever, because the name
of its folder contains a hash; only the document is revalidated.
"""

from __future__ import annotations

import json

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from bench.hosting import IN_BROWSER, ORT
from tallow_build.errors import BuildError
from tallow_build.files import only_one, replace_folder, scratch
from tallow_build.page import compressed
from tallow_build.page.site import Site
from tallow_build.paths import BUILD, DIST, shown
from tallow_build.serving import server

PEER = BUILD / "bench" / "peer"

MODELS = ("mnist", "efficientnet_lite0")

_DOCUMENT = IN_BROWSER / "ort_smallest.html"
_FILES = (
    IN_BROWSER / "ort_smallest.js",
    ORT / "ort.jspi.bundle.min.mjs",
    ORT / "ort-wasm-simd-threaded.jspi.wasm",
    ORT / "ort.wasm.bundle.min.mjs",
    ORT / "ort-wasm-simd-threaded.wasm",
)


def prepare(*, small: bool) -> None:
    """Makes the folder. Raises BuildError.

    small: also compress its files, which takes a minute or two the first time.
    """
    folder = DIST / "samples"
    if not folder.is_dir():
        why, remedy = f"{shown(folder)} is missing", "run `python3 build.py build`"
        raise BuildError("Building the peer's page", why, remedy)
    sample = folder / json.loads((folder / "samples.json").read_text("utf-8"))[0]["file"]
    models = {f"{name}.onnx": next((DIST / "models" / name).glob("*.onnx")) for name in MODELS}
    files = {path.name: path for path in _FILES}
    with only_one(), scratch("peer", BUILD / "tmp") as aside:  # another build.py deletes build/tmp
        site = Site(aside / "peer")
        hashed = site.put_in_hashed_folder("files", {**files, **models, "sample": sample})
        document = _DOCUMENT.read_text("utf-8").replace('src="', f'src="{hashed}/')
        site.put("index.html", document.encode())
        if small:
            compressed.compress(site.folder, PEER.with_name("compressed"))
        PEER.parent.mkdir(parents=True, exist_ok=True)
        replace_folder(site.folder, PEER)


def application() -> ASGIApp:
    """Both sites: Tallow's at /, the peer's at /peer/."""
    sites = {"/peer": PEER, "/": DIST}
    return Starlette(routes=[Mount(path, server.application(site)) for path, site in sites.items()])
