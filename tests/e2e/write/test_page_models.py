"""The models of the Write view by name: of the site, of the hub; what is said before a download."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.e2e.conftest import Holding, worker_of
from tests.e2e.write.talking import PATIENCE, asked, options

HUB = "https://huggingface.co"
COMMIT = 40 * "c"
FILE = "**/models/published/tiny/tiny.gguf"


def serve(page: Page, content: bytes) -> None:
    """The site has two models, of which the first is there."""
    listed = [
        {
            "name": name,
            "title": title,
            "task": "write",
            "memory": memory,
            "licence": "MIT",
            "files": [
                {
                    "file": f"{name}.gguf",
                    "bytes": size,
                    "sha256": hashlib.sha256(content).hexdigest(),
                }
            ],
        }
        for name, title, memory, size in (
            ("tiny", "Tiny one", 123_000_000, len(content)),
            ("gone", "Another", 2_000_000, 5_000_000),
        )
    ]
    page.route("**/models/published.json", lambda route: route.fulfill(json=listed))
    page.route(FILE, lambda route: route.fulfill(body=content))


@pytest.fixture
def named(visitor: Any, given: dict[str, Any]) -> Any:
    """A visitor of a site with two models, who looks at the Write view."""
    serve(visitor.page, given["buffer"])
    visitor.open("./?device=wasm#write")
    expect(visitor.hook("write-model-info")).to_have_attribute(
        "data-state", "chosen", timeout=PATIENCE
    )
    return visitor


def loaded(visitor: Any) -> None:
    expect(visitor.hook("write-model-info")).to_have_attribute(
        "data-state", "loaded", timeout=PATIENCE
    )


def test_a_model_is_chosen_by_name_says_what_it_needs_before_it_is_fetched_and_is_kept(
    named: Any,
) -> None:
    hook, page = named.hook, named.page
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    labels = hook("write-model").locator("option").all_text_contents()
    assert labels == ["Tiny one", "Another", "From the Hugging Face hub…", "A GGUF file…"]
    expect(hook("write-model-info")).to_contain_text(re.compile(r"^Tiny one: a download of \d"))
    expect(hook("write-model-info")).to_contain_text("about 123.0 MB of memory")
    hook("write-model").select_option("gone")
    expect(hook("write-model-info")).to_contain_text("Another: a download of 5.0 MB")
    expect(hook("write-model-frame")).to_be_hidden()
    assert not [url for url in requests if ".gguf" in url]

    hook("write-load").click()
    expect(hook("write-model-info")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(hook("write-model-info")).to_contain_text("404")
    expect(hook("write-load")).to_have_text("Try again")

    hook("write-model").select_option("tiny")
    hook("write-load").click()
    loaded(named)
    expect(hook("write-load")).to_be_hidden()
    expect(hook("write-model-progress")).to_be_hidden()
    options(hook, most=4)
    assert asked(hook, "Hello")

    # Another visit knows the choice, loads nothing by itself, and needs no network.
    hook("write-model").select_option("gone")
    page.unroute(FILE)
    page.route(FILE, lambda route: route.abort())
    requests.clear()
    page.reload()
    named.wait()
    expect(hook("write-model")).to_have_value("gone", timeout=PATIENCE)
    expect(hook("write-model-info")).to_have_attribute("data-state", "chosen")
    assert not [url for url in requests if ".gguf" in url]
    hook("write-model").select_option("tiny")
    hook("write-load").click()
    loaded(named)


def test_a_download_is_cancelled_and_goes_on_with_a_message_that_waits_for_it(named: Any) -> None:
    hook, page = named.hook, named.page
    held = Holding(page, FILE)
    with page.expect_request(FILE):
        hook("write-load").click()
    hook("write-cancel").click()
    expect(hook("write-model-info")).to_have_attribute("data-state", "chosen")
    expect(hook("write-model-info")).to_contain_text("Cancelled")
    expect(hook("write-cancel")).to_be_hidden()
    page.unroute(FILE, held._handle)
    held.release()
    options(hook, most=4)
    assert asked(hook, "Hello")
    loaded(named)


# The memory ends in the middle of a piece that arrives, until it is given back.
NO_MORE = """() => {
  const { write } = FileSystemSyncAccessHandle.prototype;
  FileSystemSyncAccessHandle.prototype.write = function (piece, options) {
    write.call(this, piece.subarray(0, piece.length >> 1), options);
    throw new RangeError("Array buffer allocation failed");
  };
  globalThis.giveBack = () => { FileSystemSyncAccessHandle.prototype.write = write; };
}"""


def test_memory_that_ends_in_the_middle_of_a_download(visitor: Any, given: dict[str, Any]) -> None:
    content = given["buffer"]
    serve(visitor.page, content)
    starts: list[int] = []

    def give(route: Route) -> None:
        wanted = route.request.headers.get("range", "bytes=0-")
        starts.append(int(wanted[6:].partition("-")[0]))
        whole = f"bytes {starts[-1]}-{len(content) - 1}/{len(content)}"
        headers = {"Content-Range": whole} if starts[-1] else {}
        rest = content[starts[-1] :]
        route.fulfill(status=206 if starts[-1] else 200, headers=headers, body=rest)

    visitor.page.unroute(FILE)
    visitor.page.route(FILE, give)
    visitor.open("./?device=wasm#write")
    hook = visitor.hook
    expect(hook("write-model-info")).to_have_attribute("data-state", "chosen", timeout=PATIENCE)
    worker = worker_of(visitor.page)
    worker.evaluate(NO_MORE)
    hook("write-load").click()
    expect(hook("write-model-info")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    said = hook("write-model-info").text_content()
    assert "ran out of memory" in said and len(said.splitlines()) == 1
    worker.evaluate("giveBack()")
    hook("write-load").click()
    loaded(visitor)
    assert starts[0] == 0 and starts[-1] > 0  # what had arrived was not lost
    options(hook, most=4)
    assert asked(hook, "Hello")


def test_a_list_that_is_missing_is_said(visitor: Any, given: dict[str, Any]) -> None:
    visitor.page.route("**/models/published.json", lambda route: route.fulfill(status=404))
    visitor.open("./?device=wasm#write")
    hook = visitor.hook
    expect(hook("write-model-list")).to_contain_text("list of this site’s models", timeout=PATIENCE)
    hook("write-file").set_input_files(given)
    hook("write-load").click()
    loaded(visitor)


def at_hub(page: Page, content: bytes) -> None:
    """A hub with one model, in two files of blocks."""
    sha256 = hashlib.sha256(content).hexdigest()
    files = [
        {"rfilename": "README.md", "size": 10},
        {"rfilename": "big.gguf", "size": 9_000_000_000, "lfs": {"sha256": 64 * "0"}},
        {"rfilename": "a b/small.gguf", "size": len(content), "lfs": {"sha256": sha256}},
        {"rfilename": "mmproj-big.gguf", "size": 9, "lfs": {"sha256": 64 * "0"}},
    ]
    cross = {"access-control-allow-origin": "*"}

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(HUB)
        if path.startswith("/api/models/some/model/revision/main?blobs=true"):
            route.fulfill(body=json.dumps({"sha": COMMIT, "siblings": files}), headers=cross)
        elif path.startswith("/api/models/other/model/"):
            route.fulfill(body="{}", headers=cross)
        elif path.startswith("/api/models/busy/model/"):
            route.fulfill(status=503, headers=cross)
        elif path.startswith("/api/models/away/model/"):
            route.abort()
        elif path == f"/some/model/resolve/{COMMIT}/a%20b/small.gguf":
            route.fulfill(body=content, headers=cross)
        else:
            route.fulfill(status=401, headers=cross)

    page.route(f"{HUB}/**", answer)


def test_a_model_of_the_hub(named: Any, given: dict[str, Any], watch: Any) -> None:
    hook, page = named.hook, named.page
    at_hub(page, given["buffer"])
    hook("write-model").select_option(label="From the Hugging Face hub…")
    expect(hook("write-model-info")).to_have_attribute("data-state", "none")
    for typed, said in (
        ("model", "owner/name"),
        ("../model", "owner/name"),
        ("a/b/c", "owner/name"),
        ("https://elsewhere.org/a/b", "owner/name"),
        ("no/model", "no public model no/model"),
        ("other/model", "has no GGUF files"),
        ("busy/model", "answered 503"),
        ("away/model", "can’t be reached"),
    ):
        hook("write-hub").fill(typed)
        hook("write-hub-find").click()
        expect(hook("write-model-info")).to_contain_text(said)
        expect(hook("write-model-info")).to_have_attribute("data-state", "failed")
        expect(hook("write-hub-file")).to_be_hidden()
        expect(hook("write-load")).to_be_hidden()

    hook("write-hub").fill("https://huggingface.co/some/model/tree/main")
    hook("write-hub-find").click()
    files = hook("write-hub-file").locator("option")
    expect(files).to_have_count(2)
    assert [text.split(",")[0] for text in files.all_text_contents()] == [
        "a b/small.gguf",
        "big.gguf",
    ]
    hook("write-hub-file").select_option(index=1)
    expect(hook("write-model-info")).to_contain_text("big.gguf: a download of 9000.0 MB")
    hook("write-hub-file").select_option(index=0)
    hook("write-load").click()
    loaded(named)
    options(hook, most=4)
    assert asked(hook, "Hello")

    # Another visit needs the hub for nothing.
    page.unroute(f"{HUB}/**")
    page.route(f"{HUB}/**", lambda route: route.abort())
    page.reload()
    named.wait()
    expect(hook("write-hub-file").locator("option")).to_have_count(2, timeout=PATIENCE)
    hook("write-load").click()
    loaded(named)
    assert all(url.startswith(f"{HUB}/") for url in watch.foreign)
    watch.foreign.clear()
