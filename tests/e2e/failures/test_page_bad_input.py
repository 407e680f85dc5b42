"""Bad input causes a message that names it; nothing hangs, and the next good input works.

For what can go wrong with a download see also tests/js/fetch.test.js; for other failures that are
reported after all others have ended, tests/js/engine.test.js.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager

from playwright.sync_api import Page, Route, expect
from tests.e2e.conftest import served_path
from tests.e2e.runtime import WORKER as WORKER_FILE
from tests.e2e.runtime import retell

from tallow_build.environment.browser import until

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
MISSING = FAULTS["missing"][0]
MODEL = "models/mnist/mnist-*.onnx"
MANIFEST = "models/manifest.json"

# Parts that a start of the worker can't do without, in the order in which it comes to them. Of a
# worker whose modules can't be loaded, browsers name only the worker.
WORKER = {"worker/main-*.js": "worker"}
WASM = "runtime/pyodide-*/pyodide.asm.wasm"
PYTHON = ["runtime/pyodide-*/pyodide.mjs", WASM, "runtime/pyodide-*/pyodide.asm.mjs"]


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
            visitor.open("./?device=numpy", state="error")
        else:
            visitor.status.get_by_role("button", name="Try again").click()
        for each in words:
            expect(visitor.status).to_contain_text(each, timeout=PATIENCE)
        until(visitor.page, STATE, "error", seconds=120)
    assert asked


def test_parts_of_the_page_that_are_unavailable(visitor, dist):
    """One fault after the other on the same page. Each is gone at the next try, which shows the
    next one; the last try succeeds."""
    for path, words in {
        **WORKER,
        **{path: path.partition("*")[2] or path for path in PYTHON},
    }.items():
        fails(visitor, path, MISSING, words)
    wasm_does_not_compile(visitor, dist)
    for path in (MANIFEST, "models/mnist/card-*.json"):
        fails(visitor, path, MISSING, path.partition("*")[0])
    for break_it, words in FAULTS.values():
        fails(visitor, MODEL, break_it, served_path("mnist"), words)
    recovers(visitor)


def wasm_does_not_compile(visitor, dist) -> None:
    """Its hash is right, so it could be a build that this browser does not support."""
    body = next(dist.glob(WASM)).read_bytes()
    other = body[:5000] + bytes(1000) + body[6000:]
    known = {"sha256": hashlib.sha256(other).hexdigest()}

    def change(runtime) -> None:
        runtime["pyodide"]["files"]["pyodide.asm.wasm"].update(known)

    retell(visitor.page, change)
    fails(visitor, WASM, lambda route, _: route.fulfill(body=other), "Python could not be started")
    visitor.page.unroute(f"**/{WORKER_FILE}")


def test_a_failure_is_reported_after_all_others_have_ended(visitor):
    """The page and the worker ask for the list of models, which is missing, and for Python's parts.
    Who tries again as soon as the page says so meets no failure of before."""
    asked: list[Route] = []
    held: list[Route] = []
    states: list[str | None] = []

    def fail(route: Route) -> None:
        asked.append(route)
        last = len(asked) == 3
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
    visitor.page.route(f"**/{WASM}", hold)
    visitor.open("./?device=numpy", state="error")
    assert states == ["loading"]
    visitor.page.unroute(f"**/{MANIFEST}")
    visitor.page.unroute(f"**/{WASM}")
    recovers(visitor)


SQUEEZENET = "./?device=numpy&model=squeezenet1_1#classify"
NOT_PICTURES = {
    "notes.txt": ("text/plain", b"just words"),
    "words.png": ("image/png", b"not a PNG at all"),
    "empty.jpg": ("image/jpeg", b""),
    "cut.png": ("image/png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
}


def test_files_that_are_no_pictures(regular, photos):
    regular.open(SQUEEZENET)
    for name, (kind, content) in NOT_PICTURES.items():
        regular.choose({"name": name, "mimeType": kind, "buffer": content})
        message = regular.page.get_by_role("alert").filter(has_text=name)
        expect(message).to_contain_text("empty" if not content else "is not a picture")
        expect(regular.status).to_have_attribute("data-state", "ready")
        assert regular.result.get_attribute("data-source") is None
        regular.choose(photos["coffee"]["path"])
        assert regular.answer("coffee.png")[0]["label"] == "espresso"
        expect(message).to_have_count(0)


def test_a_model_that_fails_leaves_the_others_working(regular, photos):
    regular.open(SQUEEZENET)
    regular.wait()
    select = regular.hook("model-select")
    with broken(regular.page, "models/efficientnet_lite0/efficientnet_lite0-*.onnx", MISSING):
        select.select_option("efficientnet_lite0")
        regular.wait("error")
        expect(regular.status).to_contain_text(served_path("efficientnet_lite0"))
        regular.choose(photos["coffee"]["path"])
        select.select_option("squeezenet1_1")
        regular.wait()
        assert regular.answer("coffee.png")[0]["label"] == "espresso"
        regular.show("Draw")
        regular.draw_seven()
        assert regular.read() == "7"
    regular.show("Classify")
    select.select_option("efficientnet_lite0")
    regular.wait("error")
    regular.status.get_by_role("button", name="Try again").click()
    regular.wait()
    assert regular.answer("coffee.png")[0]["label"] == "espresso"
