"""Serves a folder over HTTP: for `serve`, the tests, `run` and `bench`.

Starlette's static files and uvicorn do the work. This file adds the types of our files, the choice
between a file and its compressed versions, explanations for unavailable ports, and two ways of
running: until Ctrl-C, or in a thread next to the caller, who may bring their own application.

    python -m tallow_build.serving.server FOLDER --host 127.0.0.1 --port 8000
"""

from __future__ import annotations

import argparse
import mimetypes
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from ..errors import BuildError
from ..files import only_one
from ..page.headers import headers_for
from ..paths import DIST
from .address import listen, url

# The operating system's table lacks some of these; on Windows others may be wrong.
_TYPES = {
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".wasm": "application/wasm",
    ".json": "application/json",
    ".onnx": "application/octet-stream",
    ".whl": "application/octet-stream",
    ".webmanifest": "application/manifest+json",
    ".wgsl": "text/plain",
    ".webp": "image/webp",
}


# The content codings of compressed files, the smallest first.
_CODINGS = {"br": ".br", "gzip": ".gz"}


class _Folder(StaticFiles):
    """Static files with our headers and ETags, which the browser revalidates every time.

    fallback: a second folder, for files that the first one lacks. Of dist/, published models are
    fetched when they are first asked for.
    """

    def __init__(self, folder: Path, fallback: Path | None = None) -> None:
        super().__init__(directory=folder, html=True)
        self._is_dist = folder.resolve() == DIST.resolve()
        if fallback:
            self.all_directories.append(fallback)

    async def get_response(self, path: str, scope: Scope) -> Response:
        parts = Path(path).parts
        wanted = self._is_dist and len(parts) == 4 and parts[:2] == _PUBLISHED
        if wanted and not (DIST / path).is_file():
            try:
                await run_in_threadpool(_fetch_published, parts[2])
            except BuildError as error:
                print(error, file=sys.stderr)
        return await super().get_response(path, scope)

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        path = Path(full_path)
        packed = {
            coding: one
            for coding, ending in _CODINGS.items()
            if (one := path.with_name(path.name + ending)).is_file() and not one.is_symlink()
        }
        coding = _chosen(Headers(scope=scope), packed)
        if coding:
            full_path, stat_result = packed[coding], packed[coding].stat()
        response = super().file_response(full_path, stat_result, scope, status_code)
        headers = MutableHeaders(raw=response.raw_headers)
        if packed:
            headers["Vary"] = "Accept-Encoding"
        if coding and response.status_code != 304:
            headers["Content-Encoding"] = coding
        folder = next(one for one in self.all_directories if path.is_relative_to(_real(one)))
        headers.update(headers_for(path.relative_to(_real(folder)).as_posix()))
        return response


_PUBLISHED = ("models", "published")

_fetching = threading.Lock()


def _fetch_published(name: str) -> None:
    from ..content import published  # which a server of another folder does not need
    from ..page.dist import put_published

    with _fetching, only_one():
        put_published(DIST, published.ensure_one(name))


def _real(folder: str | os.PathLike[str]) -> Path:
    return Path(folder).resolve()


def _chosen(request: Headers, packed: Iterable[str]) -> str | None:
    """The first coding that the browser accepts (RFC 9110, 12.5.3). Range requests get the file's
    own bytes, because ranges of compressed bytes are useless."""
    if "range" in request:
        return None
    accepted = {}
    for one in request.get("accept-encoding", "").lower().split(","):
        name, _, weight = one.replace(" ", "").partition(";q=")
        try:
            accepted[name] = float(weight or 1) > 0
        except ValueError:
            accepted[name] = False
    return next((coding for coding in packed if accepted.get(coding, accepted.get("*"))), None)


def application(folder: Path, prefix: str = "/", fallback: Path | None = None) -> Starlette:
    """A web application that serves the files of `folder`, and nothing else, under `prefix`.

    fallback: a second folder, for files that the first one lacks.
    """
    for ending, kind in _TYPES.items():
        mimetypes.add_type(kind, ending)
    return Starlette(routes=[Mount(prefix.rstrip("/") or "/", _Folder(folder, fallback))])


@contextmanager
def running(
    folder: Path, *, port: int = 0, prefix: str = "/", also: Iterable[Mount] = ()
) -> Iterator[str]:
    """Serves `folder` from a thread of this process; yields the address, with a trailing slash.

    port 0: any free port. also: routes that take precedence over the folder. Raises BuildError if
    the address is unavailable.
    """
    site = application(folder, prefix)
    site.routes[:0] = also
    with running_application(site, port) as address:
        yield address + prefix.strip("/") + ("/" if prefix.strip("/") else "")


@contextmanager
def running_application(site: ASGIApp, port: int = 0) -> Iterator[str]:
    """Like `running`, for any application."""
    with listen("127.0.0.1", port) as listener:
        server = _server(site)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            yield url(listener)
        finally:
            server.should_exit = True
            thread.join()


def _server(site: ASGIApp) -> uvicorn.Server:
    settings = uvicorn.Config(
        site,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,  # a page left open must not keep Ctrl-C waiting
    )
    return uvicorn.Server(settings)


def serve(folder: Path, host: str, port: int) -> None:
    """Serves `folder` until Ctrl-C. Raises BuildError if the address is unavailable."""
    with listen(host, port) as listener:
        _announce(listener)
        try:
            _server(application(folder)).run([listener])
        except KeyboardInterrupt:  # uvicorn has shut down properly and passes the signal on
            print("Stopped.", file=sys.stderr)


def _announce(listener: socket) -> None:
    print(f"Tallow is at {url(listener)}   (Ctrl-C stops it)", flush=True)


def main() -> None:
    """The command line in this file's docstring."""
    parser = argparse.ArgumentParser(description="Serve a folder.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    try:
        serve(options.folder, options.host, options.port)
    except BuildError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
