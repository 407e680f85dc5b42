"""Offline after the first visit; a new version; files that were changed in transit.

The decisions about newer versions are tested in tests/js/renew.test.js, and here what the browser
and the server make of them. Tests with a `resident` share one browser profile, which keeps the
files from test to test.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import Watch, watched_page
from tests.e2e.conftest import PATIENCE, Visitor
from tests.e2e.keeping import kept, kept_in_all

from tallow_build.environment.browser import until
from tallow_build.page import documents
from tallow_build.page.compressed import ENDINGS
from tallow_build.serving import server as static

# Makes the page's long timeouts last for ever.
LATE = """
window.setTimeout = new Proxy(setTimeout, { apply: late });
function late(set, self, [run, ms = 0, ...args]) {
  return ms < 3000 ? Reflect.apply(set, self, [run, ms, ...args]) : 0;
}
"""


# A file in the service worker's list: its path; if its name has no hash, its MD5; its integrity.
LISTED = r'\{url:"(NAME)",revision:(null|"[^"]*"),integrity:"[^"]*"\}'


class Host:
    """A copy of dist/ on a server that can be shut down and changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._version = 1
        self._stack = ExitStack()
        self.address = self._stack.enter_context(static.running(folder))

    def shut(self) -> None:
        """Stops serving."""
        self._stack.close()

    def release(self, name: str, listed_in: str) -> str:
        """Releases a newer version, in which this file has other content and so another name; if
        the file was lost, the newer version lacks it too. Returns the selector of <body> with a
        newer main module."""
        self._version += 1
        text = (self.folder / listed_in).read_text("utf-8")
        hashed = re.escape(Path(name).name).replace(r"\*", "([0-9a-f]{10})")
        (found,) = set(re.findall(hashed, text))
        paths = [name.replace("*", one) for one in (found, f"{self._version:010d}")]
        old, new = (self.folder / path for path in paths)
        text = text.replace(old.name, new.name)
        if old.is_file():
            content, integrity = old.read_bytes(), documents.attribute(old)
            if old.suffix == ".js":
                content += f"document.body.className = 'version-{self._version}';".encode()
            self.lose(name)
            new.write_bytes(content)
            text = text.replace(integrity, documents.attribute(new))
            self._announce(*paths)
        self._write(listed_in, text)
        self._announce(listed_in, listed_in)
        return f"body.version-{self._version}"

    def lose(self, name: str) -> None:
        """Deletes a file."""
        for path in self.folder.glob(f"{name}*"):
            path.unlink()

    def change(self, name: str, old: str, new: str) -> None:
        """Changes a file on its way: the service worker expects the old content."""
        before = (self.folder / name).read_text("utf-8")
        assert old in before
        self._write(name, before.replace(old, new))

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text, "utf-8")
        for ending in ENDINGS:
            path.with_name(path.name + ending).unlink(missing_ok=True)

    def _announce(self, old: str, new: str) -> None:
        """Lists a file in the service worker as the build does, which takes longer."""
        path = self.folder / new
        sum_ = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()

        def entry(listed: re.Match[str]) -> str:
            revision = "null" if listed[2] == "null" else f'"{sum_}"'
            integrity = documents.attribute(path)
            return f'{{url:"{new}",revision:{revision},integrity:"{integrity}"}}'

        worker = (self.folder / "service-worker.js").read_text("utf-8")
        worker, count = re.subn(LISTED.replace("NAME", re.escape(old)), entry, worker)
        assert count == 1
        self._write("service-worker.js", worker)


@pytest.fixture
def host(dist: Path, tmp_path: Path) -> Iterator[Host]:
    host = Host(shutil.copytree(dist, tmp_path / "site"))
    yield host
    host.shut()


@pytest.fixture
def page(browser: Browser, host: Host) -> Iterator[Page]:
    """A page that may have a service worker."""
    for page, _ in watched_page(browser, host.address, service_workers="allow"):
        yield page


def offline_state(page: Page) -> Any:
    return page.get_by_test_id("offline-state")


def wait_until_kept(page: Page) -> None:
    expect(offline_state(page)).to_have_attribute("data-state", "kept", timeout=PATIENCE)
    expect(offline_state(page)).to_contain_text("Works offline")
    until(page, "navigator.serviceWorker.controller !== null")  # which comes a moment later


@pytest.fixture(scope="module")
def residence(
    browser: Browser, dist: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Host, Visitor]]:
    """A host, and a visitor who has all its files after a first visit."""
    host = Host(shutil.copytree(dist, tmp_path_factory.mktemp("residence") / "site"))
    for page, _ in watched_page(browser, host.address, service_workers="allow"):
        yield host, Visitor(page)
    host.shut()


HOME = "./?device=numpy"


@pytest.fixture
def resident(residence: tuple[Host, Visitor]) -> Visitor:
    """A visitor who has all files of the newest version, and a plan, on a page that may be used."""
    _, visitor = residence
    if not visitor.page.url.endswith("?device=numpy"):
        visitor.open(HOME)
    wait_until_kept(visitor.page)
    kept_in_all(visitor.page, 1)
    return visitor


@pytest.fixture
def its_host(residence: tuple[Host, Visitor]) -> Host:
    """The host of the resident."""
    return residence[0]


@contextmanager
def tab(page: Page, script: str = "") -> Iterator[Visitor]:
    """A visitor in another tab of the same browser, which runs this script first."""
    other = page.context.new_page()
    if script:
        other.add_init_script(script)
    watch = Watch(other, page.url)
    yield Visitor(other)
    watch.look(other)
    other.close()
    watch.check()


# Where the worker's WebAssembly came from, if the browser reports that.
WASM = """performance.getEntriesByType("resource")
    .filter(({ name }) => name.endsWith(".wasm"))
    .map(({ deliveryType }) => deliveryType)"""


def test_everything_works_without_a_network_after_the_first_visit(visitor, host, photos):
    """The first visit caches all files, NumPy's too, once the page is idle. The second compiles
    what the browser's own cache has, where V8 has stored the machine code of the first."""
    page = visitor.page
    fetched: list[str] = []
    page.context.on("request", lambda asked: fetched.append(asked.url))
    numpy = [path.name for path in host.folder.glob("runtime/*/numpy*.whl")]
    assert len(numpy) == 1
    page.add_init_script(LATE)
    visitor.open("./?model=squeezenet1_1#draw")
    expect(visitor.device).to_have_attribute("data-device", "wasm")
    expect(offline_state(page)).to_have_attribute("data-state", "keeping")
    assert page.evaluate("navigator.serviceWorker.getRegistration().then(Boolean)") is False
    assert not any(name in url for url in fetched for name in numpy)
    assert "cache" not in page.workers[0].evaluate(WASM)
    visitor.draw_seven()
    assert visitor.read() == "7"
    wait_until_kept(page)
    host.shut()

    # In the open tab, what it had not loaded yet: a model and a device.
    visitor.show("Classify")
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png")[0]["label"]
    expect(visitor.device).to_have_attribute("data-device", "wasm")
    visitor.show("Draw")
    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    assert visitor.read() == "7"

    # And in a new page, on the other device, at another address.
    with tab(page) as other:
        other.open("./?device=numpy&model=efficientnet_lite0#classify")
        expect(other.device).to_have_attribute("data-device", "numpy")
        wait_until_kept(other.page)
        assert other.page.workers[0].evaluate(WASM) == ["cache"] * 3
        stage = other.hook("boot-log").locator("[data-stage=numpySnapshot]")
        expect(stage).to_have_attribute("data-state", "done")
        other.hook("image-sample").first.click()
        expect(other.result.get_by_role("listitem")).to_have_count(5, timeout=PATIENCE)
        other.show("Draw")
        other.draw_seven()
        assert other.read() == "7"


def test_files_that_were_changed_in_transit_are_not_cached(visitor, host):
    host.change("samples/samples.json", "{", " {")
    visitor.open("./?device=numpy")
    state = offline_state(visitor.page)
    expect(state).to_have_attribute("data-state", "refused", timeout=PATIENCE)
    expect(state).to_contain_text("the next visit will try again")
    visitor.draw_seven()
    assert visitor.read() == "7"

    host.change("samples/samples.json", " {", "{")
    visitor.open("./?device=numpy")
    wait_until_kept(visitor.page)


def test_the_page_can_be_installed(resident):
    page = resident.page
    devtools = page.context.new_cdp_session(page)
    # A test's context is a private one, in which nothing can be installed.
    private = {"errorId": "in-incognito", "errorArguments": []}
    errors = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error for error in errors if error != private] == []
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["errors"] == []
    for icon in json.loads(manifest["data"])["icons"]:
        size = page.evaluate(
            """async (src) => {
                const image = new Image();
                image.src = src;
                await image.decode();
                return `${image.naturalWidth}x${image.naturalHeight}`;
            }""",
            icon["src"],
        )
        assert icon["sizes"] in (size, "any")

    # The browser's offer becomes a button of the page.
    install = resident.hook("install")
    expect(install).to_be_hidden()
    page.evaluate(
        """() => {
            const offer = new Event("beforeinstallprompt", { cancelable: true });
            offer.prompt = async () => { window.asked = true; };
            dispatchEvent(offer);
            window.taken = offer.defaultPrevented;
        }"""
    )
    install.click()
    assert page.evaluate("[taken, asked]") == [True, True]
    expect(install).to_be_hidden()


def forget(page: Page, part: str) -> None:
    """Removes a file from the browser's cache."""
    gone = """async (part) => {
        for (const name of await caches.keys()) {
            const cache = await caches.open(name);
            for (const { url } of await cache.keys()) {
                if (url.includes(part)) await cache.delete(url);
            }
        }
    }"""
    page.evaluate(gone, part)
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")


LISTS = "models/manifest.json"


def test_a_page_that_has_lost_a_part_of_an_older_version_starts_with_the_newer(resident, its_host):
    page = resident.page
    main, model, plans = "boot/main-", "models/mnist/mnist-", "/plans/"
    for part in (main, model, plans):  # with a plan, the model's file would not be asked for
        forget(page, part)
    resident.open(HOME)  # the server has them still
    assert page.evaluate("navigator.serviceWorker.controller !== null")
    kept_in_all(page, 1)

    newer = "body"
    for lost, listed_in in ((f"{main}*.js", "index.html"), (f"{model}*.onnx", LISTS)):
        for part in (lost.partition("*")[0], plans):
            forget(page, part)
        page.goto("about:blank")
        released = its_host.release(lost, listed_in)
        if lost.startswith(main):
            newer = released
        page.goto(f"{its_host.address}?device=numpy")
        expect(resident.status).to_have_attribute("data-state", "ready", timeout=PATIENCE)
        resident.draw_seven()
        assert resident.read() == "7"
        expect(page.locator(newer)).to_have_count(1)
        wait_until_kept(page)
        kept_in_all(page, 1)


def test_a_new_version_is_offered_and_waits(resident, its_host):
    """Meanwhile the old one goes on, from the cache: its files are gone from the server."""
    resident.open(HOME)  # from the cache, unlike the page of the first visit
    with tab(resident.page) as guest, tab(resident.page, LATE) as late:
        late.open(HOME)  # it caches its files only after an answer
        newer = its_host.release("boot/main-*.js", "index.html")
        guest.open(HOME)
        guest.draw_seven()
        offer = offline_state(guest.page)
        expect(offer).to_have_attribute("data-state", "newer", timeout=PATIENCE)
        assert guest.read() == "7"
        expect(guest.page.locator(newer)).to_have_count(0)
        offer.get_by_role("button", name="Reload").click()
        expect(guest.page.locator(newer)).to_have_count(1, timeout=PATIENCE)
        guest.draw_seven()
        assert guest.read() == "7"

        # The other tabs are not disturbed, but show the new version.
        late.page.bring_to_front()
        late.draw_seven()
        assert late.read() == "7"
        for other in (late, resident):
            expect(other.page.locator(newer)).to_have_count(0)
            offer = offline_state(other.page)
            expect(offer).to_have_attribute("data-state", "newer", timeout=PATIENCE)
            offer.get_by_role("button").click()
            expect(other.page.locator(newer)).to_have_count(1, timeout=PATIENCE)


# The worker gets the model when load() is called.
HOLD_LOAD = """
const send = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
    const now = () => send.call(this, message, ...others);
    if (message.action === "load") window.load = now;
    else now();
};
"""


def test_a_page_that_has_lost_a_part_but_has_something_on_it_offers_the_newer(resident, its_host):
    """It was never ready, and so has not looked for another version itself."""
    home = resident.page
    home.goto("app.webmanifest")  # same origin, and runs no scripts
    forget(home, "models/mnist/mnist-")
    forget(home, "/plans/")
    its_host.release("models/mnist/mnist-*.onnx", LISTS)
    newer = its_host.release("boot/main-*.js", "index.html")
    with tab(home, HOLD_LOAD) as visitor:
        page = visitor.page
        page.goto(HOME)
        visitor.draw_seven()
        until(page, "window.load")
        page.evaluate("load()")
        offer = offline_state(page)
        expect(offer).to_have_attribute("data-state", "newer", timeout=PATIENCE)
        expect(page.locator(newer)).to_have_count(0)
        offer.get_by_role("button", name="Reload").click()
        expect(page.locator(newer)).to_have_count(1, timeout=PATIENCE)
        until(page, "window.load")
        page.evaluate("load()")
        visitor.draw_seven()
        assert visitor.read() == "7"


SQUEEZENET = "models/squeezenet1_1/squeezenet1_1-*.onnx"
EFFICIENTNET = "models/efficientnet_lite0/efficientnet_lite0-*.onnx"


@pytest.fixture
def bare(browser: Browser, host: Host) -> Iterator[Visitor]:
    """A visitor whose browser has no service worker, only its HTTP cache."""
    for page, _ in watched_page(browser, host.address):
        page.add_init_script("delete Navigator.prototype.serviceWorker")
        yield Visitor(page)


def loads(page: Page) -> list[str]:
    """The documents that are loaded from now on."""
    found: list[str] = []
    page.on("load", lambda loaded: found.append(loaded.url))
    return found


def starts_over(page: Page) -> Any:
    """Expects that the page loads again meanwhile."""
    return page.expect_event("load", timeout=PATIENCE)


def test_without_a_service_worker_files_that_are_gone_come_from_the_newer_version(
    bare, host, photos
):
    """The page starts over by itself if the visitor has entered nothing, and on request otherwise;
    it never starts over twice for the same file."""
    page = bare.page
    bare.open("./?device=numpy&model=squeezenet1_1")
    loaded = loads(page)
    again = bare.status.get_by_role("button", name="Try again")
    select = bare.hook("model-select")

    # That nothing is stored is reported.
    state = offline_state(page)
    expect(state).to_have_attribute("data-state", "refused")
    expect(state).to_contain_text("this browser stores no files")
    bare.hook("language-select").select_option("zh")
    expect(state).to_contain_text("无法离线使用")
    bare.hook("language-select").select_option("en")

    # Nothing was entered.
    host.release(SQUEEZENET, LISTS)
    with starts_over(page):
        page.get_by_role("link", name="Classify", exact=True).click()
    bare.wait()
    expect(page.locator("#view-classify")).to_be_visible()
    bare.choose(photos["coffee"]["path"])
    assert bare.answer("coffee.png")
    assert len(loaded) == 1
    kept(bare, "squeezenet1_1")

    # Something is on the page.
    bare.show("Draw")
    bare.draw_seven()
    assert bare.read() == "7"
    host.release(EFFICIENTNET, LISTS)
    bare.show("Classify")
    select.select_option("efficientnet_lite0")
    bare.wait("error")
    expect(state).to_have_attribute("data-state", "newer", timeout=PATIENCE)
    bare.show("Draw")
    assert bare.read() == "7"
    bare.show("Classify", "error")
    assert len(loaded) == 1
    with starts_over(page):
        state.get_by_role("button", name="Reload").click()
    bare.wait()

    # A file is gone, and there is no newer version.
    host.lose(SQUEEZENET)
    forget(page, "/plans/")
    select.select_option("squeezenet1_1")
    bare.wait("error")
    again.click()
    bare.wait("error")
    expect(bare.status).to_contain_text("is missing from the server (404)")
    bare.show("Draw")
    bare.show("Classify", "error")
    assert len(loaded) == 2

    # There is one, and the file is missing from that too.
    host.release(SQUEEZENET, LISTS)
    with starts_over(page):
        again.click()
    bare.wait("error")
    again.click()
    bare.wait("error")
    expect(bare.status).to_contain_text("is missing from the server (404)")
    bare.show("Draw")
    bare.draw_seven()
    assert bare.read() == "7"
    assert len(loaded) == 3


def test_a_part_of_python_that_is_missing_does_not_pass_for_a_newer_version(bare, host):
    """The page's own scripts name it. When those are gone too, the page starts over."""
    page = bare.page
    page.route("**/pyodide.asm.wasm", lambda route: route.fulfill(status=404))
    loaded = loads(page)
    bare.open("./?device=numpy", state="error")
    again = bare.status.get_by_role("button", name="Try again")
    again.click()
    bare.wait("error")
    assert len(loaded) == 1
    expect(offline_state(page)).not_to_have_attribute("data-state", "newer")

    newer = host.release("boot/main-*.js", "index.html")
    with starts_over(page):
        again.click()
    bare.wait("error")
    expect(page.locator(newer)).to_have_count(1)
    page.unroute("**/pyodide.asm.wasm")
    again.click()
    bare.wait()
    bare.draw_seven()
    assert bare.read() == "7"
    assert len(loaded) == 2
