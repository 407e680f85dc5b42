"""Visits a page of `bench --cold`, in a browser that is started for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import BrowserContext, CDPSession, Error, Page, Playwright

from bench.trace import CATEGORIES, blocks, compile_ms
from bench.wire import Speed, Wire, by_path
from tallow_build.environment import browser

WATCH = Path(__file__).parent / "in_browser" / "watch.js"

# A page that does not answer within this time has failed.
PATIENCE_MS = 300_000

# How long a page stays open at the end, so that the browser can write its caches; and how long a
# new browser may settle before it navigates.
SETTLE_MS = 2_000
START_MS = 1_000

# A seven, from (0, 0) at the pad's upper left to (1, 1).
SEVEN = ((0.3, 0.22), (0.5, 0.22), (0.7, 0.22), (0.6, 0.42), (0.5, 0.62), (0.42, 0.82))

_FILES = "/models/"


class VisitError(Exception):
    """A page gave no answer, or a wrong one; the message says which."""


class Subject(NamedTuple):
    """A page: an engine of bench.engines, and the model that it runs."""

    engine: str
    model: str

    @property
    def ours(self) -> bool:
        return self.engine.startswith("tallow")

    @property
    def path(self) -> str:
        """The page's address on the server."""
        backend = self.engine.split("-")[1]
        if not self.ours:
            return f"peer/?backend={backend}&model={self.model}"
        if self.model == "mnist":
            return f"?device={backend}#draw"
        return f"?device={backend}&model={self.model}#classify"

    def failed(self, words: str) -> VisitError:
        """The error for a page that fails."""
        return VisitError(f"{self.model} on {self.engine}: {words.strip().splitlines()[0]}")

    def is_model(self, path: str) -> bool:
        """Whether a sent file belongs to a model."""
        return ".onnx" in path if not self.ours else path.startswith(_FILES)


class Visitor:
    """Opens pages of the server at `address` behind the given wire."""

    def __init__(self, playwright: Playwright, wire: Wire, address: str) -> None:
        self._playwright = playwright
        self._wire = wire
        self._address = address

    def visit(self, subject: Subject, profile: Path, speed: Speed) -> dict[str, Any]:
        """One visit with the browser profile in the folder `profile`, up to the answer and until
        everything is cached. Times are milliseconds since navigation. Raises VisitError."""
        with self._wire.watched(speed) as sent, self._open(profile) as context:
            page = context.pages[0]
            page.add_init_script(path=WATCH)
            page.wait_for_timeout(START_MS)
            url = self._address + subject.path
            devtools = context.new_cdp_session(page)
            inside = Inside(devtools, subject)
            with traced(devtools, page) as events:
                page.goto(url, wait_until="commit")
                self._ask(page, inside, subject)
            answer = self._answer(page, subject)
            if subject.ours:
                inside.when("kept")
            page.wait_for_timeout(SETTLE_MS)
            found = inside.evaluate("bench.found()")
            before = by_path(sent, found["origin"] + found["marks"]["answer"])
            everything = sum(piece.size for piece in sent)
        models = sum(size for path, size in before.items() if subject.is_model(path))
        return {
            "answer": answer,
            **{name: found[name] for name in ("marks", "stages")},
            "files": before,
            "model_bytes": models,
            "bytes": sum(before.values()) - models,
            "bytes_in_all": everything,
            "blocks": blocks(events),
            "compile_ms": compile_ms(events),
        }

    @contextmanager
    def _open(self, profile: Path) -> Iterator[BrowserContext]:
        context = self._playwright.chromium.launch_persistent_context(
            profile,
            executable_path=browser.find() or self._playwright.chromium.executable_path,
            headless=True,
            args=browser.arguments(webgpu=True),
            viewport={"width": 1280, "height": 1100},  # so that the samples are visible
        )
        try:
            yield context
        finally:
            context.close()

    def _ask(self, page: Page, inside: Inside, subject: Subject) -> None:
        """Asks as soon as the page allows it, and waits for the answer."""
        if subject.ours and subject.model == "mnist":
            inside.when("started")
            left, top, width, height = inside.evaluate("bench.box('digit-pad')")
            for number, (x, y) in enumerate(SEVEN):
                page.mouse.move(left + x * width, top + y * height)
                if number == 0:
                    page.mouse.down()
            page.mouse.up()
        inside.when("answer")

    def _answer(self, page: Page, subject: Subject) -> str:
        """The page's final answer."""
        try:
            if not subject.ours:
                return str(page.locator("output").text_content())
            actual = page.get_by_test_id("device-info").get_attribute("data-device")
            if actual != subject.engine.split("-")[1]:
                raise subject.failed(f"computed by {actual}")
            if subject.model == "mnist":
                page.locator("[data-testid=digit-result][aria-busy=false]").wait_for()
                return str(page.get_by_test_id("digit-result").text_content())
            best = page.get_by_test_id("image-result").locator("li").first
            return str(best.get_attribute("data-index"))
        except Error as error:
            raise subject.failed(error.message) from error


class Inside:
    """Calls watch.js in a page. Playwright's own methods would inject a large script, which would
    be the longest block of some pages."""

    def __init__(self, devtools: CDPSession, subject: Subject) -> None:
        self._devtools = devtools
        self._subject = subject

    def evaluate(self, code: str) -> Any:
        """The value of an expression, awaited. Raises VisitError if it fails."""
        wanted = {"expression": code, "awaitPromise": True, "returnByValue": True}
        answer = self._devtools.send("Runtime.evaluate", wanted)
        if "exceptionDetails" in answer:
            error = answer["exceptionDetails"].get("exception", {})
            raise self._subject.failed(str(error.get("description") or error.get("value")))
        return answer["result"].get("value")

    def when(self, name: str) -> None:
        """Waits for a mark. Raises VisitError."""
        self.evaluate(f"bench.when('{name}', {PATIENCE_MS})")


@contextmanager
def traced(devtools: CDPSession, page: Page) -> Iterator[list[dict[str, Any]]]:
    """Records a trace; the events are complete at the end of the block."""
    events: list[dict[str, Any]] = []
    over: list[Any] = []
    devtools.on("Tracing.dataCollected", lambda event: events.extend(event["value"]))
    devtools.on("Tracing.tracingComplete", lambda event: over.append(event))
    wanted = {"includedCategories": list(CATEGORIES), "excludedCategories": ["*"]}
    devtools.send("Tracing.start", {"traceConfig": wanted, "transferMode": "ReportEvents"})
    try:
        yield events
    finally:
        devtools.send("Tracing.end")
        until = time.monotonic() + PATIENCE_MS / 1000
        while not over and time.monotonic() < until:
            page.wait_for_timeout(20)
