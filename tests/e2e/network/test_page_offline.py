"""Offline after the first visit; files that were changed in transit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import watched_page
from tests.e2e.conftest import PATIENCE
from tests.e2e.network.hosting import Host
from tests.e2e.network.offline import LATE, offline_state, tab, wait_until_kept


@pytest.fixture
def page(browser: Browser, host: Host) -> Iterator[Page]:
    """A page that may have a service worker."""
    for page, _ in watched_page(browser, host.address, service_workers="allow"):
        yield page


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
