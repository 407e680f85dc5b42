"""A web server that knows nothing of Tallow, for pages of other people: Python's own."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Quiet(SimpleHTTPRequestHandler):
    added: Mapping[str, str] = {}

    def end_headers(self) -> None:
        for name, value in self.added.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *words: object) -> None:
        pass


@contextmanager
def serving(folder: Path, headers: Mapping[str, str] = {}) -> Iterator[str]:
    """The address at which a folder is served, with a trailing slash. headers: for each answer."""
    kind = type("_Answering", (_Quiet,), {"added": headers})
    handler = functools.partial(kind, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
