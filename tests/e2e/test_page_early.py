"""A second visit: a plan that was kept answers on WebGPU before Python is there, whatever becomes
of Python, the device or the worker then."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.conftest import OPEN_DEVICE, Holding
from tests.e2e.test_page_lost_device import Losing
from tests.e2e.test_page_plans import kept, line, recalled, seven
from tests.e2e.test_page_worker import CRASH, WORKERS, workers

from tallow_build.browser import until

PATIENCE = 120_000
WASM = "**/pyodide.asm.wasm"
SNAPSHOT = "**/runtime/snapshot-*.bin"

# Before this, in the worker's bundle, a test may change how Python is told of the device.
TOLD = 'emit("python", { failed: false });'


def hold_python(page: Page) -> Holding:
    """Python's files do not come, until they are let."""
    return Holding(page, WASM, SNAPSHOT)


def break_python(page: Page) -> None:
    page.route(WASM, lambda route: route.fulfill(status=404))


def mend_python(page: Page) -> None:
    page.unroute(WASM)


def second(visitor) -> list[str]:
    """Somebody who has been here once; the answer of that time."""
    visitor.open()
    first = seven(visitor)
    kept(visitor)
    return first


def python_failed(visitor) -> None:
    """Waits until the boot log says that Python could not be started."""
    stage = visitor.hook("boot-log").locator("[data-stage=snapshot]")
    expect(stage).to_have_attribute("data-state", "failed", timeout=PATIENCE)


def test_answers_come_before_python_and_the_page_says_what_it_said(visitor):
    first = second(visitor)
    status = visitor.status.locator(".words").text_content()
    adapter = visitor.device.get_attribute("data-adapter")
    python = hold_python(visitor.page)
    visitor.open()
    assert seven(visitor) == first
    recalled(visitor)
    assert visitor.status.locator(".words").text_content() == status
    assert visitor.device.get_attribute("data-device") == "webgpu"
    assert visitor.device.get_attribute("data-adapter") == adapter
    assert float(visitor.latency.get_attribute("data-ms") or "") > 0
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "waiting")
    visitor.clear()
    assert seven(visitor) == first  # while the panel waits for Python
    expect(
        visitor.hook("boot-log").locator("[data-stage=snapshot][data-state=done]")
    ).to_have_count(0)
    python.release()
    expect(panel).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    visitor.hook("check-numpy").click()
    expect(visitor.hook("check-result")).to_contain_text("WebGPU and NumPy agree", timeout=PATIENCE)


def test_python_starts_by_itself_when_nothing_is_asked(visitor):
    second(visitor)
    visitor.open()
    stage = visitor.hook("boot-log").locator("[data-stage=snapshot]")
    expect(stage).to_have_attribute("data-state", "done", timeout=PATIENCE)
    recalled(visitor)


def test_where_nothing_was_kept_python_does_not_wait_for_the_device(visitor, patch):
    never = f"{OPEN_DEVICE}) {{ await new Promise(() => {{}}); }}\nasync function unused("
    patch(visitor.page, "gpu/device.js", OPEN_DEVICE, never)
    visitor.page.goto("./")
    stage = visitor.hook("boot-log").locator("[data-stage=snapshot]")
    expect(stage).to_have_attribute("data-state", "done", timeout=PATIENCE)


def test_a_python_that_does_not_start_is_told_where_it_is_needed(visitor):
    first = second(visitor)
    page = visitor.page
    break_python(page)
    visitor.open()
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


def test_what_needs_python_has_it_started_again(visitor):
    second(visitor)
    break_python(visitor.page)
    visitor.open()
    seven(visitor)
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "error", timeout=PATIENCE)
    mend_python(visitor.page)
    panel.get_by_role("button", name="Try again").click()
    expect(panel).to_have_attribute("data-state", "ready", timeout=PATIENCE)


@pytest.mark.parametrize("begun", [False, True])
def test_a_device_that_is_lost_before_python_is_there(visitor, patch, begun):
    losing = Losing(visitor, patch)
    second(visitor)
    python = hold_python(visitor.page)
    with visitor.page.expect_request(WASM, timeout=PATIENCE) if begun else nullcontext():
        visitor.open()
    losing.lose("run")
    visitor.draw_seven()
    losing.struck(1)
    assert visitor.read() == "7"
    losing.computes("webgpu")
    python.release()
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "ready", timeout=PATIENCE)


def test_a_switch_to_numpy_before_python_is_there(visitor):
    second(visitor)
    python = hold_python(visitor.page)
    visitor.open()
    seven(visitor)
    visitor.hook("device-select").select_option("numpy")
    expect(visitor.status).to_have_attribute("data-state", "loading")
    python.release()
    visitor.wait()
    assert visitor.read() == "7"
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    visitor.hook("device-select").select_option("webgpu")
    visitor.wait()
    assert visitor.read() == "7"
    expect(visitor.device).to_have_attribute("data-device", "webgpu")


def test_a_plan_that_python_refuses_is_made_anew_behind_the_answers(visitor, patch):
    first = second(visitor)
    load = "name, card, text, ...given"
    patch(visitor.page, "worker/models/models.js", load, load.replace("text", "'{}'"))
    visitor.open()
    assert seven(visitor) == first
    expect(line(visitor, "plan")).to_contain_text("this is no plan that was kept", timeout=PATIENCE)
    kept(visitor)
    visitor.clear()
    assert seven(visitor) == first


def test_a_worker_that_dies_before_python_is_there_is_replaced(visitor):
    visitor.page.add_init_script(WORKERS)
    second(visitor)
    python = hold_python(visitor.page)
    visitor.open()
    seven(visitor)
    visitor.page.evaluate(CRASH)
    visitor.wait()
    assert visitor.read() == "7"
    assert workers(visitor) == 2
    python.release()
    log = visitor.hook("boot-log")
    expect(log.locator("[data-stage=tallow]")).to_have_attribute(
        "data-state", "done", timeout=PATIENCE
    )  # without the snapshot


def test_a_python_that_fails_each_worker_is_given_up_on_though_they_answer(visitor, patch):
    visitor.page.add_init_script(WORKERS)
    second(visitor)
    patch(visitor.page, "worker/app.js", TOLD, "setTimeout(() => oh.no);")
    visitor.page.goto("./")
    visitor.draw_seven()
    expect(visitor.status).to_have_attribute("data-state", "error", timeout=PATIENCE)
    expect(visitor.status).to_contain_text("oh is not defined")
    assert workers(visitor) == 3
    visitor.page.unroute_all(behavior="wait")
    visitor.status.get_by_role("button", name="Try again").click()
    visitor.wait()
    assert visitor.read() == "7"


@pytest.mark.parametrize("fault", ["missing", "late"])
def test_without_the_first_module_the_page_starts_the_worker(visitor, fault):
    visitor.page.add_init_script(WORKERS)
    first = second(visitor)
    held = []
    if fault == "missing":
        visitor.page.route("**/boot/begin-*.js", lambda route: route.abort())
    else:
        visitor.page.route("**/boot/begin-*.js", lambda route: held.append(route))
    python = hold_python(visitor.page)
    visitor.page.goto("./", wait_until="commit")
    visitor.wait()
    assert seven(visitor) == first
    for route in held:
        route.continue_()
    python.release()
    until(visitor.page, "document.readyState === 'complete'")
    assert workers(visitor) == 1
