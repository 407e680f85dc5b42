"""Serves the benchmark's pages: Tallow's modules, its peers, the pages, the files.

The pages are cross-origin isolated, as Tallow's own: that gives them threads, and Chromium's clock
a resolution of 5 µs instead of 100. Modules come from web/, unbundled; the files that they load
come from dist/.
"""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from bench.cases import MADE
from tallow_build.paths import DIST, NODE_MODULES, WEB
from tallow_build.serving import server

IN_BROWSER = Path(__file__).parent / "in_browser"
ORT = NODE_MODULES / "onnxruntime-web" / "dist"
LITERT = NODE_MODULES / "@litertjs"

_LITERT_MODULE = "/litert/core/dist/index.js"


def application() -> ASGIApp:
    """Serves the folders with the layout of the checkout, so that relative imports work."""
    MADE.mkdir(parents=True, exist_ok=True)
    folders = {"/bench/in_browser": IN_BROWSER, "/made": MADE, "/ort": ORT, "/litert": LITERT}
    routes: list[BaseRoute] = [Route(_LITERT_MODULE, _litert_module)]
    routes += [Mount(path, server.application(folder)) for path, folder in folders.items()]
    routes.append(Mount("/web", server.application(WEB, fallback=DIST)))
    return Starlette(routes=routes)


def _litert_module(_: Request) -> Response:
    """LiteRT.js's module, which asks for another package by its name, with that one's address.
    An import map would do the same, but our headers allow no script in a document."""
    text = (LITERT / "core" / "dist" / "index.js").read_text("utf-8")
    text = text.replace('"@litertjs/wasm-utils"', '"/litert/wasm-utils/dist/index.js"')
    return Response(text, media_type="text/javascript")
