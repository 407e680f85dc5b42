"""Plans saved on an earlier visit, in the page. For the storage see tests/js/plans.test.js."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.conftest import watched_page
from tests.e2e.conftest import OPEN_DEVICE
from tests.e2e.keeping import (
    DAMAGE,
    change,
    kept,
    kept_in_all,
    line,
    plans,
    recalled,
)

from tallow_build.browser import until

PATIENCE = 120_000
# In the worker's bundle, tests insert code before this to change the storage.
LIMIT = "const MAX_BYTES = 200e6;"


def compiled(visitor: Any, model: str = "mnist") -> None:
    """Checks that the model was compiled from its file."""
    expect(line(visitor, "model", model)).to_have_attribute("data-state", "done")


def seven(visitor: Any) -> list[str]:
    """Draws a seven; returns the ten probabilities."""
    visitor.draw_seven()
    assert visitor.read() == "7"
    bars = visitor.page.locator("#view-draw .bars li")
    return [bar.get_attribute("data-probability") or "" for bar in bars.all()]


def forbid_files(page: Page) -> list[str]:
    """Blocks the models' files from now on; returns those that are requested."""
    asked: list[str] = []

    def handle(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    for name in ("*.onnx", "*.graph"):
        page.route(f"**/{name}", handle)
    return asked


SERVE = "serve({\n  begin,\n"
# Whether the worker's Python, which is started for this, has compiled anything (it counts plans).
TELL = """
new BroadcastChannel("ask").onmessage = () => app.inTurn(async () => {
  const compiled = (await app.start()).pyodide.runPython(`
import tallow_page.plan_registry
repr(tallow_page.plan_registry._numbers) != "count(1)"
`);
  new BroadcastChannel("compiled").postMessage(compiled);
});
"""
COMPILED = """() => new Promise((resolve) => {
  new BroadcastChannel("compiled").onmessage = ({ data }) => resolve(data);
  new BroadcastChannel("ask").postMessage("now");
})"""


@pytest.mark.parametrize("device", ["webgpu", "numpy"])
def test_the_second_visit_reads_no_model_and_compiles_nothing(visitor, patch, device):
    page = visitor.page
    patch(page, "worker/main.js", SERVE, TELL + SERVE)
    visitor.open(f"./?device={device}")
    first = seven(visitor)
    assert page.evaluate(COMPILED)
    kept(visitor)
    asked = forbid_files(page)
    visitor.open(f"./?device={device}")
    assert seven(visitor) == first
    recalled(visitor)
    expect(visitor.device).to_have_attribute("data-device", device)
    expect(line(visitor, "kernels")).to_have_attribute("data-state", "done")
    expect(line(visitor, "plan")).to_have_text(
        re.compile(r"^Plan of mnist, from an earlier visit [\d.]+ [kM]B [\d.]+ m?s $")
    )
    assert not page.evaluate(COMPILED)
    assert asked == []
    visitor.hook("language-select").select_option("zh")
    expect(visitor.hook("boot-log")).to_contain_text("mnist 的计划")


def test_actions_that_need_the_graph_fetch_the_file(visitor):
    """The panel, the comparison, another device and tuning, all after a visit from a plan."""
    page = visitor.page
    visitor.open()
    first = seven(visitor)
    kept(visitor)
    visitor.open()
    assert seven(visitor) == first
    recalled(visitor)
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    expect(panel).to_contain_text("conv2d")
    expect(line(visitor, "model")).to_have_count(0)
    visitor.hook("check-numpy").click()
    expect(visitor.hook("check-result")).to_contain_text("WebGPU and NumPy agree", timeout=PATIENCE)
    compiled(visitor)
    expect(line(visitor, "keep")).to_have_count(0)  # there was nothing to save on this visit
    visitor.hook("tune").click()
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "idle", timeout=PATIENCE)
    assert visitor.read() == "7"
    kept(visitor)
    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    assert visitor.read() == "7"
    kept_in_all(page, 3)  # by the rule, as tuned, and for NumPy
    asked = forbid_files(page)
    visitor.hook("device-select").select_option("webgpu")
    visitor.wait()
    assert visitor.read() == "7"
    assert asked == []


def test_a_damaged_plan_is_detected_and_compiled_again(visitor):
    """For other damage see tests/js/plans.test.js."""
    visitor.open()
    first = seven(visitor)
    kept(visitor)
    put = f"""async (bytes, cache, url) => {{
        ({DAMAGE["a byte of a weight"]})(bytes);
        await cache.put(url, new Response(bytes));
    }}"""
    change(visitor.page, put)
    visitor.open()
    assert seven(visitor) == first
    expect(line(visitor, "plan")).to_have_attribute("data-state", "failed")
    expect(line(visitor, "plan")).to_contain_text("is damaged; it will be compiled again")
    compiled(visitor)
    kept(visitor)


REFUSE = """Cache.prototype.put = async () => {
    throw new DOMException('no storage here', 'QuotaExceededError');
};"""


def test_refused_storage_is_reported_and_nothing_else_happens(visitor, patch):
    patch(visitor.page, "worker/models/plans.js", LIMIT, f"{REFUSE}\n{LIMIT}")
    visitor.open()
    seven(visitor)
    compiled(visitor)
    failed = line(visitor, "keep")
    expect(failed).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(failed).to_contain_text("no storage here")


def test_at_an_insecure_address_the_page_works_and_says_what_is_not_saved(
    browser, server, visitor_of
):
    """There are no caches, no hashes and no WebGPU."""
    address = "http://tallow.test/"
    for page, _ in watched_page(browser, address):

        def pass_on(route: Route) -> None:
            url = route.request.url.replace(address, server)
            route.fulfill(response=route.fetch(url=url))

        page.route(f"{address}**", pass_on)
        visitor = visitor_of(page)
        visitor.open()
        assert not page.evaluate("isSecureContext")
        expect(visitor.device).to_have_attribute("data-device", "numpy")
        seven(visitor)
        storage = visitor.hook("boot-log").locator("[data-stage=storage]")
        expect(storage).to_contain_text("without https")


# Destroys a worker's first device as soon as a plan uses it.
LOSE = """
{
  const made = GPUDevice.prototype.createBuffer;
  let struck = false;
  GPUDevice.prototype.createBuffer = function (...args) {
    const result = made.apply(this, args);
    if (!struck) this.destroy();
    struck = true;
    return result;
  };
}
"""


def test_a_device_lost_while_a_plan_is_loaded_is_replaced(visitor, patch):
    visitor.open()
    first = seven(visitor)
    kept(visitor)
    patch(visitor.page, "gpu/device.js", OPEN_DEVICE, LOSE + OPEN_DEVICE)
    visitor.open()
    assert seven(visitor) == first
    expect(visitor.hook("boot-log")).to_contain_text("The GPU device was lost")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    recalled(visitor)  # the plan is not to blame, and is used on the next device
    assert len(plans(visitor.page)) == 1


def test_a_plan_that_python_refuses_is_compiled_again(visitor, patch):
    """Its checksums are right, as if it were by another version of Tallow in the same build."""
    visitor.open("./?device=numpy")
    first = seven(visitor)
    kept(visitor)
    patch(
        visitor.page,
        "worker/models/models.js",
        "name, card, text, ...given",
        "name, card, '{}', ...given",
    )
    visitor.open("./?device=numpy")
    assert seven(visitor) == first
    expect(line(visitor, "plan")).to_contain_text("this is not a stored plan")
    compiled(visitor)


def test_heat_maps_and_photographs_from_a_plan(visitor, photos):
    visitor.open("./?model=squeezenet1_1#classify")
    visitor.choose(photos["coffee"]["path"])
    first = visitor.answer("coffee.png")
    kept(visitor, "squeezenet1_1")
    asked = forbid_files(visitor.page)
    visitor.page.reload()
    visitor.wait()
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png") == first
    recalled(visitor, "squeezenet1_1")
    visitor.hook("heat").click()
    until(visitor.page, "document.querySelector('.mattered progress').value > 1")
    visitor.hook("heat").click()
    assert asked == []
