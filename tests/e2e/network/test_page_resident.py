"""A visitor with a service worker, who has all files: the page can be installed, and newer versions
are offered.

The decisions about newer versions are tested in tests/js/renew.test.js, and here what the browser
and the server make of them. The tests share one browser profile, which keeps the files from test to
test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.conftest import watched_page
from tests.e2e.conftest import PATIENCE, Visitor
from tests.e2e.keeping import kept_in_all
from tests.e2e.network.hosting import LISTS, Host, copied
from tests.e2e.network.offline import LATE, forget, offline_state, tab, wait_until_kept

from tallow_build.environment.browser import until


@pytest.fixture(scope="module")
def residence(
    browser: Browser, dist: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Host, Visitor]]:
    """A host, and a visitor who has all its files after a first visit."""
    host = Host(copied(dist, tmp_path_factory.mktemp("residence") / "site"))
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
