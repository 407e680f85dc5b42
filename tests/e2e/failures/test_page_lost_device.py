"""A lost device: another is opened and the question answered, in any situation. After the
second loss within a minute, NumPy computes until the visitor chooses WebGPU again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.conftest import watched_page
from tests.e2e.conftest import OPEN_DEVICE, Holding
from tests.e2e.device.test_page_tuning import Held
from tests.e2e.failures.test_page_worker import WORKERS, workers
from tests.e2e.keeping import line
from tests.e2e.open.opening import Opening

from tallow_build.environment.browser import until
from tallow_build.paths import ROOT

MNIST = ROOT / "models" / "mnist" / "mnist.onnx"
ADDRESS = "./?device=webgpu&model=squeezenet1_1"
WEIGHTS = "**/squeezenet1_1-*.onnx"

# Destroys the worker's newest device at the page's command: at once, or as soon as a pipeline
# is being made ("load") or a result is being mapped ("run").
LOSABLE = """
{
  const request = GPUAdapter.prototype.requestDevice;
  let newest, plan = [];
  GPUAdapter.prototype.requestDevice = async function (...args) {
    newest = await request.apply(this, args);
    return newest;
  };
  const strike = (now) => {
    if (plan[0] !== now) return;
    plan.shift();
    newest.destroy();
    new BroadcastChannel("struck").postMessage(now);
  };
  const make = GPUDevice.prototype.createComputePipelineAsync;
  GPUDevice.prototype.createComputePipelineAsync = function (...args) {
    const made = make.apply(this, args);
    strike("load");
    return made;
  };
  const map = GPUBuffer.prototype.mapAsync;
  GPUBuffer.prototype.mapAsync = function (...args) {
    const mapped = map.apply(this, args);
    strike("run");
    return mapped;
  };
  new BroadcastChannel("lose").onmessage = ({ data }) => {
    plan = data;
    strike("now");
    new BroadcastChannel("armed").postMessage(data);
  };
}
"""
CHANNELS = """
window.struck = 0;
new BroadcastChannel("struck").onmessage = () => { window.struck += 1; };
"""
ARM = """plan => new Promise(resolve => {
    window.struck = 0;
    new BroadcastChannel("armed").onmessage = resolve;
    new BroadcastChannel("lose").postMessage(plan);
})"""


class Losing:
    """A visitor whose device can be lost."""

    def __init__(self, visitor, patch) -> None:
        self.visitor = visitor
        self.page = visitor.page
        patch(self.page, "gpu/device.js", OPEN_DEVICE, f"{LOSABLE}{OPEN_DEVICE}")
        self.page.add_init_script(CHANNELS)
        self.lost = False

    def lose(self, *plan: str) -> None:
        """Loses the device "now", or in the next "run" or "load"; then as in the next argument."""
        self.lost = self.lost or bool(plan)
        self.page.evaluate(ARM, plan)

    def struck(self, times: int) -> None:
        """Waits until the device was lost so many times, since the last plan."""
        until(self.page, "window.struck === argument", times)

    def choose(self, device: str) -> None:
        """Chooses a device. Losses before do not count any more."""
        self.visitor.hook("device-select").select_option(device)
        self.computes(device)
        self.lost = False

    def computes(self, device: str) -> None:
        """Waits for the status; then this device computes."""
        self.visitor.wait()
        expect(self.visitor.device).to_have_attribute("data-device", device)
        expect(self.visitor.hook("device-select")).to_have_value(device)


@pytest.fixture(scope="module")
def losing_page(browser, server, visitor_of, patch) -> Iterator[Losing]:
    """A page for all tests but one, opened without a model of the site."""
    for page, _ in watched_page(browser, server):
        losing = Losing(visitor_of(page), patch)
        losing.visitor.open(f"{ADDRESS}#open")
        yield losing


@pytest.fixture
def losing(losing_page):
    """The visitor of that page, with WebGPU and as if no device was ever lost."""
    losing_page.lose()
    if losing_page.lost:
        losing_page.page.evaluate("location.hash = '#draw'")
        losing_page.visitor.wait()
        if losing_page.visitor.device.get_attribute("data-device") == "webgpu":
            losing_page.choose("numpy")
        losing_page.choose("webgpu")
    losing_page.computes("webgpu")
    return losing_page


def answered_on(here, device):
    """The model has answered on this device, and can be timed there."""
    took = here.hook("open-times")
    expect(took).to_have_attribute("data-device", device, timeout=120_000)
    here.rest()
    expect(took).to_be_visible()
    here.hook("open-time").click()
    here.rest()
    expect(here.hook("open-error")).to_be_hidden()
    return here.array("logits")


def timed(opening):
    """Has the visitor's model timed, which takes seconds."""
    opening.hook("open-runs").fill("1000")
    opening.rest()
    opening.hook("open-time").click()


def timed_again_on(opening, device):
    """After another device came meanwhile."""
    expect(opening.hook("open-error")).to_be_hidden()
    opening.rest()
    opening.hook("open-runs").fill("10")
    return answered_on(opening, device)


def test_the_visitor_s_model_is_run_and_timed_whatever_happens_to_the_device(losing):
    visitor = losing.visitor
    visitor.page.evaluate("location.hash = '#open'")
    opening = Opening(visitor)
    opening.choose(MNIST)
    losing.lose("run")
    opening.hook("open-run").click()
    losing.struck(1)
    first = answered_on(opening, "webgpu")

    timed(opening)
    visitor.hook("device-select").select_option("numpy")
    assert timed_again_on(opening, "numpy") == pytest.approx(first, abs=1e-4)

    losing.choose("webgpu")
    answered_on(opening, "webgpu")
    timed(opening)
    losing.lose("now")
    losing.struck(1)
    assert timed_again_on(opening, "webgpu") == pytest.approx(first, abs=1e-4)


def test_a_digit_is_read_and_after_two_losses_webassembly_computes_until_webgpu_is_chosen(losing):
    visitor = losing.visitor
    log = visitor.hook("boot-log").get_by_text("The GPU device was lost. Opening another")
    losses = log.count()
    visitor.show("Draw")
    visitor.draw_seven()
    assert visitor.read() == "7"
    losing.lose("now", "load")  # the second time while models are loaded again
    losing.struck(2)
    expect(log).to_have_count(losses + 1)
    losing.computes("wasm")
    assert visitor.read() == "7"
    expect(visitor.status).to_contain_text("lost twice")
    expect(visitor.device).to_contain_text("lost twice within a minute")
    visitor.hook("language-select").select_option("zh")
    expect(visitor.device).to_contain_text("丢失了两次")
    visitor.hook("language-select").select_option("en")

    losing.choose("webgpu")
    expect(visitor.status).to_contain_text("kernels")
    assert visitor.read() == "7"
    losing.lose("run")  # the first loss since then
    visitor.clear()
    visitor.draw_seven()
    losing.struck(1)
    assert visitor.read() == "7"
    expect(log).to_have_count(losses + 2)
    losing.computes("webgpu")
    expect(visitor.status).to_contain_text("kernels")

    losing.lose("run")
    visitor.clear()
    visitor.draw_seven()
    losing.struck(1)
    assert visitor.read() == "7"
    losing.computes("wasm")
    expect(visitor.status).to_contain_text("lost twice")


def test_lost_in_the_middle_of_loads_and_runs_a_photograph_is_recognised(losing, photos):
    visitor = losing.visitor
    losing.lose("load")
    visitor.show("Classify")
    losing.struck(1)
    losing.computes("webgpu")
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png")[0]["label"] == "espresso"
    losing.lose("run")
    visitor.choose(photos["chelsea"]["path"])
    losing.struck(1)
    assert "cat" in visitor.answer("chelsea.png")[0]["label"]
    losing.computes("wasm")
    visitor.show("Draw")
    if visitor.hook("digit-clear").is_visible():
        visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"


def test_lost_in_the_middle_of_tuning_while_another_model_comes(visitor, patch):
    losing = Losing(visitor, patch)
    held = Held(visitor, patch)
    visitor.page.add_init_script(WORKERS)
    visitor.open(ADDRESS)
    visitor.draw_seven()
    assert visitor.read() == "7"
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "ready", timeout=120_000)
    weights = Holding(visitor.page, WEIGHTS)
    held.hold()
    visitor.hook("tune").click()
    expect(visitor.hook("tuning-said")).to_contain_text("op 1 of", timeout=120_000)
    visitor.page.get_by_role("link", name="Classify", exact=True).click()
    loading = line(visitor, "kernels", "squeezenet1_1")
    expect(loading).to_have_attribute("data-state", "begun", timeout=120_000)
    losing.lose("now")
    losing.struck(1)
    held.go_on()
    weights.release()
    losing.computes("webgpu")
    visitor.show("Draw")
    assert visitor.read() == "7"
    expect(visitor.hook("tuning")).to_have_attribute("data-state", "idle", timeout=120_000)
    assert workers(visitor) == 1
