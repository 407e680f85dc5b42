"""Bad input causes a message that names it; nothing hangs, and the next good input works."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, Route, expect
from tests.e2e.conftest import served_path
from tests.e2e.runtime import WORKER as WORKER_FILE
from tests.e2e.runtime import retell

from tallow_build.browser import until

PATIENCE = 120_000
STATE = "document.querySelector('[data-testid=status]').dataset.state === argument"


@contextmanager
def broken(page: Page, path: str, break_it):
    """Answers requests of this path with break_it(route, real bytes) meanwhile."""

    def handle(route: Route) -> None:
        break_it(route, route.fetch().body())

    # Without a route left, requests of a running worker would no longer be intercepted.
    page.route("**/nothing", lambda route: route.continue_())
    page.route(f"**/{path}", handle)
    yield
    page.unroute(f"**/{path}", handle)


FAULTS = {
    "missing": (lambda route, body: route.fulfill(status=404), "missing from the server"),
    "server error": (lambda route, body: route.fulfill(status=500), "the server answered 500"),
    "cut off": (lambda route, body: route.fulfill(body=body[:1000]), "is damaged: it has 1000 b"),
    "changed": (lambda route, body: route.fulfill(body=body[:-9] + b"corrupted"), "its sha256 is"),
    "no server": (lambda route, body: route.abort(), "can’t be reached"),
}
MODEL = "models/mnist/mnist-*.onnx"
MANIFEST = "models/manifest.json"

# Parts that a start of the worker can't do without, in the order in which it comes to them. Of a
# worker whose modules can't be loaded, browsers name only the worker.
WORKER = {"worker/main-*.js": "worker"}
PYTHON = [
    "runtime/pyodide-*/pyodide.mjs",
    "runtime/pyodide-*/pyodide.asm.wasm",
    "runtime/pyodide-*/pyodide.asm.mjs",
]


def recovers(visitor) -> None:
    """Try again, with the fault gone: a digit is read."""
    visitor.status.get_by_role("button", name="Try again").click()
    visitor.wait()
    visitor.draw_seven()
    assert visitor.read() == "7"


def fails(visitor, path: str, break_it, *words: str) -> None:
    """Starts, or tries again, with a broken part, and expects these words."""
    asked = []

    def note(route: Route, body: bytes) -> None:
        asked.append(route.request.url)
        break_it(route, body)

    with broken(visitor.page, path, note):
        if visitor.page.url == "about:blank":
            visitor.open(state="error")
        else:
            visitor.status.get_by_role("button", name="Try again").click()
        for each in words:
            expect(visitor.status).to_contain_text(each, timeout=PATIENCE)
        until(visitor.page, STATE, "error", seconds=120)
    assert asked


def test_a_model_that_is_unavailable(visitor):
    """One fault after the other on the same page. Each is gone at the next try, which shows the
    next one; the last try succeeds."""
    for path in (MANIFEST, "models/mnist/card-*.json"):
        fails(visitor, path, FAULTS["missing"][0], path.partition("*")[0])
    for break_it, words in FAULTS.values():
        fails(visitor, MODEL, break_it, served_path("mnist"), words)
    recovers(visitor)


@pytest.mark.parametrize(
    ("late", "parts"),
    [(MANIFEST, 2), ("runtime/pyodide-*/pyodide.asm.wasm", 3)],
    ids=["another of the model", "one of Python"],
)
def test_a_failure_is_reported_after_all_others_have_ended(visitor, late, parts):
    """The page and the worker ask for the list of models, which is missing, and for Python's parts.
    Who tries again as soon as the page says so meets no failure of before."""
    asked: list[Route] = []
    held: list[Route] = []
    states: list[str | None] = []

    def fail(route: Route) -> None:
        asked.append(route)
        last = len(asked) == parts
        if route not in held:
            route.fulfill(status=404)
        if last:
            # The page has received the other failures before this request ends.
            visitor.page.evaluate("fetch('samples/samples.json').then((found) => found.text())")
            states.append(visitor.status.get_attribute("data-state"))
            held[0].fulfill(status=404)

    def hold(route: Route) -> None:
        if not held:
            held.append(route)
        fail(route)

    visitor.page.route(f"**/{MANIFEST}", fail)
    visitor.page.route(f"**/{late}", hold)
    visitor.open("./?device=numpy", state="error")
    assert states == ["loading"]
    visitor.page.unroute(f"**/{MANIFEST}")
    visitor.page.unroute(f"**/{late}")
    recovers(visitor)


def test_parts_of_the_worker_that_are_missing(visitor):
    for path, words in {
        **WORKER,
        **{path: path.partition("*")[2] or path for path in PYTHON},
    }.items():
        fails(visitor, path, FAULTS["missing"][0], words)
    recovers(visitor)


def test_wasm_that_does_not_compile(visitor, dist):
    """Its hash is right, so it could be a build that this browser does not support."""
    wasm = "pyodide.asm.wasm"
    body = next(dist.glob(f"runtime/pyodide-*/{wasm}")).read_bytes()
    other = body[:5000] + bytes(1000) + body[6000:]
    known = {"sha256": hashlib.sha256(other).hexdigest()}
    retell(visitor.page, lambda runtime: runtime["pyodide"]["files"][wasm].update(known))
    path = f"runtime/pyodide-*/{wasm}"
    with broken(visitor.page, path, lambda route, _: route.fulfill(body=other)):
        visitor.open(state="error")
        expect(visitor.status).to_contain_text("Python could not be started")
    visitor.page.unroute(f"**/{WORKER_FILE}")
    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"


def test_a_model_that_fails_leaves_the_others_working(visitor, photos):
    with broken(visitor.page, "models/squeezenet1_1/squeezenet1_1-*.onnx", FAULTS["missing"][0]):
        visitor.open("./?device=numpy&model=squeezenet1_1#classify", state="error")
        expect(visitor.status).to_contain_text(served_path("squeezenet1_1"))
        visitor.choose(photos["coffee"]["path"])
        visitor.hook("model-select").select_option("efficientnet_lite0")
        visitor.wait()
        assert visitor.answer("coffee.png")[0]["label"] == "espresso"
        visitor.show("Draw")
        visitor.draw_seven()
        assert visitor.read() == "7"
    visitor.show("Classify")
    visitor.hook("model-select").select_option("squeezenet1_1")
    visitor.wait("error")
    visitor.status.get_by_role("button", name="Try again").click()
    visitor.wait()
    assert visitor.answer("coffee.png")[0]["label"] == "espresso"


NOT_PICTURES = {
    "notes.txt": ("text/plain", b"just words"),
    "words.png": ("image/png", b"not a PNG at all"),
    "empty.jpg": ("image/jpeg", b""),
    "cut.png": ("image/png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
}


def test_files_that_are_no_pictures(visitor, photos):
    visitor.open("./?device=numpy#classify")
    for name, (kind, content) in NOT_PICTURES.items():
        visitor.choose({"name": name, "mimeType": kind, "buffer": content})
        message = visitor.page.get_by_role("alert").filter(has_text=name)
        expect(message).to_contain_text("empty" if not content else "is not a picture")
        expect(visitor.status).to_have_attribute("data-state", "ready")
        assert visitor.result.get_attribute("data-source") is None
        visitor.choose(photos["coffee"]["path"])
        assert visitor.answer("coffee.png")[0]["label"] == "espresso"
        expect(message).to_have_count(0)
