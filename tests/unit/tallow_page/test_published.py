"""Published models for the views: fetched step by step, kept, and opened."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.files.serving import Server, running
from tests.unit.hub import tiny

from tallow.core.drivers import InThread
from tallow.errors import ChecksumError, FetchError
from tallow.files.desktop import Desktop
from tallow.generation import LanguageModel
from tallow_page.published import opened


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    monkeypatch.setenv("TALLOW_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TALLOW_MIRROR", raising=False)
    with running() as served:
        yield served


async def steps_of(source: Any, **options: Any) -> list[Any]:
    return [step async for step in opened(source, **options)]


def listed(server: Server, files: dict[str, bytes]) -> dict[str, Any]:
    """Files of the site as web/site/published.js gives them."""
    server.files |= {f"/{name}": content for name, content in files.items()}
    return {
        "files": [
            {
                "name": name,
                "url": f"{server.address}/{name}",
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
            for name, content in files.items()
        ]
    }


@pytest.fixture
def folder(tmp_path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in tiny.folder(tmp_path / "tiny").iterdir()}


def test_a_model_of_several_files_arrives_and_is_kept(
    server: Server, folder: dict[str, bytes], run_async: Callable[..., Any]
) -> None:
    source = listed(server, folder)
    total = sum(map(len, folder.values()))
    *reports, model = run_async(steps_of(source))
    assert isinstance(model, LanguageModel)
    assert {each["stage"] for each in reports} == {"fetch"}
    assert {each["total"] for each in reports} == {total}
    assert {each["file"] for each in reports} <= set(folder)
    done = [each["done"] for each in reports]
    assert done == sorted(done) and done[-1] == total
    text = model.generate("abc", max_tokens=8)

    server.files.clear()
    server.asked.clear()
    (again,) = run_async(steps_of(source))
    assert not server.asked
    assert again.generate("abc", max_tokens=8) == text


class Blob:
    """What the page hands over: a file that is read by ranges."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.size, self._content = name, len(content), content

    def slice(self, start: int, end: int) -> bytes:
        return self._content[start:end]

    def arrayBuffer(self) -> None:
        """Says that it is a Blob."""


def test_files_of_the_visitor_and_options(
    monkeypatch: pytest.MonkeyPatch, run_async: Callable[..., Any]
) -> None:
    def asks(self: Desktop, blob: Blob, start: int, length: int) -> InThread:
        return InThread(blob.slice, start, start + length)

    monkeypatch.setattr(Desktop, "asks_blob", asks, raising=False)
    blobs = [Blob("tiny.gguf", tiny.gguf_file())]
    (model,) = run_async(steps_of({"blobs": blobs}, slots=2))
    assert model.writer.cache.slots == 2


def test_a_model_that_changed_on_the_site_is_fetched_again(
    server: Server, run_async: Callable[..., Any]
) -> None:
    first = listed(server, {"a.gguf": tiny.gguf_file()})
    run_async(steps_of(first))
    second = listed(server, {"a.gguf": tiny.gguf_file(**{"general.name": "newer"})})
    server.asked.clear()
    run_async(steps_of(second))
    assert [path for path, _ in server.asked] == ["/a.gguf"]


def test_a_wrong_file_and_a_missing_one(server: Server, run_async: Callable[..., Any]) -> None:
    source = listed(server, {"a.gguf": tiny.gguf_file()})
    server.files["/a.gguf"] = b"another"
    with pytest.raises(ChecksumError, match=r"a\.gguf"):
        run_async(steps_of(source))
    server.files.clear()
    with pytest.raises(FetchError, match="404"):
        run_async(steps_of(source))


def test_one_that_is_stopped_goes_on_later(server: Server, run_async: Callable[..., Any]) -> None:
    content = tiny.gguf_file() + bytes(1 << 22)
    source = listed(server, {"a.gguf": content})

    async def stopped() -> int:
        steps = opened(source)
        first = await anext(steps)
        await steps.aclose()
        return int(first["done"])

    server.cut = [1 << 20, *([0] * 9)]
    assert 0 < run_async(stopped()) <= 1 << 20
    server.cut = []
    server.asked.clear()
    *_, model = run_async(steps_of(source))
    assert isinstance(model, LanguageModel)
    assert (server.asked[0][1] or "").startswith("bytes=")
