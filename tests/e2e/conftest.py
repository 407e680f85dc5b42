"""What the tests of the page share: a visitor who draws, chooses files and reads the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, Route, Worker, expect
from tests.conftest import watched_page

from tallow_build.content import models
from tallow_build.paths import CACHE, DIST, ROOT, WEB

# A start downloads, compiles and warms up, which takes a while on two busy cores without a GPU.
PATIENCE = 120_000

# The default model for photographs.
FIRST_MODEL = "efficientnet_lite0"

# A stroke's points on the pad, from (0, 0) at its upper left to (1, 1).
Stroke = Sequence[tuple[float, float]]


# In the worker's bundle, tests insert code before this to change how a device is opened.
OPEN_DEVICE = "async function openDevice("

# A change for patch(): the GPU's times are measured for a tenth of the usual time.
BRIEFLY = (
    "gpu/profile.js",
    "const until = performance.now() + budget;",
    "const until = performance.now() + budget / 10;",
)

# The URL of one of our documents, as it is requested.
DOCUMENT = re.compile(r"/(\w+\.html)?(\?.*)?$")


def unseal(page: Page) -> None:
    """Removes the hashes from the documents that this page loads, so that files may be changed."""

    def handle(route: Route) -> None:
        response = route.fetch()
        body = re.sub(r' integrity="[^"]*"', "", response.text())
        route.fulfill(response=response, body=body)

    page.route(DOCUMENT, handle)


class Holding:
    """Holds back files until they are released."""

    def __init__(self, page: Page, *paths: str) -> None:
        self._held: list[Route] | None = []
        for path in paths:
            page.route(path, self._handle)

    def _handle(self, route: Route) -> None:
        if self._held is None:
            route.continue_()
        else:
            self._held.append(route)

    def release(self) -> None:
        """Lets them arrive."""
        held, self._held = self._held or [], None
        for route in held:
            with suppress(Error):  # the worker that asked may be gone
                route.continue_()


def worker_of(page: Page) -> Worker:
    """The newest of the page's workers for networks. Others wait for steps of WebAssembly, or scale
    photographs."""
    return [each for each in page.workers if "/worker/main" in each.url][-1]


def served_path(name: str) -> str:
    """The path of a model's file on the server."""
    return models.in_dist(name).relative_to(DIST).as_posix()


class Visitor:
    """A visitor of the page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.status = self.hook("status")
        self.digit = self.hook("digit-result")
        self.result = self.hook("image-result")
        self.device = self.hook("device-info")
        self.latency = self.hook("latency")

    def hook(self, name: str) -> Locator:
        """The element with this data-testid."""
        return self.page.get_by_test_id(name)

    def open(self, address: str = "./", state: str = "ready") -> None:
        """Goes to an address and waits until the page is ready, or has failed."""
        self.page.goto(address)
        self.wait(state)

    def wait(self, state: str = "ready") -> None:
        """Waits until nothing is loading; then the state must be this one."""
        expect(self.status).not_to_have_attribute("data-state", "loading", timeout=PATIENCE)
        expect(self.status).to_have_attribute("data-state", state)

    def show(self, view: str, state: str = "ready") -> None:
        """Goes to "Draw" or "Classify" by the link at the top."""
        self.page.get_by_role("link", name=view, exact=True).click()
        expect(self.page.locator(f"#view-{view.lower()}")).to_be_visible()
        self.wait(state)

    def _pad(self) -> tuple[float, float, float, float]:
        box = self.hook("digit-pad").bounding_box()
        assert box is not None, "the pad can't be seen"
        return box["x"], box["y"], box["width"], box["height"]

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A point on the pad, in the page's pixels."""
        left, top, width, height = self._pad()
        return left + x * width, top + y * height

    def draw(self, *strokes: Stroke) -> None:
        """Draws with the mouse, one event for each point: a browser gives each a frame."""
        self.hook("digit-pad").scroll_into_view_if_needed()
        left, top, width, height = self._pad()
        mouse = self.page.mouse
        for stroke in strokes:
            for number, (x, y) in enumerate(stroke):
                mouse.move(left + x * width, top + y * height)
                if number == 0:
                    mouse.down()
            mouse.up()

    def draw_seven(self) -> None:
        """Draws a 7, which looks like no other digit."""
        self.draw([(0.3, 0.22), (0.5, 0.22), (0.7, 0.22), (0.6, 0.42), (0.5, 0.62), (0.42, 0.82)])

    def read(self) -> str:
        """The digit, once all ink was read."""
        expect(self.digit).to_have_attribute("aria-busy", "false", timeout=PATIENCE)
        return self.digit.text_content() or ""

    def clear(self) -> None:
        """Presses Clear."""
        self.hook("digit-clear").click()

    def choose(self, file: Path | dict[str, Any]) -> None:
        """Chooses an image: a file, or {"name", "mimeType", "buffer"}."""
        self.hook("image-input").set_input_files(file)  # type: ignore[arg-type]

    def drop(self, path: Path) -> None:
        """Drops a file or a folder onto the page, as the browser itself does."""
        session = self.page.context.new_cdp_session(self.page)
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            event = {"type": kind, "x": 300, "y": 300, "data": data}
            session.send("Input.dispatchDragEvent", event)
        session.detach()

    def answer(self, source: str) -> list[dict[str, Any]]:
        """The answer for the file of this name: [{"index", "label", "probability"}], best first."""
        expect(self.result).to_have_attribute("data-source", source, timeout=PATIENCE)
        return [
            {
                "index": int(item.get_attribute("data-index") or ""),
                "label": item.get_attribute("data-label"),
                "probability": float(item.get_attribute("data-probability") or ""),
            }
            for item in self.result.get_by_role("listitem").all()
        ]


class Regular(Visitor):
    """A visitor who stays on one page for all tests of a file. open() resets it to the state of a
    page that was just opened, as far as a visitor can: view, device, model, language, an empty pad,
    no picture, the panel closed, the window's size."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self._started = False

    def open(self, address: str = "./", state: str = "ready") -> None:
        if self._started:
            self._reset(address)
            self.wait(state)
        else:
            super().open(address, state)
            self._started = True

    def _reset(self, address: str) -> None:
        parts = urlsplit(address)
        parameters = dict(parse_qsl(parts.query))
        page = self.page
        page.mouse.up()
        page.set_viewport_size({"width": 1280, "height": 900})
        self.hook("language-select").select_option("en")
        panel = self.hook("kernels-panel")
        if self.hook("model-select").locator("option").count():  # the view was there
            page.evaluate("location.hash = '#classify'")
            self.wait()
            self.hook("model-select").select_option(parameters.get("model", FIRST_MODEL))
            self.wait()
            self.choose({"name": "none.txt", "mimeType": "text/plain", "buffer": b"no picture"})
            alert = page.locator("#view-classify").get_by_role("alert")
            expect(alert.filter(has_text="none.txt")).to_be_visible()
        page.evaluate("location.hash = '#draw'")
        self.wait()
        if self.hook("digit-eraser").get_attribute("aria-pressed") == "true":
            self.hook("digit-eraser").click()
        page.get_by_role("radio", name="Medium").check()
        if self.hook("digit-clear").is_visible():  # something was drawn on this page
            self.clear()
        assert self.read() == ""
        if panel.get_attribute("open") is not None:
            panel.locator("summary").click()
        self.hook("device-select").select_option(parameters.get("device", "wasm"))
        self.wait()
        page.evaluate("(hash) => { location.hash = hash; }", f"#{parts.fragment or 'draw'}")


@pytest.fixture(scope="module")
def regular_page(browser: Browser, server: str) -> Iterator[Regular]:
    """The page of a regular visitor."""
    for page, _ in watched_page(browser, server):
        yield Regular(page)


@pytest.fixture
def regular(regular_page: Regular) -> Iterator[Regular]:
    """A regular visitor. Routes that a test has added are removed after it."""
    yield regular_page
    regular_page.page.unroute_all(behavior="ignoreErrors")


@pytest.fixture
def newcomer(page: Page) -> Visitor:
    """A visitor on a fresh page, in files where `visitor` is a regular."""
    return Visitor(page)


@pytest.fixture
def visitor(page: Page) -> Visitor:
    """A visitor with WebGPU, who has not opened the page yet."""
    return Visitor(page)


@pytest.fixture(scope="session")
def visitor_of() -> type[Visitor]:
    """Makes a visitor for a page that the test opens itself: visitor_of(page)."""
    return Visitor


@pytest.fixture
def visitor_without_webgpu(page_without_webgpu: Page) -> Visitor:
    """A visitor whose browser has no WebGPU."""
    return Visitor(page_without_webgpu)


@pytest.fixture(scope="session")
def photos() -> dict[str, dict[str, Any]]:
    """The records of tests/data/photos.json by name, with the "path" of each file."""
    records = json.loads((ROOT / "tests" / "data" / "photos.json").read_text("utf-8"))["photos"]
    return {r["name"]: {**r, "path": CACHE / "photos" / r["file"]} for r in records}


@pytest.fixture
def module(page: Page) -> Iterator[Any]:
    """Runs JavaScript that uses modules of web/: module("./prepare/digit.js", "m => ...", arg)."""
    page.goto("sources/app.webmanifest")  # same origin, and runs no scripts

    def run(path: str, code: str, argument: Any = None) -> Any:
        call = f"async ([path, arg]) => ({code})(await import(path), arg)"
        return page.evaluate(call, [path, argument])

    yield run


@pytest.fixture(scope="session")
def patch(dist: Path) -> Callable[[Page, str, str, str], None]:
    """patch(page, path, old, new): changes a module of web/ for that page, in each
    bundle that contains it. Several changes add up."""
    changes: dict[Page, list[tuple[str, str]]] = {}

    def serve(page: Page, path: str, old: str, new: str) -> None:
        assert old in (WEB / path).read_text("utf-8"), f"{path} does not say {old}"
        bundles = [
            f"**/{file.relative_to(dist).as_posix()}"
            for folder in ("boot", "wasm", "worker")
            for file in dist.glob(f"{folder}/*.js")
            if old in file.read_text("utf-8")
        ]
        assert bundles, f"no bundle says {old}"
        unseal(page)
        all_changes = changes.setdefault(page, [])
        all_changes.append((old, new))

        def handle(route: Route) -> None:
            response = route.fetch()
            body = response.text()
            for old, new in all_changes:
                body = body.replace(old, new)
            route.fulfill(response=response, body=body)

        for bundle in bundles:
            page.route(bundle, handle)

    return serve
