"""The page over breaking connections. For the modules themselves see tests/js/fetch.test.js."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import watched_page

from tallow_build.content import models


class Breaking(ThreadingHTTPServer):
    """Serves a folder, and breaks the connections of one file, one after the other."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.file = ""
        self.content = b""
        self.breaks: list[int] = []  # bytes of the content after which each connection ends
        self.asked: list[str] = []  # the range of each request, "" for none
        super().__init__(("127.0.0.1", 0), partial(Answer, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores connections of a browser that closes."""


class Answer(SimpleHTTPRequestHandler):
    """One connection."""

    server: Breaking

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""

    def do_GET(self) -> None:
        if self.path.lstrip("/") != self.server.file:
            super().do_GET()
            return
        server, content = self.server, self.server.content
        wanted = self.headers["Range"] or ""
        server.asked.append(wanted)
        found = re.fullmatch(r"bytes=(\d+)-", wanted)
        first = int(found[1]) if found else 0
        end = server.breaks.pop(0) if server.breaks else len(content)
        if end < 0:  # before the response
            self.close_connection = True
            return
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(content) - first))
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()[:16]}"')
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(content[first:end])
        self.close_connection = True


@pytest.fixture
def breaking(dist: Path) -> Iterator[Breaking]:
    """A server of dist/."""
    with Breaking(dist) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def page(browser: Browser, breaking: Breaking) -> Iterator[Page]:
    """A page of that server."""
    for page, _ in watched_page(browser, breaking.address):
        yield page


def test_the_page_comes_up_though_connections_break(
    visitor_of: Any, page: Page, breaking: Breaking, dist: Path
) -> None:
    model = models.in_dist("mnist")
    breaking.file = model.relative_to(dist).as_posix()
    breaking.content = model.read_bytes()
    # As often as it is taken up, however little of each the browser hands over before it breaks.
    breaking.breaks = [-1, 100_000, len(breaking.content) - 1]
    visitor = visitor_of(page)
    visitor.open("./?device=numpy")
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert len(breaking.asked) == 4
    expect(visitor.hook("boot-log").locator("[data-stage=model]")).to_have_attribute(
        "data-state", "done"
    )
