"""Threads of WebAssembly: how many, why not more, and what happens if one dies."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import OPEN_DEVICE, PATIENCE, Visitor
from tests.e2e.python.plain_server import serving

ISOLATED = "window.crossOriginIsolated"

# At the page's command a thread of the worker's pool dies in the next step that it shares.
MORTAL = """
new BroadcastChannel("die").onmessage = () => {
  globalThis.tallowDies = true;
  new BroadcastChannel("dying").postMessage("");
};
"""
DIE = """() => new Promise((resolve) => {
    new BroadcastChannel("dying").onmessage = resolve;
    new BroadcastChannel("die").postMessage("");
})"""


def reads_seven(visitor: Visitor) -> None:
    visitor.draw_seven()
    assert visitor.read() == "7"


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_address_says_how_many_threads_there_are(visitor, photos, threads):
    visitor.open(f"./?device=wasm&threads={threads}&model=squeezenet1_1#classify")
    assert visitor.page.evaluate(ISOLATED)
    expect(visitor.device).to_have_attribute("data-device", "wasm")
    expect(visitor.device).to_have_attribute("data-threads", str(threads))
    said = "one thread" if threads == 1 else f"{threads} threads"
    expect(visitor.device).to_contain_text(said)
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png")[0]["label"] == "espresso"


def test_there_are_as_many_threads_as_processors_but_not_more_than_four(visitor):
    visitor.open("./?device=wasm")
    processors = visitor.page.evaluate("navigator.hardwareConcurrency")
    expect(visitor.device).to_have_attribute("data-threads", str(min(processors, 4)))
    reads_seven(visitor)


@pytest.mark.parametrize("wrong", ["0", "x", "65", "1.5", ""])
def test_what_is_no_number_of_threads_is_explained(visitor, wrong):
    visitor.open(f"./?device=wasm&threads={wrong}")
    expect(visitor.device).to_contain_text(f"threads={wrong} in the address")
    expect(visitor.device).to_contain_text("choose a whole number from 1 to 64")
    reads_seven(visitor)


def test_without_the_headers_there_is_one_thread_until_the_second_visit(browser, dist, tmp_path):
    """Then the service worker sends them."""
    with serving(dist) as address:
        page = browser.new_page(base_url=address)
        visitor = Visitor(page)
        visitor.open("./?device=wasm&threads=2")
        assert not page.evaluate(ISOLATED)
        expect(visitor.device).to_have_attribute("data-threads", "1")
        expect(visitor.device).to_contain_text("one thread: more need a page that its server")
        reads_seven(visitor)
        kept = visitor.hook("offline-state")
        expect(kept).to_have_attribute("data-state", "kept", timeout=PATIENCE)
        visitor.open("./?device=wasm&threads=2")
        assert page.evaluate(ISOLATED)
        expect(visitor.device).to_have_attribute("data-threads", "2")
        reads_seven(visitor)
        # In a frame of another page it is as it was.
        (tmp_path / "index.html").write_text(f"<iframe src='{address}?device=wasm'></iframe>")
        with serving(tmp_path) as other:
            page.goto(other.replace("127.0.0.1", "localhost"))
            info = page.frame_locator("iframe").get_by_test_id("device-info")
            expect(info).to_have_attribute("data-threads", "1", timeout=PATIENCE)
        page.close()


def test_a_thread_that_dies_leaves_the_answer_to_numpy(visitor, patch, photos):
    patch(visitor.page, "wasm/pool.js", "const STUCK_MS = 5000;", "const STUCK_MS = 500;")
    others = "let others = cuts.length - 1;"
    dead = "if (globalThis.tallowDies) Atomics.add(words, 0, 1);"  # a part that nobody computes
    patch(visitor.page, "wasm/pool.js", others, f"{others} {dead}")
    patch(visitor.page, "worker/devices.js", OPEN_DEVICE, f"{MORTAL}{OPEN_DEVICE}")
    visitor.open("./?device=wasm&threads=2&model=squeezenet1_1#classify")
    visitor.page.evaluate(DIE)
    visitor.choose(photos["coffee"]["path"])
    expect(visitor.device).to_have_attribute("data-device", "numpy", timeout=PATIENCE)
    log = visitor.hook("boot-log")
    expect(log).to_contain_text("a thread has not answered for 0.5 seconds")
    expect(log).to_contain_text("Continuing with NumPy")
    visitor.wait()
    assert visitor.answer("coffee.png")[0]["label"] == "espresso"
