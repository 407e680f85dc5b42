"""Plans that an earlier visit has kept: found, damaged, of another version, refused, evicted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.conftest import watched_page
from tests.e2e.conftest import OPEN_DEVICE, Holding
from tests.e2e.keeping import (
    DAMAGE,
    change,
    kept,
    kept_in_all,
    last_use,
    line,
    plans,
    recalled,
    used_since,
)

from tallow_build.browser import until

PATIENCE = 120_000
# Before this, in the worker's bundle, a test may change what storage does.
MOST = "const MOST = 200e6;"


def compiled(visitor: Any, model: str = "mnist") -> None:
    """The model was made from its file."""
    expect(line(visitor, "model", model)).to_have_attribute("data-state", "done")


def seven(visitor: Any) -> list[str]:
    """Draws a seven; the ten probabilities."""
    visitor.draw_seven()
    assert visitor.read() == "7"
    bars = visitor.page.locator("#view-draw .bars li")
    return [bar.get_attribute("data-probability") or "" for bar in bars.all()]


def forbid_files(page: Page) -> list[str]:
    """No file of a model can be had from now on; returns those that are asked for."""
    asked: list[str] = []

    def handle(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    for name in ("*.onnx", "*.graph"):
        page.route(f"**/{name}", handle)
    return asked


SERVE = "serve({\n  begin,\n"
# Whether the worker's Python, which is started for it, has compiled anything: it numbers that.
TELL = """
new BroadcastChannel("ask").onmessage = () => app.inTurn(async () => {
  const compiled = (await app.start()).pyodide.runPython(`
import tallow_page.plan_registry
repr(tallow_page.plan_registry._numbers) != "count(1)"
`);
  new BroadcastChannel("told").postMessage(compiled);
});
"""
COMPILED = """() => new Promise((resolve) => {
  new BroadcastChannel("told").onmessage = ({ data }) => resolve(data);
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


def test_what_needs_the_graph_fetches_the_file_then(visitor):
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
    expect(line(visitor, "keep")).to_have_count(0)  # there was nothing to keep on this visit
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


@pytest.mark.parametrize(
    ("device", "damages"), [("webgpu", DAMAGE), ("numpy", ["a byte of a weight"])]
)
def test_damaged_ones_are_found_and_made_anew(visitor, device, damages):
    visitor.open(f"./?device={device}")
    first = seven(visitor)
    kept(visitor)
    for damage in damages:
        put = f"""async (bytes, cache, url) => {{
            const changed = ({DAMAGE[damage]})(bytes) ?? bytes;
            await cache.put(url, new Response(changed));
        }}"""
        change(visitor.page, put)
        visitor.open(f"./?device={device}")
        assert seven(visitor) == first
        expect(line(visitor, "plan")).to_have_attribute("data-state", "failed")
        expect(line(visitor, "plan")).to_contain_text("is damaged; it is made anew")
        compiled(visitor)
        kept(visitor)
    visitor.open(f"./?device={device}")
    assert seven(visitor) == first
    recalled(visitor)


def test_those_of_another_version_are_not_found_and_go(visitor, patch):
    page = visitor.page
    visitor.open()
    first = seven(visitor)
    kept(visitor)
    (old,) = plans(page)
    patch(page, "worker/runtime.js", "BUILD = JSON", 'BUILD = "next" + JSON')
    home = page.evaluate("new URL('./', location).href")
    page.evaluate("caches.open('tallow-plans-2').then(() => 0)")  # of other forms, too
    page.evaluate("(home) => caches.open(`tallow:plans:2:${home}`).then(() => 0)", home)
    visitor.open()
    assert seven(visitor) == first
    expect(line(visitor, "plan")).to_have_count(0)
    compiled(visitor)
    kept(visitor)
    (new,) = plans(page)
    assert new != old
    assert page.evaluate("caches.keys()") == [f"tallow:plans:3:{home}"]


NO_STORAGE = "this browser keeps nothing for this address."

# By the stage that tells of it.
REFUSALS = {
    "keep": "caches.open = async () => { throw new DOMException('no storage here'); };",
    "plan": """Cache.prototype.match = async () => {
        throw new DOMException('no storage here');
    };""",
    "keep at its end": """Cache.prototype.put = async () => {
        throw new DOMException('no storage here', 'QuotaExceededError');
    };""",
}


@pytest.mark.parametrize("stage", REFUSALS)
def test_where_storage_is_refused_that_is_told_and_nothing_else_happens(visitor, patch, stage):
    patch(visitor.page, "worker/models/plans.js", MOST, f"{REFUSALS[stage]}\n{MOST}")
    visitor.open()
    seven(visitor)
    compiled(visitor)
    failed = line(visitor, stage.split()[0])
    expect(failed).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(failed).to_contain_text("no storage here")


def test_without_cache_storage_one_line_says_that_nothing_is_kept(visitor, patch):
    without = "Object.defineProperty(globalThis, 'caches', { value: undefined });"
    patch(visitor.page, "worker/models/plans.js", MOST, f"{without}\n{MOST}")
    visitor.open()
    seven(visitor)
    compiled(visitor)
    told = visitor.hook("boot-log").locator("[data-stage=storage]")
    expect(told).to_have_text("Keeping plans for later visits failed: " + NO_STORAGE)
    expect(visitor.hook("boot-log").locator("li")).to_have_count(4)  # no plan, nothing kept
    visitor.show("Classify")  # another model, and no other line
    compiled(visitor, "efficientnet_lite0")
    expect(told).to_have_count(1)


def test_at_an_address_that_is_not_secure_the_page_works_and_says_what_is_not_kept(
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
        told = visitor.hook("boot-log").locator("[data-stage=storage]")
        expect(told).to_contain_text("without https")


# Ends the first device of a worker as soon as a plan makes use of it.
LOSE = """
{
  const made = GPUDevice.prototype.METHOD;
  let struck = false;
  GPUDevice.prototype.METHOD = function (...args) {
    const result = made.apply(this, args);
    if (!struck) this.destroy();
    struck = true;
    return result;
  };
}
"""


@pytest.mark.parametrize("method", ["createComputePipelineAsync", "createBuffer"])
def test_a_device_that_is_lost_while_a_plan_is_loaded_is_replaced(visitor, patch, method):
    visitor.open()
    first = seven(visitor)
    kept(visitor)
    patch(visitor.page, "gpu/device.js", OPEN_DEVICE, LOSE.replace("METHOD", method) + OPEN_DEVICE)
    visitor.open()
    assert seven(visitor) == first
    expect(visitor.hook("boot-log")).to_contain_text("The GPU device was lost")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    recalled(visitor)  # which says nothing of the plan: it is there for the next device
    assert len(plans(visitor.page)) == 1


EVICTIONS = {
    # The entry is there when it is looked for, and gone or cut off when it is read.
    "before the first byte": "controller.error(new DOMException('gone', 'NotFoundError'));",
    "in the middle": """controller.enqueue(bytes.slice(0, bytes.length >> 1));
        setTimeout(() => controller.error(new DOMException('gone', 'NotFoundError')));""",
}


@pytest.mark.parametrize(
    ("device", "eviction"), [("numpy", "before the first byte"), ("webgpu", "in the middle")]
)
def test_one_that_is_evicted_while_it_is_read_is_made_anew(visitor, patch, device, eviction):
    visitor.open(f"./?device={device}")
    first = seven(visitor)
    kept(visitor)
    evict = f"""
      const match = Cache.prototype.match;
      Cache.prototype.match = async function (url) {{
        const found = await match.call(this, url);
        if (!found || String(url).includes("?")) return found;
        const bytes = new Uint8Array(await found.arrayBuffer());
        const start = (controller) => {{ {EVICTIONS[eviction]} }};
        return new Response(new ReadableStream({{ start }}));
      }};
    """
    patch(visitor.page, "worker/models/plans.js", MOST, f"{evict}\n{MOST}")
    visitor.open(f"./?device={device}")
    assert seven(visitor) == first
    expect(line(visitor, "plan")).to_have_attribute("data-state", "failed")
    expect(line(visitor, "plan")).to_contain_text("gone")
    compiled(visitor)
    kept(visitor)


def test_the_least_recently_used_goes_when_there_is_no_room(visitor, patch):
    """With room for the digits' plan and one of SqueezeNet, but not for two of it."""
    page = visitor.page
    patch(page, "worker/models/plans.js", MOST, "const MOST = 3.5e6;")
    visitor.open("./?model=squeezenet1_1")
    kept(visitor)
    visitor.show("Classify")
    kept(visitor, "squeezenet1_1")
    assert len(plans(page)) == 2
    before = last_use(page)
    visitor.open()  # which uses the digits' plan
    recalled(visitor)
    used_since(page, before)
    visitor.open("./?device=numpy")
    kept(visitor)
    visitor.open("./?device=numpy&model=squeezenet1_1")
    visitor.show("Classify")
    kept(visitor, "squeezenet1_1")
    assert len(plans(page)) == 3  # of the digits two, of SqueezeNet that for NumPy
    visitor.open("./?model=squeezenet1_1")
    visitor.show("Classify")
    compiled(visitor, "squeezenet1_1")


def test_two_tabs_that_keep_the_same_plan(visitor, visitor_of):
    tabs = (visitor, visitor_of(visitor.page.context.new_page()))
    weights = [Holding(tab.page, "**/mnist-*.onnx") for tab in tabs]
    for tab in tabs:
        tab.page.goto("./")
    for tab in tabs:  # each has looked for a plan, and has found none
        expect(line(tab, "model")).to_have_attribute("data-state", "begun", timeout=PATIENCE)
    for held in weights:
        held.release()
    for tab in tabs:
        tab.wait()
        kept(tab)
    assert len(plans(visitor.page)) == 1
    for tab in tabs:
        tab.open()
        recalled(tab)
        tab.page.bring_to_front()
        seven(tab)


def test_one_that_python_refuses_is_made_anew(visitor, patch):
    """Its checksums are right: another version of Tallow in the same build, say."""
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
    expect(line(visitor, "plan")).to_contain_text("this is no plan that was kept")
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
