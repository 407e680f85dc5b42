"""web/shared/fetch.js and streamed.js over connections that break: taken up where they broke, or
begun anew; files in pieces, used as they arrive.
"""

from __future__ import annotations

import gzip
import hashlib
import random
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

from tallow_build import models
from tallow_build.paths import WEB

CONTENT = bytes(range(256)) * 1200  # of the file "big.bin"
OTHER = CONTENT[::-1]
NAME = "big.bin"
SOURCES = "/sources/"  # where web/ is served, whose modules dist/ has in bundles


class Breaking(ThreadingHTTPServer):
    """Serves a folder, and NAME; breaks the connections of one file off, one after the other."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.file = NAME
        self.content = CONTENT
        self.breaks: list[int] = []  # bytes of the content after which each connection ends
        self.ranges = True
        self.changes: bytes | None = None  # what the content becomes after the first connection
        self.damages: list[int] = []  # a byte that is wrong, for each connection
        self.compressed = False  # where no range is wanted
        self.asked: list[str] = []  # the range that each wants, "" for all of it
        self.sent = 0
        # Bytes that the page has; where that is told, no connection breaks before all have arrived,
        # since a browser drops what it has not handed over yet.
        self.told = False
        self.arrived = 0
        self.arriving = threading.Condition()
        super().__init__(("127.0.0.1", 0), partial(Answer, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self.server_port}/"

    def note(self, arrived: int) -> None:
        """The page tells how much it has."""
        with self.arriving:
            self.arrived = arrived
            self.arriving.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections of a browser that closes are nothing to report."""


class Answer(SimpleHTTPRequestHandler):
    """One connection."""

    server: Breaking

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests print their own."""

    def translate_path(self, path: str) -> str:
        if path.startswith(SOURCES):
            return str(WEB / path.removeprefix(SOURCES))
        return super().translate_path(path)

    def do_GET(self) -> None:
        if self.path.removeprefix(SOURCES).lstrip("/") != self.server.file:
            super().do_GET()
            return
        server, content = self.server, self.server.content
        tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        wished = self.headers["Range"] or ""
        server.asked.append(wished)
        first = 0
        if server.ranges and wished and self.headers["If-Range"] in (None, tag):
            found = re.fullmatch(r"bytes=(\d+)-", wished)
            assert found
            first = int(found[1])
        if server.damages:
            wrong = server.damages.pop(0)
            content = content[:wrong] + bytes([content[wrong] ^ 1]) + content[wrong + 1 :]
        packed = server.compressed and not wished
        content = gzip.compress(content) if packed else content
        end = server.breaks.pop(0) if server.breaks else len(content)
        if end < 0:  # before there is an answer
            self.close_connection = True
            return
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(content) - first))
        if server.ranges:
            self.send_header("ETag", tag)
        if packed:
            self.send_header("Content-Encoding", "gzip")
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        server.sent += max(0, end - first)  # before the page can have it
        self.wfile.write(content[first:end])
        if server.told and first < end < len(content):
            with server.arriving:
                least = end - (64 << 10 if packed else 0)  # what is unpacked comes in blocks
                assert server.arriving.wait_for(lambda: server.arrived >= least, timeout=30)
        if server.changes:
            server.content = server.changes
        self.close_connection = True


@pytest.fixture
def breaking(dist: Path) -> Iterator[Breaking]:
    """A server of dist/, and of NAME."""
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
        page.expose_function("arrived", breaking.note)
        yield page


FETCH = """async ([name, expected]) => {
  const { fetchBytes } = await import("./shared/fetch.js");
  let progress = 0;
  try {
    const bytes = await fetchBytes(name, { ...expected, onBytes: (n) => {
      progress += n;
      arrived(progress);
    } });
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return { progress, length: bytes.length, sum: sum.toHex?.() ?? [...sum].map(
      (byte) => byte.toString(16).padStart(2, "0")).join("") };
  } catch ({ name, message }) {
    return { progress, failed: `${name}: ${message}` };
  }
}"""


def fetched(
    page: Page, breaking: Breaking, content: bytes = CONTENT, **more: Any
) -> dict[str, Any]:
    """What fetchBytes gives for NAME; that content is expected."""
    page.goto("sources/app.webmanifest")
    breaking.told = True
    expected = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} | more
    told: dict[str, Any] = page.evaluate(FETCH, [NAME, expected])
    return told


def is_whole(told: dict[str, Any], content: bytes = CONTENT) -> bool:
    """Whether that is the content, and the progress says so."""
    digest = hashlib.sha256(content).hexdigest()
    return told == {"progress": len(content), "length": len(content), "sum": digest}


@pytest.mark.parametrize("at", [-1, 0, 1, 65_536, len(CONTENT) - 1])
def test_a_connection_that_breaks_is_taken_up_at_that_byte(
    page: Page, breaking: Breaking, at: int
) -> None:
    breaking.breaks = [at]
    assert is_whole(fetched(page, breaking))
    assert breaking.asked == ["", f"bytes={at}-" if at > 0 else ""]
    assert breaking.sent == len(CONTENT)


def test_one_that_breaks_often_but_brings_something_is_taken_up_as_often(
    page: Page, breaking: Breaking
) -> None:
    breaking.breaks = [*range(70_000, len(CONTENT), 70_000)]
    assert is_whole(fetched(page, breaking))
    assert len(breaking.asked) == len(range(70_000, len(CONTENT), 70_000)) + 1
    assert breaking.sent == len(CONTENT)


def test_where_the_size_is_not_known(page: Page, breaking: Breaking) -> None:
    breaking.breaks = [1000, 2000]
    breaking.told = True
    page.goto("sources/app.webmanifest")
    assert is_whole(page.evaluate(FETCH, [NAME, {}]))
    assert breaking.asked == ["", "bytes=1000-", "bytes=2000-"]


def test_one_that_brings_nothing_is_given_up_on(page: Page, breaking: Breaking) -> None:
    breaking.breaks = [100] * 9
    told = fetched(page, breaking)
    assert told["failed"].startswith("FetchError: ")
    assert NAME in told["failed"]
    assert told["progress"] == 0
    assert len(breaking.asked) == 4


def test_a_server_without_ranges_starts_over(page: Page, breaking: Breaking) -> None:
    breaking.ranges = False
    breaking.breaks = [1000, 100_000]
    assert is_whole(fetched(page, breaking))
    assert breaking.asked == ["", "", ""]


def test_parts_of_two_builds_never_mix(page: Page, breaking: Breaking) -> None:
    """The rest of another content is not what the server gives; all of it is."""
    breaking.breaks = [1000]
    breaking.changes = OTHER
    assert is_whole(fetched(page, breaking, OTHER), OTHER)
    assert breaking.asked == ["", "bytes=1000-"]


def test_a_wrong_content_is_refused_however_it_came(page: Page, breaking: Breaking) -> None:
    breaking.breaks = [1000]
    told = fetched(page, breaking, sha256="0" * 64)
    assert "its sha256 is" in told["failed"]


# ---- files in pieces --------------------------------------------------------------------------

ENDS = [65_536, 200_000, len(CONTENT)]
ARRIVE = """async ([name, pieces, stopAt]) => {
  const { StreamedFile } = await import("./shared/streamed.js");
  const { hex, digest } = await import("./shared/bytes.js");
  let progress = 0;
  const file = new StreamedFile(name, pieces, (n) => {
    progress += n;
    arrived(progress);
    if (stopAt && progress >= stopAt) file.stop();
  });
  let begin = 0;
  const parts = [];
  for (const [end] of pieces) {
    const part = file.part(begin, end - begin);
    begin = end;
    parts.push(part.ready().then(async () => {
      const at = progress;
      return [at, hex(await digest(part.take().slice()))];
    }));
  }
  try {
    await file.whole;
    if (!stopAt) return { progress, parts: await Promise.all(parts) };
    const ready = await Promise.allSettled(parts);
    return { progress, failure: file.failure, ready: ready.map(({ status }) => status) };
  } catch ({ name, message }) {
    const ready = await Promise.allSettled(parts);
    return { progress, failed: `${name}: ${message}`, ready: ready.map(({ status }) => status) };
  }
}"""


def arriving(
    page: Page, breaking: Breaking, content: bytes = CONTENT, stop_at: int = 0
) -> dict[str, Any]:
    """What a StreamedFile of NAME comes to, in three pieces of that content."""
    page.goto("sources/app.webmanifest")
    breaking.told = True
    told: dict[str, Any] = page.evaluate(ARRIVE, [NAME, pieces(content), stop_at])
    return told


def pieces(content: bytes) -> list[tuple[int, str]]:
    """Where each ends, and its SHA-256."""
    begins = [0, *ENDS]
    return [
        (end, hashlib.sha256(content[begin:end]).hexdigest())
        for begin, end in zip(begins, ENDS, strict=False)
    ]


def has_arrived(told: dict[str, Any], content: bytes = CONTENT) -> bool:
    """Whether all pieces came, each as soon as it was there."""
    at, sums = zip(*told["parts"], strict=True)
    assert list(at) == sorted(at) and at[0] < len(content)
    return told["progress"] == len(content) and list(sums) == [s for _, s in pieces(content)]


TAKE_TWICE = """async ([name, pieces]) => {
  const { StreamedFile } = await import("./shared/streamed.js");
  const file = new StreamedFile(name, pieces, () => {});
  const [one, other] = [file.part(0, 4), file.part(4, 4)];
  await file.whole;
  const taken = [...one.take(), ...one.bytes(), ...other.take()];
  try {
    return [taken, other.bytes()];
  } catch ({ message }) {
    return [taken, message];
  }
}"""


def test_what_all_have_taken_is_not_there_again(page: Page, breaking: Breaking) -> None:
    page.goto("sources/app.webmanifest")
    taken, message = page.evaluate(TAKE_TWICE, [NAME, pieces(CONTENT)])
    assert bytes(taken) == CONTENT[:4] + CONTENT[:8]
    assert message == "Bytes 0 to 65536 were taken before."


@pytest.mark.parametrize("at", [-1, 0, 1, 65_535, 65_536, 70_000, len(CONTENT) - 1, len(CONTENT)])
def test_a_file_in_pieces_is_taken_up_at_that_byte(page: Page, breaking: Breaking, at: int) -> None:
    breaking.breaks = [at]
    assert has_arrived(arriving(page, breaking))
    again = [f"bytes={at}-" if at > 0 else ""] if at < len(CONTENT) else []
    assert breaking.asked == ["", *again]
    assert breaking.sent == len(CONTENT)


def test_a_compressed_one_is_taken_up_too(page: Page, breaking: Breaking) -> None:
    """The rest is asked for as it is: the pieces' hashes say whether it fits."""
    content = random.Random(7).randbytes(len(CONTENT))
    breaking.content, breaking.compressed, breaking.breaks = content, True, [200_000]
    assert has_arrived(arriving(page, breaking, content), content)
    first, second = breaking.asked
    assert first == "" and int(re.fullmatch(r"bytes=(\d+)-", second)[1]) > 100_000  # type: ignore[index]


def test_where_the_server_has_no_ranges_what_is_here_is_passed_over(
    page: Page, breaking: Breaking
) -> None:
    breaking.ranges = False
    breaking.breaks = [100_000]
    assert has_arrived(arriving(page, breaking))
    assert breaking.asked == ["", "bytes=100000-"]


@pytest.mark.parametrize(
    ("wrong", "begin"), [(0, 0), (70_000, 65_536), (len(CONTENT) - 1, 200_000)]
)
def test_a_damaged_piece_is_fetched_again(
    page: Page, breaking: Breaking, wrong: int, begin: int
) -> None:
    breaking.damages = [wrong]
    assert has_arrived(arriving(page, breaking))
    assert breaking.asked == ["", f"bytes={begin}-" if begin else ""]


def test_one_that_stays_damaged_is_refused_and_those_before_it_are_right(
    page: Page, breaking: Breaking
) -> None:
    breaking.damages = [70_000, 70_000]
    told = arriving(page, breaking)
    assert "its sha256 is" in told["failed"]
    assert told["ready"] == ["fulfilled", "rejected", "rejected"]
    assert told["progress"] == 0


def test_pieces_of_two_builds_never_mix(page: Page, breaking: Breaking) -> None:
    breaking.breaks = [100_000]
    breaking.changes = OTHER
    told = arriving(page, breaking)
    assert "its sha256 is" in told["failed"]
    assert told["ready"] == ["fulfilled", "rejected", "rejected"]


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"!"])
def test_another_size_is_refused(page: Page, breaking: Breaking, content: bytes) -> None:
    breaking.content = content
    assert re.search(r"it has \d+ bytes, expected 307200", arriving(page, breaking)["failed"])


def test_one_that_nobody_wants_ends_without_a_word(page: Page, breaking: Breaking) -> None:
    breaking.breaks = [100_000]
    told = arriving(page, breaking, stop_at=100_000)
    assert told["ready"] == ["fulfilled", "rejected", "rejected"]
    assert (told["progress"], told["failure"]) == (len(CONTENT), None)
    assert breaking.asked == [""]


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
