"""Files that are read by ranges: every source gives the same bytes, and says what is wrong."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallow.core import drivers
from tallow.core.drivers import run_sync
from tallow.errors import FetchError, OptionError
from tallow.files.ranges import Ranges, ranges_of

from .serving import Server, running

CONTENT = bytes(range(256)) * 1024


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as served:
        served.files["/x.gguf"] = CONTENT
        yield served


def source(kind: str, folder: Path, server: Server) -> Ranges:
    path = folder / "x.gguf"
    path.write_bytes(CONTENT)
    given: dict[str, Any] = {
        "bytes": CONTENT,
        "bytearray": bytearray(CONTENT),
        "open file": io.BytesIO(CONTENT),
        "path": path,
        "text": str(path),
        "address": f"{server.address}/x.gguf",
    }
    return ranges_of(given[kind])


async def both(steps: Any) -> tuple[Any, Any]:
    """The answer of steps, blocking and awaited."""
    return run_sync(steps()), await drivers.run_async(steps())


KINDS = ["bytes", "bytearray", "open file", "path", "text", "address"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_gives_its_bytes(
    kind: str, tmp_path: Path, server: Server, run_async: Any
) -> None:
    file = source(kind, tmp_path, server)
    assert run_async(both(file.size)) == (len(CONTENT), len(CONTENT))
    for start, length in [(0, 4), (3, 100_000), (70_000, 9), (len(CONTENT) - 1, 1), (5, 0)]:
        for found in run_async(both(lambda a=start, n=length: file.read(a, n))):
            assert bytes(found) == CONTENT[start : start + length]


def test_the_first_question_brings_the_beginning(server: Server) -> None:
    file = ranges_of(f"{server.address}/x.gguf")
    run_sync(file.size())
    run_sync(file.read(100, 1000))
    assert server.asked == [("/x.gguf", "bytes=0-65535")]


def test_a_server_that_ignores_ranges(server: Server) -> None:
    server.ranges = False
    with pytest.raises(FetchError, match="ignores ranges"):
        run_sync(ranges_of(f"{server.address}/x.gguf").size())


def test_no_such_file_and_no_server(server: Server) -> None:
    with pytest.raises(FetchError, match="404"):
        run_sync(ranges_of(f"{server.address}/y.gguf").size())
    with pytest.raises(FetchError, match="no answer"):
        run_sync(ranges_of("http://127.0.0.1:1/x.gguf").size())


def test_an_empty_file(server: Server) -> None:
    server.files["/x.gguf"] = b""
    assert run_sync(ranges_of(f"{server.address}/x.gguf").size()) == 0


def test_a_connection_that_is_cut_goes_on(server: Server) -> None:
    file = ranges_of(f"{server.address}/x.gguf")
    run_sync(file.size())
    server.cut = [1000, 5, 30_000]
    assert bytes(run_sync(file.read(70_000, 100_000))) == CONTENT[70_000:170_000]
    assert [wanted for _, wanted in server.asked[1:]] == [
        f"bytes={start}-169999" for start in (70_000, 71_000, 71_005, 101_005)
    ]


def test_a_server_that_sends_nothing_more(server: Server) -> None:
    file = ranges_of(f"{server.address}/x.gguf")
    run_sync(file.size())
    server.cut = [1000, 0]
    with pytest.raises(FetchError, match="ended at byte 71,000 of 170,000"):
        run_sync(file.read(70_000, 100_000))


@pytest.mark.parametrize("by", ["length", "mark"])
def test_a_file_of_a_server_that_changes(by: str, server: Server) -> None:
    server.marks["/x.gguf"] = '"one"'
    file = ranges_of(f"{server.address}/x.gguf")
    run_sync(file.size())
    if by == "mark":
        server.marks["/x.gguf"] = '"other"'
    else:
        server.files["/x.gguf"] = CONTENT[:-1]
    with pytest.raises(FetchError, match="another file"):
        run_sync(file.read(70_000, 1000))


@pytest.mark.parametrize("by", ["length", "time", "name"])
def test_a_file_of_a_folder_that_changes(by: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(CONTENT)
    file = ranges_of(path)
    assert run_sync(file.size()) == len(CONTENT)
    if by == "length":
        os.truncate(path, 10)
    elif by == "time":
        os.utime(path, (1, 1))
    else:
        (tmp_path / "y").write_bytes(CONTENT)
        (tmp_path / "y").replace(path)
    with pytest.raises(FetchError, match="another file"):
        run_sync(file.read(0, 4))


def test_bytes_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(CONTENT)
    with pytest.raises(FetchError, match="are gone"):
        run_sync(ranges_of(path).read(len(CONTENT) - 1, 4))


def test_files_beside_one(tmp_path: Path, server: Server) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "b").write_bytes(b"two")
    server.files |= {"/in/a": b"one", "/in/b": b"two"}
    for file in (ranges_of(tmp_path / "a"), ranges_of(f"{server.address}/in/a")):
        beside = file.beside("b")
        assert (beside.name, bytes(run_sync(beside.read(0, 3)))) == ("b", b"two")
    assert ranges_of("https://host/a?x=1").beside("b").address == "https://host/b?x=1"
    with pytest.raises(OptionError, match="'b'"):
        ranges_of(b"one").beside("b")


class Blob:
    """What JavaScript's has."""

    size = len(CONTENT)
    name = "x.gguf"

    def slice(self, start: int, end: int) -> Any: ...
    def arrayBuffer(self) -> Any: ...


class World:
    """A browser that reads Blobs, or does not."""

    def __init__(self, found: bytes | None) -> None:
        self.found = found

    def asks_blob(self, blob: Any, start: int, length: int) -> Any:
        return self

    def run_sync(self) -> bytes:
        if self.found is None:
            raise FetchError("the browser cannot read it: it has changed")
        return self.found


@pytest.mark.parametrize(
    ("found", "words"), [(None, "x.gguf: the browser"), (b"12", "2 of 3 bytes"), (b"123", "")]
)
def test_a_file_of_the_visitor(
    found: bytes | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tallow.files.ranges.world_here", lambda blocks: World(found))
    file = ranges_of(Blob())
    assert run_sync(file.size()) == len(CONTENT)
    if words:
        with pytest.raises(FetchError, match=words):
            run_sync(file.read(0, 3))
    else:
        assert bytes(run_sync(file.read(0, 3))) == b"123"
    with pytest.raises(OptionError, match="give all files"):
        file.beside("y")
