"""Shared fixtures: dist/, a server for it, Chromium, watched pages; and the order of tests.

Each tier of tests has a folder. The quick tiers run first, whatever the order on the command line.
"""

from __future__ import annotations

import asyncio
import gc
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    Error,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)
from starlette.routing import Mount
from tests.side_by_side import pytest_xdist_make_scheduler  # noqa: F401 (pytest calls it)

from tallow.core import context
from tallow.devices.webgpu.native.device import find_adapter
from tallow_build.environment import browser as chromium
from tallow_build.paths import DIST, ROOT, WEB
from tallow_build.serving import mirror
from tallow_build.serving import server as static
from tallow_build.serving.script import BrowserPython

# Long enough for a page on a busy machine; passing tests do not wait for it.
expect.set_options(timeout=30_000)

# Pages of tests are short-lived: V8 optimises WebAssembly functions eight times later than usual,
# which saves every start of a page a fifth of its processor time.
SHORT_LIVED = ("--js-flags=--wasm-tiering-budget=100000000",)

# Of the last tier, whose long files run first.
SHORT_AND_SLOW = ("test_lighthouse", "test_truth")

TIERS = ("js", "unit", "ops", "parity", "programs", "onnx", "fuzz", "models", "examples", "e2e")


@cache
def tier(path: Path) -> str:
    """The name of a test's folder below tests/."""
    return path.relative_to(ROOT / "tests").parts[0]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Python's collector of garbage does not look at the tests and modules of this repository: they
    live to the end, and looking at them took a tenth of the time of tests in this process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_report_header() -> str:
    """Reports which browser the tests will use."""
    return f"chromium: {chromium.find() or 'the one that Playwright has installed'}"


def pytest_collection_finish() -> None:
    """No file of tests may change the habits of all others while it is imported."""
    if context.pytorch.get():
        raise pytest.UsageError(
            "a file of tests imports tallow.torch; import it in a fixture, within "
            "`context.pytorch.override(True)`"
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test with its tier, and browser tests with "browser"; sorts by tier. In the last
    one, long files come first, so that no worker is left with one while the others have ended;
    within the others the order is kept."""
    unknown = {tier(item.path) for item in items} - set(TIERS)
    if unknown:
        raise pytest.UsageError(
            f"tests/{min(unknown)} is not a tier; tests belong in {', '.join(TIERS)}"
        )
    for item in items:
        item.add_marker(tier(item.path))
        if "playwright" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    items.sort(key=lambda item: (TIERS.index(tier(item.path)), _turn(item.path)))


@cache
def _turn(path: Path) -> tuple[int, str]:
    """Sorts test files of the last tier by their length, which goes with their time, but for those
    that are short and slow."""
    length = 1 << 20 if path.stem in SHORT_AND_SLOW else path.stat().st_size
    return (-length, str(path)) if tier(path) == TIERS[-1] else (0, "")


@pytest.fixture(scope="session")
def run_async() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """asyncio.run in another thread, because Playwright keeps an event loop running in this one."""
    with ThreadPoolExecutor(1) as other:
        yield lambda coroutine: other.submit(asyncio.run, coroutine).result()


@pytest.fixture(scope="session")
def native() -> str:
    """The name of the adapter for desktop WebGPU. Skips if this machine has no driver; a missing
    package `wgpu` is a failure, because it is pinned."""
    assert find_spec("wgpu"), "the package wgpu is not installed in .venv"
    adapter = find_adapter()
    if isinstance(adapter, str):
        pytest.skip(adapter)
    return adapter.name


@pytest.fixture(scope="session")
def dist() -> Path:
    """The up-to-date dist/."""
    command = [sys.executable, str(ROOT / "build.py"), "build", "--quick"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return DIST


@pytest.fixture(scope="session")
def server(dist: Path) -> Iterator[str]:
    """The address of a server for dist/, with a trailing slash. Below sources/ it has the unbundled
    modules of web/, with everything that they load."""
    sources = Mount("/sources", static.application(WEB, fallback=dist))
    with static.running(dist, also=[sources, *mirror.mounts()]) as address:
        yield address


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright's synchronous API."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A headless Chromium with WebGPU."""
    with chromium.launch(playwright, more_arguments=SHORT_LIVED) as started:
        yield started


@pytest.fixture(scope="session")
def browser_without_webgpu(playwright: Playwright) -> Iterator[Browser]:
    """A headless Chromium without a WebGPU adapter."""
    chosen = chromium.launch(playwright, webgpu=False, more_arguments=SHORT_LIVED)
    with chosen as started:
        yield started


# Messages of JavaScript engines and Python about programming errors.
_RAW = re.compile(
    "Cannot read propert|is not a function|is not defined"
    "|(TypeError|ReferenceError|AttributeError):"
)


class Watch:
    """Records violations by a page. A test that provokes an error clears it."""

    def __init__(self, page: Page, server: str) -> None:
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self.raw: list[str] = []
        self._host = urlsplit(server).netloc
        page.on("pageerror", self._note_error)
        page.context.on("request", self._note)

    def _note_error(self, error: Error) -> None:
        # Firefox says this of a worker that was terminated while its script ran.
        if (error.name, str(error)) != ("uncaught exception", "undefined"):
            self.errors.append(str(error))

    def _note(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("blob", "data") and address.netloc != self._host:
            self.foreign.append(request.url)

    def look(self, page: Page) -> None:
        """Records text on a page that is meant for developers."""
        with suppress(Error):  # the page may be closed or navigating
            text = page.evaluate("document.body?.innerText ?? ''")
            self.raw += [line for line in text.splitlines() if _RAW.search(line)]

    def check(self) -> None:
        """Fails the test if there were any violations."""
        assert not self.foreign, f"requests to a third party: {self.foreign}"
        assert not self.raw, f"the page shows messages of exceptions: {self.raw}"
        assert not self.errors, f"uncaught errors in the page: {self.errors}"


def watched_page(browser: Browser, server: str, **options: Any) -> Iterator[tuple[Page, Watch]]:
    """A page in its own context, with these options, closed and checked afterwards.

    It has no service worker by default, which would fetch the whole site for each test, and whose
    cache `page.route` can't intercept. Animations are off: without a GPU each of their frames costs
    processor time.
    """
    chosen = {
        "viewport": {"width": 1280, "height": 900},
        "service_workers": "block",
        "reduced_motion": "reduce",
        **options,
    }
    with browser.new_context(base_url=server, **chosen) as context:
        page = context.new_page()
        watch = Watch(page, server)
        yield page, watch
        # A handler that is answering a request now has no page to answer, which is no failure.
        for each in context.pages:
            watch.look(each)
            each.unroute_all(behavior="ignoreErrors")
            # Without any routes, Playwright would notify the browser at the end of each handler:
            # for unanswered requests, from whatever thread collects the handler's coroutine.
            each.route("**/nothing", lambda route: route.continue_())
    watch.check()


@pytest.fixture(scope="session")
def watched_page_of() -> Callable[..., AbstractContextManager[tuple[Page, Watch]]]:
    """watched_page_of(browser, server, **options), for a browser started by the test."""
    return contextmanager(watched_page)


@pytest.fixture
def watched(browser: Browser, server: str) -> Iterator[tuple[Page, Watch]]:
    """A new page and its Watch."""
    yield from watched_page(browser, server)


@pytest.fixture
def page(watched: tuple[Page, Watch]) -> Page:
    """A new page. Uncaught errors and requests to a third party fail the test; page.goto("./")
    and other relative addresses refer to the server."""
    return watched[0]


@pytest.fixture
def watch(watched: tuple[Page, Watch]) -> Watch:
    """The Watch of `page`, for a test that provokes an error, to inspect and clear."""
    return watched[1]


@pytest.fixture
def page_without_webgpu(browser_without_webgpu: Browser, server: str) -> Iterator[Page]:
    """Like `page`, in a browser without WebGPU."""
    for page, _ in watched_page(browser_without_webgpu, server):
        yield page


class Notebook:
    """Python in the browser, where tests run code; names persist between runs."""

    def __init__(self, page: Page, server: str, device: str) -> None:
        self._python = BrowserPython(page, server)
        self.booted = self._python.boot(device)
        assert self.booted.device == device, self.booted.reason

    def write(self, name: str, data: bytes) -> None:
        """Writes a file into its current folder."""
        self._python.write(name, data)

    def run(self, code: str) -> Any:
        """The value of the last expression (None if it is not JSON); an error fails the test."""
        streams: dict[str, list[str]] = {"stdout": [], "stderr": []}
        ended = self._python.run(code, "test.py", lambda name, text: streams[name].append(text))
        assert ended.status == 0, "".join(streams["stderr"])
        return ended.result


@pytest.fixture(scope="session")
def browser_python(browser: Browser, server: str) -> Iterator[Callable[[str], Notebook]]:
    """browser_python("webgpu" | "numpy"): a Notebook on that device, one per session."""
    with ExitStack() as stack:
        started: dict[str, Notebook] = {}

        def on(device: str) -> Notebook:
            if device not in started:
                page, _ = stack.enter_context(contextmanager(watched_page)(browser, server))
                started[device] = Notebook(page, server, device)
            return started[device]

        yield on
