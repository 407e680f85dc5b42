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
    them. marks: the ETag of each path. asked: the path and the Range of each question.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: list[int] = []
        self.ranges = True
        self.marks: dict[str, str] = {}
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
            content = served.files.get(self.path.partition("?")[0])
            if content is None:
                self.send_error(404)
                return
            known = bool(wanted and served.ranges)
            first, _, last = (wanted or "").removeprefix("bytes=").partition("-")
            start = int(first) if known else 0
            if known and start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.end_headers()
                return
            self.send_response(206 if known else 200)
            rest = content[start : int(last) + 1 if known and last else None]
            if known:
                end = start + len(rest) - 1
                self.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
            if self.path in served.marks:
                self.send_header("ETag", served.marks[self.path])
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
