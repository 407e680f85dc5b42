"""A second visit: a saved plan answers on WebGPU without Python, whatever happens to
Python, the device or the worker then."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from tests.conftest import Watch
from tests.e2e.conftest import OPEN_DEVICE, Holding
from tests.e2e.failures.test_page_lost_device import Losing
from tests.e2e.failures.test_page_worker import CRASH, WORKERS, workers
from tests.e2e.keeping import kept, recalled

from tallow_build.environment.browser import until

PATIENCE = 120_000
WASM = "**/pyodide.asm.wasm"
SNAPSHOT = "**/runtime/snapshot-*.bin"


def hold_python(page: Page) -> Holding:
    """Holds back Python's files until they are released."""
    return Holding(page, WASM, SNAPSHOT)


def break_python(page: Page) -> None:
    page.route(WASM, lambda route: route.fulfill(status=404))


def mend_python(page: Page) -> None:
    page.unroute(WASM)


def seven(visitor) -> list[str]:
    """Draws a seven; returns the ten probabilities."""
    visitor.draw_seven()
    assert visitor.read() == "7"
    bars = visitor.page.locator("#view-draw .bars li")
    return [bar.get_attribute("data-probability") or "" for bar in bars.all()]


@pytest.fixture(scope="module")
def been_here(browser, server, visitor_of):
    """A context with one earlier visit, and what the page showed then."""
    with browser.new_context(
        base_url=server, viewport={"width": 1280, "height": 900}, service_workers="block"
    ) as context:
        visitor = visitor_of(context.new_page())
        visitor.open("./?device=webgpu")
        shown = {
            "answer": seven(visitor),
            "status": visitor.status.locator(".words").text_content(),
            "adapter": visitor.device.get_attribute("data-adapter"),
        }
        kept(visitor)
        visitor.page.close()
        yield context, shown


@pytest.fixture
def first(been_here):
    """The answer of the first visit."""
    return been_here[1]["answer"]


@pytest.fixture
def visitor(been_here, server, visitor_of):
    """The same visitor on a second visit."""
    page = been_here[0].new_page()
    watch = Watch(page, server)
    yield visitor_of(page)
    page.unroute_all(behavior="ignoreErrors")
    page.close()
    watch.check()


@pytest.fixture
def newcomer(page, visitor_of):
    """A visitor on a first visit."""
    return visitor_of(page)


def python_failed(visitor) -> None:
    """Waits until the boot log says that Python could not be started."""
    stage = visitor.hook("boot-log").locator("[data-stage=snapshot]")
    expect(stage).to_have_attribute("data-state", "failed", timeout=PATIENCE)


def test_answers_come_before_python_and_the_page_shows_the_same(visitor, been_here, patch):
    """The device may be lost meanwhile."""
    shown = been_here[1]
    first = shown["answer"]
    losing = Losing(visitor, patch)
    python = hold_python(visitor.page)
    visitor.open("./?device=webgpu")
    assert seven(visitor) == first
    recalled(visitor)
    assert visitor.status.locator(".words").text_content() == shown["status"]
    assert visitor.device.get_attribute("data-device") == "webgpu"
    assert visitor.device.get_attribute("data-adapter") == shown["adapter"]
    assert float(visitor.latency.get_attribute("data-ms") or "") > 0
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "waiting")
    visitor.clear()
    assert seven(visitor) == first  # while the panel waits for Python
    losing.lose("run")
    visitor.clear()
    visitor.draw_seven()
    losing.struck(1)
    assert visitor.read() == "7"
    losing.computes("webgpu")
    expect(
        visitor.hook("boot-log").locator("[data-stage=snapshot][data-state=done]")
    ).to_have_count(0)
    python.release()
    expect(panel).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    visitor.hook("check-numpy").click()
    expect(visitor.hook("check-result")).to_contain_text("the devices agree", timeout=PATIENCE)


def test_without_a_saved_plan_python_does_not_wait_for_the_device(newcomer, patch):
    visitor = newcomer
    never = f"{OPEN_DEVICE}) {{ await new Promise(() => {{}}); }}\nasync function unused("
    patch(visitor.page, "gpu/device.js", OPEN_DEVICE, never)
    visitor.page.goto("./?device=webgpu")
    stage = visitor.hook("boot-log").locator("[data-stage=snapshot]")
    expect(stage).to_have_attribute("data-state", "done", timeout=PATIENCE)


def test_a_failed_start_of_python_is_shown_where_it_is_needed(visitor, first):
    page = visitor.page
    break_python(page)
    visitor.open("./?device=webgpu&model=squeezenet1_1")
    assert seven(visitor) == first
    python_failed(visitor)
    visitor.clear()
    assert seven(visitor) == first
    expect(visitor.status).to_have_attribute("data-state", "ready")
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "error", timeout=PATIENCE)
    expect(panel).to_contain_text("pyodide.asm.wasm")
    visitor.page.get_by_role("link", name="Classify", exact=True).click()
    expect(visitor.status).to_have_attribute("data-state", "error", timeout=PATIENCE)
    expect(visitor.status).to_contain_text("pyodide.asm.wasm")
    mend_python(page)
    visitor.status.get_by_role("button", name="Try again").click()
    visitor.wait()
    visitor.show("Draw")
    assert visitor.read() == "7"
    expect(panel).to_have_attribute("data-state", "ready", timeout=PATIENCE)


def test_a_late_first_module_a_dead_worker_and_a_switch_to_numpy_before_python(visitor, first):
    visitor.page.add_init_script(WORKERS)
    held = []
    visitor.page.route("**/boot/begin-*.js", lambda route: held.append(route))
    python = hold_python(visitor.page)
    visitor.page.goto("./?device=webgpu", wait_until="commit")
    visitor.wait()  # the page has started the worker
    assert seven(visitor) == first
    for route in held:
        route.continue_()
    until(visitor.page, "document.readyState === 'complete'")
    assert workers(visitor) == 1

    visitor.clear()
    visitor.draw_seven()
    visitor.page.evaluate(CRASH)  # with a question under way, or just answered
    visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 2
    expect(visitor.device).to_have_attribute("data-device", "webgpu")

    visitor.hook("device-select").select_option("numpy")
    expect(visitor.status).to_have_attribute("data-state", "loading")
    python.release()
    visitor.wait()
    assert visitor.read() == "7"
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    tallow = visitor.hook("boot-log").locator("[data-stage=tallow]")
    expect(tallow).to_have_attribute("data-state", "done")  # without the snapshot
    visitor.hook("device-select").select_option("webgpu")
    visitor.wait()
    assert visitor.read() == "7"
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
