"""A server that does what real ones do at their worst."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server:
    """Gives `files` by their paths.

    cut: after how many bytes an answer ends, for each answer in turn. ranges: whether it knows
    them. asked: the path and the Range of each question.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: list[int] = []
        self.ranges = True
        self.asked: list[tuple[str, str | None]] = []
        self.address = ""


@contextmanager
def running() -> Iterator[Server]:
    """A server on this machine, in a thread."""
    served = Server()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            served.asked.append((self.path, wanted))
            content = served.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            start = int(wanted.removeprefix("bytes=")[:-1]) if wanted and served.ranges else 0
            if start >= len(content) > 0:
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            rest = content[start:]
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            limit = served.cut.pop(0) if served.cut else len(rest)
            self.wfile.write(rest[:limit])
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    served.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
