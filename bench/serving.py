"""Serves the benchmark's pages: Tallow's modules, onnxruntime-web, the pages, the files.

The pages are cross-origin isolated, because only then does Chromium's clock have a resolution of
5 µs instead of 100. Modules come from web/, unbundled; the files that they load come from dist/.
"""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bench.cases import MADE
from tallow_build.paths import DIST, NODE_MODULES, WEB
from tallow_build.serving import server

IN_BROWSER = Path(__file__).parent / "in_browser"
ORT = NODE_MODULES / "onnxruntime-web" / "dist"

_ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}


def _isolated(app: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_isolated(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_ISOLATED)
            await send(message)

        await app(scope, receive, send_isolated)

    return answer


def application() -> ASGIApp:
    """Serves the folders with the layout of the checkout, so that relative imports work."""
    MADE.mkdir(parents=True, exist_ok=True)
    folders = {"/bench/in_browser": IN_BROWSER, "/made": MADE, "/ort": ORT}
    mounts = [Mount(path, server.application(folder)) for path, folder in folders.items()]
    mounts.append(Mount("/web", server.application(WEB, fallback=DIST)))
    return _isolated(Starlette(routes=mounts))
