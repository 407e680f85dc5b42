"""Serves a folder over HTTP: for `serve`, the tests, `run` and `bench`.

The work is Starlette's static files and uvicorn; here stand the types of our files, the words for
a port that cannot be had, and the two ways of running: until Ctrl-C, or beside the caller.

    python -m tallow_build.server FOLDER --host 127.0.0.1 --port 8000
"""

from __future__ import annotations

import argparse
import mimetypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from .address import listen, url
from .errors import BuildError
from .headers import headers_for

# The operating system's table lacks some of these, and on Windows may have others wrong.
_TYPES = {
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".wasm": "application/wasm",
    ".json": "application/json",
    ".onnx": "application/octet-stream",
    ".whl": "application/octet-stream",
    ".webmanifest": "application/manifest+json",
    ".wgsl": "text/plain",
}


class _Folder(StaticFiles):
    """Static files with our headers, and an ETag each, that the browser asks about every time."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        path = Path(full_path).relative_to(Path(str(self.directory)).resolve()).as_posix()
        MutableHeaders(raw=response.raw_headers).update(headers_for(path))
        return response


def application(folder: Path, prefix: str = "/") -> Starlette:
    """A web application that gives the files of `folder`, and nothing else, under `prefix`."""
    for ending, kind in _TYPES.items():
        mimetypes.add_type(kind, ending)
    files = _Folder(directory=folder, html=True)
    return Starlette(routes=[Mount(prefix.rstrip("/") or "/", files)])


@contextmanager
def running(
    folder: Path, *, host: str = "127.0.0.1", port: int = 0, prefix: str = "/"
) -> Iterator[str]:
    """Serves `folder` from a thread of this process; gives the address, which ends in a slash.

    port 0 takes a free one. Raises BuildError if the address cannot be had.
    """
    with listen(host, port) as listener:
        server = _server(folder, prefix)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            yield url(listener) + prefix.strip("/") + ("/" if prefix.strip("/") else "")
        finally:
            server.should_exit = True
            thread.join()


def _server(folder: Path, prefix: str) -> uvicorn.Server:
    settings = uvicorn.Config(
        application(folder, prefix),
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,  # a page left open must not keep Ctrl-C waiting
    )
    return uvicorn.Server(settings)


def serve(folder: Path, host: str, port: int) -> None:
    """Serves `folder` until Ctrl-C. Raises BuildError if the address cannot be had."""
    with listen(host, port) as listener:
        _announce(listener)
        try:
            _server(folder, "/").run([listener])
        except KeyboardInterrupt:  # uvicorn has shut down in order, and passes the signal on
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
