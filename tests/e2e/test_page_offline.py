"""Offline after the first visit; a new version; files that were changed in transit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import watched_page
from tests.e2e.conftest import PATIENCE
from tests.e2e.keeping import kept

from tallow_build import dist as site_maker
from tallow_build import documents
from tallow_build import server as static
from tallow_build.browser import until
from tallow_build.compressed import ENDINGS

# Makes the page's long timeouts last for ever.
LATE = """
window.setTimeout = new Proxy(setTimeout, { apply: late });
function late(set, self, [run, ms = 0, ...args]) {
  return ms < 3000 ? Reflect.apply(set, self, [run, ms, ...args]) : 0;
}
"""


class Host:
    """A copy of dist/ on a server that can be shut down and changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stack = ExitStack()
        self.address = self._stack.enter_context(static.running(folder))

    def shut(self) -> None:
        """Stops serving."""
        self._stack.close()

    def release(self, name: str, listed_in: str) -> None:
        """Releases a newer version, in which this file has other content and so another name."""
        (old,) = self.folder.glob(name)
        for path in self.folder.glob(f"{name}.*"):
            path.unlink()
        stem, _, ending = old.name.partition(".")
        new = old.with_name(f"{stem[:-10]}{'0' * 10}.{ending}")
        integrity = documents.attribute(old)
        old.rename(new)
        if ending == "js":
            new.write_text(new.read_text("utf-8") + "document.body.className = 'next';", "utf-8")
        where = (self.folder / listed_in).read_text("utf-8")
        renamed = where.replace(old.name, new.name).replace(integrity, documents.attribute(new))
        self.change(listed_in, where, renamed)

    def lose(self, name: str) -> None:
        """Deletes a file."""
        for path in self.folder.glob(f"{name}*"):
            path.unlink()

    def change(self, name: str, old: str, new: str, *, announced: bool = True) -> None:
        """Changes a file; unless `announced`, the service worker expects the old content."""
        path = self.folder / name
        before = path.read_text("utf-8")
        assert old in before
        path.write_text(before.replace(old, new), "utf-8")
        if announced:
            site_maker.keep_offline(self.folder)
        for stale in (path, self.folder / "service-worker.js"):
            for ending in ENDINGS:
                stale.with_name(stale.name + ending).unlink(missing_ok=True)


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


def test_everything_works_without_a_network_after_the_first_visit(visitor, host, photos):
    visitor.open("./#draw")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    wait_until_kept(visitor.page)
    host.shut()

    # In the open tab, what it had not loaded yet.
    visitor.show("Classify")
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png")[0]["label"]

    # And in a new page, on the other device, at another address.
    visitor.open("./?device=numpy&model=squeezenet1_1#classify")
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    wait_until_kept(visitor.page)
    visitor.hook("image-sample").first.click()
    expect(visitor.result.get_by_role("listitem")).to_have_count(5, timeout=PATIENCE)
    visitor.show("Draw")
    visitor.draw_seven()
    assert visitor.read() == "7"


# Where the worker's WebAssembly came from, if the browser reports that.
WASM = """performance.getEntriesByType("resource")
    .filter(({ name }) => name.endsWith(".wasm"))
    .map(({ deliveryType }) => deliveryType)"""


def test_a_second_visit_compiles_what_the_browsers_own_cache_has(visitor, host):
    """V8 has stored the machine code of the first visit there."""
    page = visitor.page
    visitor.open("./?device=numpy")
    wait_until_kept(page)
    assert "cache" not in page.workers[0].evaluate(WASM)
    host.shut()
    visitor.open("./?device=numpy")
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert page.workers[0].evaluate(WASM) == ["cache"] * 3
    stage = visitor.hook("boot-log").locator("[data-stage=numpySnapshot]")
    expect(stage).to_have_attribute("data-state", "done")


def test_a_new_version_is_offered_and_waits(visitor, visitor_of, host):
    page = visitor.page
    visitor.open("./?device=numpy")
    wait_until_kept(page)
    others = [page.context.new_page() for _ in range(2)]
    others[1].add_init_script(LATE)  # it caches its files only after an answer
    for other in others:
        other.goto("./?device=numpy")
        visitor_of(other).wait()

    host.change("index.html", "<body>", '<body class="next">')
    visitor.open("./?device=numpy")
    visitor.draw_seven()
    offer = offline_state(page)
    expect(offer).to_have_attribute("data-state", "newer", timeout=PATIENCE)
    assert visitor.read() == "7"  # the work goes on, with the old version
    expect(page.locator("body.next")).to_have_count(0)

    offer.get_by_role("button", name="Reload").click()
    expect(page.locator("body.next")).to_have_count(1, timeout=PATIENCE)

    # The other tabs are not disturbed, but show the new version.
    others[1].bring_to_front()
    visitor_of(others[1]).draw_seven()
    for other in others:
        expect(other.locator("body.next")).to_have_count(0)
        expect(offline_state(other)).to_have_attribute("data-state", "newer", timeout=PATIENCE)
        offline_state(other).get_by_role("button").click()
        expect(other.locator("body.next")).to_have_count(1, timeout=PATIENCE)


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


def test_a_page_whose_files_are_gone_from_the_server_continues_to_work(visitor, host):
    page = visitor.page
    visitor.open("./?device=numpy")
    wait_until_kept(page)
    host.release("boot/main-*.js", "index.html")
    visitor.open("./?device=numpy")
    visitor.draw_seven()
    assert visitor.read() == "7"
    expect(offline_state(page)).to_have_attribute("data-state", "newer", timeout=PATIENCE)
    expect(page.locator("body.next")).to_have_count(0)
    offline_state(page).get_by_role("button", name="Reload").click()
    expect(page.locator("body.next")).to_have_count(1, timeout=PATIENCE)
    visitor.draw_seven()
    assert visitor.read() == "7"


@pytest.mark.parametrize("lost", ["boot/main-*.js", "models/mnist/mnist-*.onnx"])
def test_a_page_that_has_lost_a_part_of_an_older_version_starts_with_the_newer(visitor, host, lost):
    page = visitor.page
    visitor.open("./?device=numpy")
    wait_until_kept(page)
    kept(visitor)
    part = lost.partition("*")[0]
    forget(page, part)
    visitor.open("./?device=numpy")  # the server has it still
    assert page.evaluate("navigator.serviceWorker.controller !== null")

    forget(page, part)
    forget(page, "/plans/")  # with which a model's file would not be asked for
    page.goto("about:blank")
    host.release(lost, "models/manifest.json" if "models" in lost else "index.html")
    page.goto(f"{host.address}?device=numpy")
    expect(visitor.status).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert (page.locator("body.next").count() == 1) == (lost == "boot/main-*.js")
    wait_until_kept(page)


# The worker gets the model when load() is called.
HOLD_LOAD = """
const send = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
    const now = () => send.call(this, message, ...others);
    if (message.action === "load") window.load = now;
    else now();
};
"""


def test_a_page_that_has_lost_a_part_but_has_something_on_it_offers_the_newer(visitor, host):
    """It was never ready, and so has not looked for another version itself."""
    page = visitor.page
    visitor.open("./?device=numpy")
    wait_until_kept(page)
    kept(visitor)
    forget(page, "models/mnist/mnist-")
    forget(page, "/plans/")
    page.goto("about:blank")
    host.release("models/mnist/mnist-*.onnx", "models/manifest.json")
    host.change("index.html", "<body>", '<body class="next">')
    page.add_init_script(HOLD_LOAD)
    page.goto(f"{host.address}?device=numpy")
    visitor.draw_seven()
    until(page, "window.load")
    page.evaluate("load()")
    offer = offline_state(page)
    expect(offer).to_have_attribute("data-state", "newer", timeout=PATIENCE)
    expect(page.locator("body.next")).to_have_count(0)
    offer.get_by_role("button", name="Reload").click()
    expect(page.locator("body.next")).to_have_count(1, timeout=PATIENCE)
    until(page, "window.load")
    page.evaluate("load()")
    visitor.draw_seven()
    assert visitor.read() == "7"


MODEL = "models/squeezenet1_1/squeezenet1_1-*.onnx"
LISTS = "models/manifest.json"


@pytest.fixture
def bare(browser: Browser, host: Host, visitor_of: Any) -> Iterator[Any]:
    """A visitor whose browser has no service worker, only its HTTP cache."""
    for page, _ in watched_page(browser, host.address):
        yield visitor_of(page)


def loads(page: Page) -> list[str]:
    """The documents that are loaded from now on."""
    found: list[str] = []
    page.on("load", lambda loaded: found.append(loaded.url))
    return found


def test_an_open_page_whose_files_are_gone_starts_over_with_the_newer(bare, host, photos):
    """By itself, since the visitor has entered nothing."""
    bare.open("./?device=numpy&model=squeezenet1_1")
    host.release(MODEL, LISTS)
    loaded = loads(bare.page)
    with bare.page.expect_event("load", timeout=PATIENCE):
        bare.page.get_by_role("link", name="Classify", exact=True).click()
    bare.wait()
    expect(bare.page.locator("#view-classify")).to_be_visible()
    bare.choose(photos["coffee"]["path"])
    assert bare.answer("coffee.png")
    assert len(loaded) == 1


def test_a_page_with_something_on_it_offers_the_newer_version(bare, host):
    bare.open("./?device=numpy&model=squeezenet1_1")
    bare.draw_seven()
    assert bare.read() == "7"
    host.release(MODEL, LISTS)
    loaded = loads(bare.page)
    bare.show("Classify", "error")
    offer = offline_state(bare.page)
    expect(offer).to_have_attribute("data-state", "newer", timeout=PATIENCE)
    bare.show("Draw")
    assert bare.read() == "7"
    bare.show("Classify", "error")
    assert loaded == []
    with bare.page.expect_event("load", timeout=PATIENCE):
        offer.get_by_role("button", name="Reload").click()
    bare.wait()


@pytest.mark.parametrize("newer", [False, True])
def test_a_file_that_no_version_has_does_not_start_over_twice(bare, host, newer):
    """It is missing from the newer version too, if there is one."""
    bare.open("./?device=numpy&model=squeezenet1_1")
    if newer:
        host.release(MODEL, LISTS)
    host.lose(MODEL)
    loaded = loads(bare.page)
    with bare.page.expect_event("load", timeout=PATIENCE) if newer else nullcontext():
        bare.page.get_by_role("link", name="Classify", exact=True).click()
    bare.wait("error")
    bare.status.get_by_role("button", name="Try again").click()
    bare.wait("error")
    expect(bare.status).to_contain_text("is missing from the server (404)")
    bare.show("Draw")
    bare.draw_seven()
    assert bare.read() == "7"
    assert len(loaded) == int(newer)


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

    host.release("boot/main-*.js", "index.html")
    with page.expect_event("load", timeout=PATIENCE):
        again.click()
    bare.wait("error")
    expect(page.locator("body.next")).to_have_count(1)
    page.unroute("**/pyodide.asm.wasm")
    again.click()
    bare.wait()
    bare.draw_seven()
    assert bare.read() == "7"
    assert len(loaded) == 2


def test_numpy_is_cached_once_the_page_is_idle_and_works_offline(visitor, host):
    page = visitor.page
    fetched: list[str] = []
    page.context.on("request", lambda asked: fetched.append(asked.url))
    numpy = [path.name for path in host.folder.glob("runtime/*/numpy*.whl")]
    assert len(numpy) == 1
    page.add_init_script(LATE)
    visitor.open()
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    expect(offline_state(page)).to_have_attribute("data-state", "keeping")
    assert page.evaluate("navigator.serviceWorker.getRegistration().then(Boolean)") is False
    assert not any(name in url for url in fetched for name in numpy)
    visitor.draw_seven()
    assert visitor.read() == "7"
    wait_until_kept(page)
    host.shut()
    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    assert visitor.read() == "7"


def test_files_that_were_changed_in_transit_are_not_cached(visitor, host):
    host.change("samples/samples.json", "{", " {", announced=False)
    visitor.open("./?device=numpy")
    state = offline_state(visitor.page)
    expect(state).to_have_attribute("data-state", "refused", timeout=PATIENCE)
    expect(state).to_contain_text("the next visit will try again")
    visitor.draw_seven()
    assert visitor.read() == "7"

    host.change("samples/samples.json", " {", "{", announced=False)
    visitor.open("./?device=numpy")
    wait_until_kept(visitor.page)


def test_the_page_can_be_installed(visitor):
    page = visitor.page
    visitor.open("./?device=numpy")
    wait_until_kept(page)
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
    install = visitor.hook("install")
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


def test_a_refused_service_worker_is_reported(browser, server, visitor_of):
    for page, _ in watched_page(browser, server):
        visitor = visitor_of(page)
        page.add_init_script("delete Navigator.prototype.serviceWorker")
        visitor.open("./?device=numpy")
        state = offline_state(page)
        expect(state).to_have_attribute("data-state", "refused")
        expect(state).to_contain_text("this browser stores no files")
        visitor.hook("language-select").select_option("zh")
        expect(state).to_contain_text("无法离线使用")
