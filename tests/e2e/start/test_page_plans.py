"""Plans saved on an earlier visit, in the page. For the storage see tests/js/plans.test.js."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import Page, Route, expect
from tests.conftest import watched_page
from tests.e2e.conftest import OPEN_DEVICE, Holding, worker_of
from tests.e2e.keeping import (
    DAMAGE,
    change,
    kept,
    kept_in_all,
    line,
    plans,
    recalled,
)

from tallow_build.environment.browser import until

PATIENCE = 120_000
# How many plans the worker's Python, which is started for this, has compiled.
SERVE = "const actions = {\n  begin,\n"
TELL = """
new BroadcastChannel("ask").onmessage = () => app.inTurn(async () => {
  const count = (await app.start()).pyodide.runPython(`
import tallow_page.plan_registry
int(repr(tallow_page.plan_registry._numbers)[len("count("):-1]) - 1
`);
  new BroadcastChannel("count").postMessage(count);
});
"""
COUNT = """() => new Promise((resolve) => {
  new BroadcastChannel("count").onmessage = ({ data }) => resolve(data);
  new BroadcastChannel("ask").postMessage("now");
})"""
# NumPy's Python gets a text that is no plan while globalThis.spoiled is true.
RECALLED = "name, card, text, ...given"
SPOILED = "name, card, globalThis.spoiled && !given[0] ? '{}' : text, ...given"
REFUSE = """() => {
  Cache.prototype.put = async () => {
    throw new DOMException("no storage here", "QuotaExceededError");
  };
}"""
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


def seven(visitor: Any, device: str = "webgpu") -> list[str]:
    """Draws a seven on a new page; returns the ten probabilities."""
    visitor.open(f"./?device={device}")
    visitor.draw_seven()
    return probabilities(visitor)


def probabilities(visitor: Any) -> list[str]:
    """Of the digits, for a seven."""
    assert visitor.read() == "7"
    bars = visitor.page.locator("#view-draw .bars li")
    return [bar.get_attribute("data-probability") or "" for bar in bars.all()]


def use(visitor: Any, device: str) -> list[str]:
    """Chooses a device; returns its probabilities for the seven on the pad."""
    visitor.hook("device-select").select_option(device)
    visitor.wait()
    expect(visitor.device).to_have_attribute("data-device", device)
    return probabilities(visitor)


class Files:
    """Blocks the models' files until allow(), and notes those that are requested."""

    def __init__(self, page: Page) -> None:
        self.asked: list[str] = []
        self._page = page
        for path in ("**/*.onnx", "**/*.graph"):
            page.route(path, self._block)

    def _block(self, route: Route) -> None:
        self.asked.append(route.request.url)
        route.abort()

    def allow(self) -> None:
        """Lets them arrive. Until now, none was requested."""
        assert self.asked == []
        for path in ("**/*.onnx", "**/*.graph"):
            self._page.unroute(path, self._block)


def shown(visitor: Any, device: str) -> None:
    """Checks that the device computes from a saved plan, as the boot log says, and that nothing was
    compiled."""
    recalled(visitor)
    expect(visitor.device).to_have_attribute("data-device", device)
    expect(line(visitor, "kernels")).to_have_attribute("data-state", "done")
    expect(line(visitor, "plan")).to_have_text(
        re.compile(r"^Plan of mnist, from an earlier visit [\d.]+ [kM]B [\d.]+ m?s $")
    )
    assert visitor.page.evaluate(COUNT) == 0


def test_later_visits_read_no_model_and_compile_nothing_unless_the_plan_is_bad(visitor, patch):
    """On both devices. The panel, the comparison, tuning and another device fetch the file if they
    need it. Refused storage is reported. A plan that is damaged or that Python refuses is compiled
    again; if the device is lost, the plan is not to blame. For other damage see
    tests/js/plans.test.js."""
    page = visitor.page
    patch(page, "worker/main.js", SERVE, TELL + SERVE)
    patch(page, "worker/models/models.js", RECALLED, SPOILED)
    first = seven(visitor)
    assert page.evaluate(COUNT) == 1
    kept(visitor)
    storage_is_refused(visitor)

    files = Files(page)
    assert seven(visitor) == first
    shown(visitor, "webgpu")
    visitor.hook("language-select").select_option("zh")
    expect(visitor.hook("boot-log")).to_contain_text("mnist 的计划")
    visitor.hook("language-select").select_option("en")
    files.allow()
    the_graph_is_needed(visitor)
    before = plans(page)
    by_numpy = use(visitor, "numpy")
    kept_in_all(page, 3)  # by the rule, as tuned, and for NumPy
    (plan_of_numpy,) = set(plans(page)) - set(before)
    files = Files(page)
    tuned = use(visitor, "webgpu")
    assert files.asked == []

    assert seven(visitor, "numpy") == by_numpy
    shown(visitor, "numpy")
    files.allow()
    bad_plans(visitor, plan_of_numpy, tuned, by_numpy)

    found = plans(page)
    files = Files(page)
    patch(page, "gpu/device.js", OPEN_DEVICE, LOSE + OPEN_DEVICE)
    assert seven(visitor) == tuned
    expect(visitor.hook("boot-log")).to_contain_text("The GPU device was lost")
    shown(visitor, "webgpu")  # the plan is not to blame, and is used on the next device
    assert plans(page) == found
    files.allow()


def storage_is_refused(visitor: Any) -> None:
    """That is reported, and nothing else happens: the other device's plan is not saved."""
    page = visitor.page
    worker_of(page).evaluate(REFUSE)
    use(visitor, "numpy")
    assert page.evaluate(COUNT) == 2
    failed = line(visitor, "keep")
    expect(failed).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(failed).to_contain_text("no storage here")
    assert len(plans(page)) == 1


def the_graph_is_needed(visitor: Any) -> None:
    """By some actions on a page that had only the plan."""
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    expect(panel).to_contain_text("conv2d")
    expect(line(visitor, "model")).to_have_count(0)
    visitor.hook("check-numpy").click()
    expect(visitor.hook("check-result")).to_contain_text("the devices agree", timeout=PATIENCE)
    expect(line(visitor, "model")).to_have_attribute("data-state", "done")
    expect(line(visitor, "keep")).to_have_count(0)  # there was nothing to save on this visit
    visitor.hook("tune").click()
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "idle", timeout=PATIENCE)
    assert visitor.read() == "7"
    kept(visitor)
    panel.locator("summary").click()


def bad_plans(visitor: Any, plan_of_numpy: str, tuned: list[str], by_numpy: list[str]) -> None:
    """WebGPU's are damaged, and Python refuses NumPy's, though its checksums are right, as if it
    were by another version of Tallow in the same build. This begins on NumPy."""
    page, plan = visitor.page, line(visitor, "plan")
    put = f"""async (bytes, cache, url) => {{
        if (url === {json.dumps(plan_of_numpy)}) return;
        ({DAMAGE["a byte of a weight"]})(bytes);
        await cache.put(url, new Response(bytes));
    }}"""
    change(page, put)
    assert use(visitor, "webgpu") == tuned
    expect(plan).to_have_attribute("data-state", "failed")
    expect(plan).to_contain_text("is damaged; it will be compiled again")
    expect(line(visitor, "model")).to_have_attribute("data-state", "done")
    assert page.evaluate(COUNT) == 1
    kept(visitor)
    worker_of(page).evaluate("() => { globalThis.spoiled = true; }")
    assert use(visitor, "numpy") == by_numpy
    expect(plan).to_have_attribute("data-state", "failed")
    expect(plan).to_contain_text("this is not a stored plan")
    assert page.evaluate(COUNT) == 2
    kept_in_all(page, 3)


def test_webassembly_answers_before_python_which_adopts_its_program(visitor: Any) -> None:
    first = seven(visitor, "wasm")
    kept(visitor)
    python = Holding(visitor.page, "**/pyodide.asm.wasm")
    assert seven(visitor, "wasm") == first
    recalled(visitor)
    expect(visitor.device).to_have_attribute("data-device", "wasm")
    expect(
        visitor.hook("boot-log").locator("[data-stage=snapshot][data-state=done]")
    ).to_have_count(0)
    python.release()
    visitor.hook("check-numpy").click()  # Python computes with that program, too
    result = visitor.hook("check-result")
    expect(result).to_contain_text("the devices agree", timeout=PATIENCE)
    visitor.clear()
    visitor.draw_seven()
    assert probabilities(visitor) == first


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
        expect(visitor.device).to_have_attribute("data-device", "wasm")
        visitor.draw_seven()
        assert visitor.read() == "7"
        storage = visitor.hook("boot-log").locator("[data-stage=storage]")
        expect(storage).to_contain_text("without https")


def test_heat_maps_and_photographs_from_a_plan(visitor, photos):
    visitor.open("./?model=squeezenet1_1#classify")
    visitor.choose(photos["coffee"]["path"])
    first = visitor.answer("coffee.png")
    kept(visitor, "squeezenet1_1")
    files = Files(visitor.page)
    visitor.page.reload()
    visitor.wait()
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png") == first
    recalled(visitor, "squeezenet1_1")
    visitor.hook("heat").click()
    until(visitor.page, "document.querySelector('.mattered progress').value > 1")
    visitor.hook("heat").click()
    assert files.asked == []
