"""A visitor without a service worker: files that are gone from the server, and newer versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import watched_page
from tests.e2e.conftest import PATIENCE, Visitor
from tests.e2e.keeping import kept
from tests.e2e.network.hosting import LISTS, Host
from tests.e2e.network.offline import forget, offline_state

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
