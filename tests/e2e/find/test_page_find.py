"""The Find view: files that are read, cut and embedded, an index that stays, and questions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.conftest import watched_page
from tests.e2e.conftest import Visitor
from tests.e2e.find.files import given, pdf
from tests.unit.hub import tiny_sentences

PATIENCE = 120_000

TEXT = "the cat is late. The train is in the rain.\n\n" + "bread and a dog. " * 50
COUNT = 7  # of its passages


def opened(visitor: Any, device: str = "wasm", width: int = tiny_sentences.WIDTH) -> Any:
    """The view with the visitor's own, tiny model; returns what finds a hook of the view."""
    visitor.open(f"./?device={device}#find")
    hook = visitor.hook
    choose_model(hook, width)
    return hook


def choose_model(hook: Callable[[str], Any], width: int = tiny_sentences.WIDTH) -> None:
    expect(hook("find-model").locator("option")).to_have_count(3, timeout=PATIENCE)
    hook("find-model").select_option(label="Files of your own…")
    files = [given(name, content) for name, content in tiny_sentences.files(width).items()]
    hook("find-model-files").set_input_files(files)


def ready(hook: Callable[[str], Any], passages: int) -> None:
    expect(hook("find-status")).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    expect(hook("find-status")).to_have_attribute("data-value", str(passages))


def asked(hook: Callable[[str], Any], question: str) -> list[Any]:
    """The passages that a question finds, the nearest first."""
    hook("find-query").fill(question)
    hook("find-query").press("Enter")
    results = hook("find-results")
    expect(results).to_have_attribute("data-question", question, timeout=PATIENCE)
    expect(results).to_have_attribute("aria-busy", "false", timeout=PATIENCE)
    return results.locator("li").all()


@pytest.fixture(scope="module")
def finder_page(browser: Browser, server: str) -> Iterator[Visitor]:
    """A visitor on WebAssembly with the tiny model."""
    for page, _ in watched_page(browser, server):
        visitor = Visitor(page)
        opened(visitor)
        yield visitor


@pytest.fixture
def finder(finder_page: Visitor) -> Visitor:
    """That visitor, without any texts."""
    hook = finder_page.hook
    if hook("find-clear").is_visible():
        hook("find-clear").click()
    expect(hook("find-status")).to_have_attribute("data-state", "none", timeout=PATIENCE)
    choose_model(hook)
    return finder_page


@pytest.mark.parametrize("device", ["wasm", "webgpu", "numpy"])
def test_the_nearest_passage_is_found_with_its_sentence(visitor: Any, device: str) -> None:
    hook = opened(visitor, device)
    expect(hook("find-status")).to_have_attribute("data-state", "none")
    expect(hook("find-go")).to_be_disabled()
    hook("find-files").set_input_files([given("a.txt", TEXT), given("b.md", "# late\n\na dog")])
    ready(hook, COUNT + 1)
    expect(visitor.device).to_have_attribute("data-device", device)
    expect(hook("find-list").locator("li")).to_have_count(2)

    found = asked(hook, "The train is in the rain.")
    assert len(found) == COUNT + 1
    scores = [float(item.get_attribute("data-score")) for item in found]
    assert scores == sorted(scores, reverse=True) and max(scores) <= 1.00001
    assert found[0].get_attribute("data-source") == "a.txt"
    expect(found[0].locator("mark")).to_have_text("The train is in the rain.")
    assert float(visitor.latency.text_content().split()[0]) > 0


def test_an_index_stays_and_is_made_again_for_another_model(visitor: Any) -> None:
    hook = opened(visitor)
    hook("find-files").set_input_files(given("a.txt", TEXT))
    ready(hook, COUNT)
    first = [item.text_content() for item in asked(hook, "late rain")]

    visitor.page.reload()
    visitor.wait()
    ready(hook, COUNT)
    expect(hook("find-list").locator("li")).to_have_attribute("data-source", "a.txt")
    choose_model(hook)
    assert [item.text_content() for item in asked(hook, "late rain")] == first

    visitor.page.reload()
    visitor.wait()
    choose_model(hook, 64)
    hook("find-load").click()
    expect(visitor.page.locator("#view-find .message")).to_contain_text(
        f"{COUNT} passages are indexed again", timeout=PATIENCE
    )
    ready(hook, COUNT)
    assert len(asked(hook, "late rain")) == COUNT


def test_the_model_is_opened_while_the_first_question_is_typed(visitor: Any) -> None:
    hook = opened(visitor)
    info = hook("find-model-info")
    hook("find-query").focus()  # there is nothing to find
    expect(info).to_have_attribute("data-state", "chosen")
    hook("find-files").set_input_files(given("a.txt", TEXT))
    ready(hook, COUNT)

    visitor.page.reload()
    visitor.wait()
    ready(hook, COUNT)
    choose_model(hook)
    expect(info).to_have_attribute("data-state", "chosen")
    hook("find-query").focus()
    expect(info).to_have_attribute("data-state", "loaded", timeout=PATIENCE)
    ready(hook, COUNT)

    # Who cancels a download types on without it.
    visitor.page.route("**/model.safetensors", lambda route: None)
    hook("find-model").select_option(index=0)
    hook("find-query").press_sequentially("l")
    expect(info).not_to_have_attribute("data-state", "chosen")
    hook("find-cancel").click()
    expect(info).to_have_attribute("data-state", "chosen", timeout=PATIENCE)
    hook("find-query").press_sequentially("ate")
    expect(info).to_have_attribute("data-state", "chosen")
    ready(hook, COUNT)


STORE = """async (change) => {
  const name = (await indexedDB.databases()).find(({ name }) => name.startsWith("tallow:find:"));
  const resolved = (request) =>
    new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const database = await resolved(indexedDB.open(name.name));
  const transaction = database.transaction(["files", "vectors"], "readwrite");
  const files = transaction.objectStore("files"), vectors = transaction.objectStore("vectors");
  const pieces = await resolved(vectors.getAll());
  if (change === "passages")
    for (const file of await resolved(files.getAll())) {
      file.passages[5] ^= 1;
      files.put(file);
    }
  else if (change === "vectors")
    for (const piece of pieces) {
      piece.vectors[5] ^= 1;
      vectors.put(piece);
    }
  else if (change === "gap") vectors.delete([pieces[1].name, pieces[1].at]);
  else vectors.put({ ...pieces[1], key: "of another text" });
  await new Promise((resolve) => { transaction.oncomplete = resolve; });
  database.close();
}"""


@pytest.mark.parametrize(("part", "left"), [("vectors", COUNT), ("passages", 0)])
def test_a_damaged_index_is_said_and_made_again(visitor: Any, part: str, left: int) -> None:
    hook = opened(visitor)
    hook("find-files").set_input_files(given("a.txt", TEXT))
    ready(hook, COUNT)
    visitor.page.evaluate(STORE, part)
    visitor.page.reload()
    visitor.wait()
    message = visitor.page.locator("#view-find .message")
    expect(message).to_contain_text("1 text is damaged", timeout=PATIENCE)
    choose_model(hook)
    if left:
        expect(hook("find-status")).to_have_attribute("data-value", "0")
        hook("find-continue").click()
        ready(hook, left)
        assert len(asked(hook, "late rain")) == left
    else:
        expect(hook("find-status")).to_have_attribute("data-state", "none")


# ---- a large text ------------------------------------------------------------------------------

PIECE = 32
"""Vectors that web/views/find/worker.js keeps together."""

NUMBERED = "\n\n".join(f"{n} dogs, {n % 7} cats and bread in the rain. " * 3 for n in range(1000))

# Counts what is written. After `most` pieces the tab is as if it were closed in the middle of a
# write: that one is undone, and no other one begins.
WRITTEN = """(most) => {
  globalThis.written = { passages: 0, vectors: 0, pieces: 0 };
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function (record) {
    if (written.pieces >= most) {
      const request = put.call(this, record);
      this.transaction.abort();
      return request;
    }
    written.passages += record.passages?.length ?? 0;
    written.vectors += record.vectors?.length ?? 0;
    if (record.vectors) written.pieces += 1;
    return put.call(this, record);
  };
}"""


def worker_of(visitor: Any) -> Any:
    return next(each for each in visitor.page.workers if "/worker/main" in each.url)


def count_of(hook: Callable[[str], Any]) -> int:
    """Passages that can be found, once all of them can be."""
    expect(hook("find-status")).to_have_text(re.compile("of 1 text can"), timeout=PATIENCE)
    return int(hook("find-status").get_attribute("data-value"))


def test_what_a_text_adds_to_the_index_is_written_once(visitor: Any) -> None:
    hook = opened(visitor)
    worker = worker_of(visitor)
    worker.evaluate(WRITTEN, 1_000_000)
    sizes = []
    for part in (4, 2, 1):
        hook("find-files").set_input_files(given(f"{part}.txt", NUMBERED[: len(NUMBERED) // part]))
        count = count_of(hook)
        written = worker.evaluate("written")
        assert written["vectors"] == count * tiny_sentences.WIDTH * 2  # of 16 bits each
        assert 1 < written["pieces"] <= count / PIECE + 2
        sizes.append(written["passages"] + written["vectors"])
        hook("find-clear").click()
        expect(hook("find-status")).to_have_attribute("data-state", "none")
        worker.evaluate("Object.assign(written, { passages: 0, vectors: 0, pieces: 0 })")
    assert sizes[1] == pytest.approx(2 * sizes[0], rel=0.1)
    assert sizes[2] == pytest.approx(4 * sizes[0], rel=0.1)


def test_an_index_goes_on_after_a_tab_that_was_closed_in_the_middle_of_a_write(
    visitor: Any,
) -> None:
    hook = opened(visitor)
    worker_of(visitor).evaluate(WRITTEN, 2)
    hook("find-files").set_input_files(given("a.txt", NUMBERED))
    total = count_of(hook)
    message = visitor.page.locator("#view-find .message")
    expect(message).to_contain_text("keeps no index")
    found = [item.text_content() for item in asked(hook, "17 dogs")]

    visitor.page.reload()
    visitor.wait()
    expect(hook("find-status")).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    kept = int(hook("find-status").get_attribute("data-value"))
    assert 2 * PIECE <= kept < total and message.inner_text().strip() == ""
    choose_model(hook)
    hook("find-continue").click()
    assert count_of(hook) == total
    assert [item.text_content() for item in asked(hook, "17 dogs")] == found

    # What does not continue the pieces before it is left out.
    for change in ("gap", "key"):
        visitor.page.evaluate(STORE, change)
        visitor.page.reload()
        visitor.wait()
        expect(message).to_contain_text("1 text is damaged", timeout=PATIENCE)
        value = int(hook("find-status").get_attribute("data-value"))
        assert 0 < value < kept
        choose_model(hook)
        hook("find-continue").click()
        assert count_of(hook) == total
        assert [item.text_content() for item in asked(hook, "17 dogs")] == found


def test_pages_of_a_pdf_file(finder: Visitor) -> None:
    hook = finder.hook
    file = pdf([["the cat is late."], [], ["bread and a", "dog in the rain."]])
    hook("find-files").set_input_files(given("a.pdf", file))
    ready(hook, 2)
    found = asked(hook, "a dog in the rain")
    pages = {item.get_attribute("data-page"): item for item in found}
    assert pages.keys() == {"1", "3"}
    expect(pages["3"]).to_contain_text("bread and a\ndog in the rain.")
    expect(pages["3"].locator("header")).to_contain_text("page 3")


UNREADABLE = [
    ("empty.txt", b"", "empty.txt: has no text"),
    ("picture.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "picture.txt: is no text"),
    ("empty.html", b"<script>alert(1)</script>", "empty.html: has no text"),
    ("damaged.pdf", b"%PDF-1.4\nnothing", "damaged.pdf: it is no PDF file"),
    ("none.pdf", b"", "none.pdf: it is no PDF file"),
    ("scan.pdf", pdf([[], []]), "scan.pdf: its pages have no text"),
    ("locked.pdf", pdf([["a"]], encrypted=True), "locked.pdf: a password protects it"),
]


def test_files_that_can_not_be_read(finder: Visitor) -> None:
    hook = finder.hook
    hook("find-files").set_input_files(given("a.txt", "a dog"))
    ready(hook, 1)
    for name, content, message in UNREADABLE:
        # The text is given again, since files that are chosen together do not spoil each other,
        # and the last one does not hide what became of those before.
        hook("find-files").set_input_files([given(name, content), given("a.txt", "a dog")])
        expect(hook("find-status")).to_have_text(
            re.compile(f"^{re.escape(message)}"), timeout=PATIENCE
        )
        expect(hook("find-status")).to_have_attribute("data-state", "failed")
        expect(hook("find-status")).to_have_attribute("data-value", "1")
        assert len(asked(hook, f"cat or {name}")) == 1  # the others can be found
        finder.page.get_by_role("button", name=f"Remove {name}").click()
        ready(hook, 1)


def test_a_page_of_html_runs_nothing_and_fetches_nothing(finder: Visitor) -> None:
    hook = finder.hook
    requests: list[str] = []
    finder.page.on("request", lambda request: requests.append(request.url))
    page = """<p>the cat<script>window.ran = true; document.title = "run"</script>
      <img src="https://example.org/x.png" onerror="window.ran = true"><p>a dog</p>"""
    hook("find-files").set_input_files(given("a.html", page))
    ready(hook, 1)
    (item,) = asked(hook, "dog")
    assert item.locator("p").text_content().split() == ["the", "cat", "a", "dog"]
    assert finder.page.evaluate("window.ran") is None
    assert not [url for url in requests if "example.org" in url]


# The lines that an element's text takes.
LINES = """(element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
}"""


def test_a_long_name_breaks_neither_scores_nor_the_button_on_a_narrow_page(finder: Visitor) -> None:
    hook, page = finder.hook, finder.page
    usual = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 800})
    hook("language-select").select_option("zh")
    hook("find-files").set_input_files(given(f"{'long-name-' * 12}.txt", "a dog"))
    ready(hook, 1)
    (item,) = asked(hook, "dog")
    assert item.locator("header b").evaluate(LINES) > 1
    for single in (item.locator(".score"), hook("find-go")):
        assert single.evaluate(LINES) == 1, single.text_content()
    hook("language-select").select_option("en")
    page.set_viewport_size(usual)


def test_texts_are_pasted_replaced_removed_and_cleared(finder: Visitor) -> None:
    hook = finder.hook
    finder.page.get_by_text("Paste a text").click()
    expect(hook("find-add")).to_be_disabled()
    for _ in range(2):  # the same text is there once
        hook("find-text").fill("the cat \ud83d is in the rain")
        hook("find-add").click()
        ready(hook, 1)
    hook("find-files").set_input_files(given("a.txt", "a dog"))
    ready(hook, 2)
    hook("find-files").set_input_files(given("a.txt", TEXT))
    ready(hook, COUNT + 1)
    finder.page.get_by_role("button", name="Remove a.txt").click()
    ready(hook, 1)
    (item,) = asked(hook, "cat")
    assert "the cat \ufffd is in the rain" in item.text_content()
    hook("find-clear").click()
    expect(hook("find-status")).to_have_attribute("data-state", "none")
    finder.page.reload()
    finder.wait()
    expect(hook("find-status")).to_have_attribute("data-state", "none", timeout=PATIENCE)


def test_questions_are_answered_while_a_large_text_is_indexed_which_can_be_stopped(
    visitor: Any,
) -> None:
    hook = opened(visitor)
    hook("find-files").set_input_files(given("large.txt", "bread and a dog in the rain. " * 20_000))
    status = hook("find-status")
    expect(status).to_contain_text("You can ask already", timeout=PATIENCE)
    assert 1 <= len(asked(hook, "a dog")) <= 10  # of the passages that have vectors by now
    assert status.get_attribute("data-state") == "indexing"
    hook("find-stop").click()
    expect(status).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    done = int(status.get_attribute("data-value"))
    assert done > 0
    expect(status).to_contain_text("can be found")

    visitor.page.reload()  # what was embedded was kept
    visitor.wait()
    expect(status).to_have_attribute("data-value", str(done), timeout=PATIENCE)
    choose_model(hook)
    assert 1 <= len(asked(hook, "a dog")) <= 10
    expect(status).to_have_attribute("data-state", "indexing", timeout=PATIENCE)
    assert int(status.get_attribute("data-value")) >= done


def test_a_model_that_is_none(visitor: Any) -> None:
    visitor.open("./?device=wasm#find")
    hook = visitor.hook
    expect(hook("find-model").locator("option")).to_have_count(3, timeout=PATIENCE)
    expect(hook("find-model-info")).to_contain_text("of memory")
    hook("find-model").select_option(label="Files of your own…")
    hook("find-files").set_input_files(given("a.txt", "a dog"))
    expect(hook("find-status")).to_contain_text("wait for a model")
    hook("find-model-files").set_input_files(given("config.json", "{}"))
    expect(hook("find-status")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(hook("find-status")).to_contain_text("config.json can’t be used")
    expect(hook("find-model-info")).to_have_text(hook("find-status").inner_text())
    choose_model(hook)  # the text has waited
    ready(hook, 1)


HUB = "https://huggingface.co"
COMMIT = 40 * "c"


def test_a_model_of_the_hub(visitor: Any, watch: Any) -> None:
    files = tiny_sentences.files(tiny_sentences.WIDTH)
    cross = {"access-control-allow-origin": "*"}

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(HUB)
        siblings = [{"rfilename": name, "size": len(each)} for name, each in files.items()]
        if path.startswith("/api/models/other/model/"):
            siblings = [{"rfilename": "model.gguf", "size": 5}]
        if path.startswith("/api/"):
            listed = {"sha": COMMIT, "siblings": [*siblings, {"rfilename": "a.md", "size": 9}]}
            route.fulfill(body=json.dumps(listed), headers=cross)
        else:
            name = path.removeprefix(f"/some/model/resolve/{COMMIT}/")
            route.fulfill(body=files[name], headers=cross)

    visitor.page.route(f"{HUB}/**", answer)
    visitor.open("./?device=wasm#find")
    hook = visitor.hook
    expect(hook("find-model").locator("option")).to_have_count(3, timeout=PATIENCE)
    hook("find-model").select_option(label="From the Hugging Face hub…")
    hook("find-hub").fill("other/model")
    hook("find-hub-find").click()
    expect(hook("find-model-info")).to_contain_text("has no config.json with safetensors")
    hook("find-hub").fill("some/model")
    hook("find-hub-find").click()
    expect(hook("find-hub-file").locator("option")).to_have_count(1)
    size = sum(map(len, files.values())) / 1000
    expect(hook("find-model-info")).to_contain_text(f"some/model: a download of {size:.1f} kB")
    hook("find-files").set_input_files(given("a.txt", TEXT))
    ready(hook, COUNT)
    expect(hook("find-model-info")).to_have_text("some/model is loaded.")
    assert len(asked(hook, "late rain")) == COUNT
    assert all(url.startswith(f"{HUB}/") for url in watch.foreign)
    watch.foreign.clear()


def test_without_storage_the_index_lasts_as_long_as_the_tab(visitor: Any) -> None:
    hook = opened(visitor)
    worker_of(visitor).evaluate("""() => {
      const full = () => { throw new DOMException("full", "QuotaExceededError"); };
      IDBObjectStore.prototype.put = full;
    }""")
    hook("find-files").set_input_files(given("a.txt", TEXT))
    ready(hook, COUNT)
    expect(visitor.page.locator("#view-find .message")).to_contain_text("its storage is full")
    assert len(asked(hook, "late rain")) == COUNT


def test_the_view_is_fetched_when_it_is_opened_and_pdf_js_with_the_first_pdf(visitor: Any) -> None:
    asked_for: list[str] = []
    visitor.page.on("request", lambda request: asked_for.append(request.url))
    visitor.open("./?device=wasm")
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert not [url for url in asked_for if "find" in url or "pdf" in url]
    visitor.page.locator("#to-find").click()
    expect(visitor.page.locator("#view-find h1")).to_have_text("Find by meaning")
    assert len([url for url in asked_for if "views/find-" in url]) == 1
    assert not [url for url in asked_for if "pdf" in url]
    visitor.hook("language-select").select_option("zh")
    expect(visitor.page.locator("#view-find h1")).to_have_text("按意思查找")
    expect(visitor.hook("find-status")).to_have_text("还没有文档。", timeout=PATIENCE)


FACTS = [
    "Bread rises because yeast turns sugar into gas, which the dough holds.",
    "The Moon goes around the Earth in a little more than twenty-seven days.",
    "Trains between the two cities leave every hour from the northern platform.",
    "A violin has four strings, which are tuned in fifths.",
    "Tomatoes need sun, water and a pole to which they are tied.",
    "The library lends books for four weeks; late returns cost one coin a day.",
    "Glaciers move slowly downhill and carry stones with them.",
    "Cats purr when they are content, and sometimes when they are hurt.",
]


def test_the_model_of_the_site_finds_what_is_meant(visitor: Any) -> None:
    visitor.open("./?device=wasm#find")
    hook = visitor.hook
    expect(hook("find-model-info")).to_contain_text("a download of 45.9 MB", timeout=PATIENCE)
    expect(hook("find-model-info")).to_contain_text("of memory")
    hook("find-files").set_input_files([given(f"{n}.txt", fact) for n, fact in enumerate(FACTS)])
    ready(hook, len(FACTS))
    for question, right in (
        ("How long may I keep what I have borrowed?", "5.txt"),
        ("Why does a loaf get bigger?", "0.txt"),
        ("musical instrument", "3.txt"),
    ):
        found = asked(hook, question)
        assert found[0].get_attribute("data-source") == right, question
        assert float(found[0].get_attribute("data-score")) > 0.2
