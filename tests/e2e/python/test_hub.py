"""Models by their names in a tab, from a hub on the page's own server: redirects, ranges, a
connection that breaks, and a hub that is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from tests.conftest import Notebook, watched_page
from tests.unit.hub import tiny
from tests.unit.hub.test_named import COMMIT, sibling

from tallow_build.serving import server as static

NAME = "{owner:str}/{name:str}"


BEGIN = """
import os, js
import tallow as tl
os.environ["HF_ENDPOINT"] = str(js.location.origin) + "/hub"
seen = []
async def text(name, **options):
    seen.clear()
    report = lambda done, total, name: seen.append([done, total, name])
    try:
        model = await tl.zoo.load_async(name, progress=report, **options)
        return await model.generate_async("abc", max_tokens=8)
    except tl.TallowError as error:
        return f"{type(error).__name__}: {error}"
"""


class Hub:
    """Repositories by name; the paths and ranges that were asked for; the names of files whose next
    answer breaks off; whether it answers at all."""

    def __init__(self, repositories: dict[str, dict[str, bytes]]) -> None:
        self.repositories = repositories
        self.asked: list[tuple[str, str | None]] = []
        self.breaking: set[str] = set()
        self.answers = True
        routes = [
            Route(f"/api/models/{NAME}/revision/{{revision}}", self._list),
            Route(f"/{NAME}/resolve/{{revision}}/{{path:path}}", self._redirect),
            Route(f"/cdn/{NAME}/{{path:path}}", self._file),
        ]
        self.mount = Mount("/hub", routes=routes)

    def _of(self, request: Request) -> tuple[str, dict[str, bytes] | None]:
        name = "{owner}/{name}".format(**request.path_params)
        return name, self.repositories.get(name) if self.answers else None

    async def _list(self, request: Request) -> Response:
        name, files = self._of(request)
        if files is None:
            return Response(status_code=404)
        assert request.query_params["blobs"] == "true"
        siblings = [sibling(path, content) for path, content in files.items()]
        return JSONResponse({"id": name, "sha": COMMIT, "siblings": siblings})

    async def _redirect(self, request: Request) -> Response:
        name, files = self._of(request)
        path = request.path_params["path"]
        assert request.path_params["revision"] == COMMIT
        if files is None or path not in files:
            return Response(status_code=404)
        return RedirectResponse(f"/hub/cdn/{name}/{path}?signed=1", 302)

    async def _file(self, request: Request) -> Response:
        name, files = self._of(request)
        assert files is not None
        path, wanted = request.path_params["path"], request.headers.get("range")
        self.asked.append((f"{name}/{path}", wanted))
        start = int((wanted or "bytes=0-")[6:].partition("-")[0])
        rest = files[path][start:]
        headers = {"Content-Length": str(len(rest)), "Accept-Ranges": "bytes"}
        if wanted:
            end = len(files[path]) - 1
            headers["Content-Range"] = f"bytes {start}-{end}/{len(files[path])}"
        breaks = path in self.breaking
        self.breaking.discard(path)

        async def body() -> AsyncIterator[bytes]:
            yield rest[: len(rest) // 2]
            if breaks:
                raise ConnectionResetError("as a network does")
            yield rest[len(rest) // 2 :]

        return StreamingResponse(body(), 206 if wanted else 200, headers)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Hub:
    made = tiny.folder(tmp_path_factory.mktemp("hub") / "tiny")
    return Hub(
        {
            "tiny/model": {each.name: each.read_bytes() for each in made.iterdir()}
            | {"README.md": b"about", "pytorch_model.bin": b"not this one"},
            "tiny/several": {"a.gguf": tiny.gguf_file(), "b.gguf": tiny.gguf_file()},
        }
    )


@pytest.fixture(scope="module")
def python(browser: Browser, dist: Path, hub: Hub) -> Iterator[Notebook]:
    with (
        static.running(dist, also=[hub.mount]) as address,
        contextmanager(watched_page)(browser, address) as (page, _),
    ):
        found = Notebook(page, address, "wasm")
        found.run(BEGIN)
        yield found


def test_a_name_is_a_model_that_is_kept(python: Notebook, hub: Hub) -> None:
    hub.breaking.add("model.safetensors")
    text, seen = python.run('[await text("tiny/model"), seen]')
    assert "Error" not in text
    weights = len(hub.repositories["tiny/model"]["model.safetensors"])
    asked = [wanted for path, wanted in hub.asked if path.endswith("model.safetensors")]
    assert asked[0] is None and len(asked) == 2
    assert int(str(asked[1]).removeprefix("bytes=").partition("-")[0]) > 0
    names = {path.rpartition("/")[2] for path, _ in hub.asked}
    assert {"config.json", "tokenizer.json"} < names
    assert names.isdisjoint({"README.md", "pytorch_model.bin"})
    assert seen[-1][0] == seen[-1][1] > weights

    hub.asked.clear()
    hub.answers = False
    try:
        assert python.run('await text("tiny/model")') == text
    finally:
        hub.answers = True
    assert not hub.asked


def test_a_file_of_several_is_chosen(python: Notebook, hub: Hub) -> None:
    said = python.run('await text("tiny/several")')
    assert said.endswith("has several GGUF files; choose by file=: a.gguf, b.gguf")
    text = python.run('await text("tiny/several", file="b.gguf")')
    assert "Error" not in text
    assert [path for path, _ in hub.asked if path.startswith("tiny/several")] == [
        "tiny/several/b.gguf"
    ]
    kept, kind = python.run("""
found = await tl.hub.download_async("tiny/several", "b.gguf")
[list(found), type(found["b.gguf"]).__name__]
""")
    assert (kept, kind) == (["b.gguf"], "Kept")


def test_what_the_hub_does_not_have(python: Notebook) -> None:
    said = python.run('await text("tiny/unknown")')
    assert said.startswith("FetchError: tiny/unknown could not be fetched from the hub")
    said = python.run('await text("tiny/several", token="x")')
    assert said == "OptionError: a page sends no token: it reads public models only"
