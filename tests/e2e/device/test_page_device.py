"""The device: which one computes, how it is chosen, and what is shown if WebGPU is unavailable.

The adapter of tests runs on the CPU, so the page's default is WebAssembly.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import OPEN_DEVICE

NUMBER = re.compile(r"\d")


@pytest.fixture
def visitor(regular):
    """One page for all tests that do not need a fresh one."""
    return regular


def test_with_an_adapter_on_the_cpu_webassembly_is_the_default(newcomer):
    """WebGPU can be chosen, and names its adapter."""
    visitor = newcomer
    visitor.open()
    select = visitor.hook("device-select")
    expect(select).to_have_value("wasm")
    expect(visitor.device).to_have_attribute("data-device", "wasm")
    expect(visitor.device).to_contain_text("WebAssembly")
    expect(select.locator("[value=webgpu]")).to_be_enabled()
    select.select_option("webgpu")
    visitor.wait()
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    adapter = visitor.device.get_attribute("data-adapter")
    assert adapter
    expect(visitor.device).to_have_text(adapter)
    expect(visitor.status).to_contain_text("kernels")


@pytest.mark.parametrize("device", ["webgpu", "wasm"])
def test_only_numpy_needs_numpy(newcomer, device):
    visitor = newcomer
    asked = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.open(f"./?device={device}")
    expect(visitor.device).to_have_attribute("data-device", device)
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert asked
    assert not [url for url in asked if "numpy" in url]


def test_the_address_chooses_numpy_and_opens_no_gpu(newcomer):
    visitor = newcomer
    visitor.open("./?device=numpy")
    expect(visitor.hook("device-select")).to_have_value("numpy")
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    expect(visitor.device).to_contain_text("NumPy")


def test_webassembly_reads_digits_and_photographs_as_numpy_does(visitor, photos):
    visitor.open("./?device=wasm")
    expect(visitor.hook("device-select")).to_have_value("wasm")
    expect(visitor.device).to_have_attribute("data-device", "wasm")
    expect(visitor.device).to_contain_text("WebAssembly")
    visitor.draw_seven()
    assert visitor.read() == "7"
    visitor.show("Classify")
    visitor.choose(photos["coffee"]["path"])
    found = [each["label"] for each in visitor.answer("coffee.png")]
    assert found[0] == "espresso"
    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    assert [each["label"] for each in visitor.answer("coffee.png")] == found


def test_switching_there_and_back_answers_what_is_on_the_page(visitor):
    visitor.open("./?device=webgpu")
    visitor.draw_seven()
    assert visitor.read() == "7"
    for device in ("numpy", "wasm", "webgpu", "numpy"):
        visitor.hook("device-select").select_option(device)
        visitor.wait()
        expect(visitor.device).to_have_attribute("data-device", device)
        assert visitor.read() == "7"
        assert f"device={device}" in visitor.page.url


def test_the_last_of_quick_switches_counts(visitor):
    visitor.open("./?device=wasm")
    visitor.draw_seven()
    for device in ("numpy", "webgpu", "numpy", "webgpu"):
        visitor.hook("device-select").select_option(device)
    visitor.wait()
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    assert visitor.read() == "7"


def test_without_webgpu_webassembly_answers_and_the_reason_is_shown(visitor_without_webgpu, photos):
    visitor = visitor_without_webgpu
    visitor.open()
    expect(visitor.device).to_have_attribute("data-device", "wasm")
    expect(visitor.device).to_contain_text("WebGPU is unavailable")
    select = visitor.hook("device-select")
    expect(select).to_have_value("wasm")
    expect(select.locator("[value=webgpu]")).to_be_disabled()
    visitor.draw_seven()
    assert visitor.read() == "7"
    visitor.hook("compare-run").click()
    assert compared(visitor) == ["wasm", "numpy"]
    visitor.show("Classify")
    visitor.choose(photos["coffee"]["path"])
    assert visitor.answer("coffee.png")[0]["label"] == "espresso"


def test_if_numpy_was_requested_webgpu_is_tried_only_on_request(visitor_without_webgpu):
    visitor = visitor_without_webgpu
    visitor.open("./?device=numpy")
    select = visitor.hook("device-select")
    expect(select.locator("[value=webgpu]")).to_be_enabled()
    select.select_option("webgpu")
    visitor.wait()
    expect(select).to_have_value("wasm")
    expect(visitor.device).to_contain_text("WebGPU is unavailable")
    visitor.draw_seven()
    assert visitor.read() == "7"


def compared(visitor):
    """The devices of the bars, which are shown for the first run and for warm ones."""
    bars = visitor.hook("compare-result").locator("li")
    expect(bars.last).to_have_attribute("data-ms", NUMBER, timeout=60_000)
    found = [
        (bar.get_attribute("data-run"), bar.get_attribute("data-device")) for bar in bars.all()
    ]
    assert all(float(bar.get_attribute("data-ms")) > 0 for bar in bars.all())
    devices = [device for run, device in found if run == "first"]
    assert found == [(run, device) for run in ("first", "warm") for device in devices]
    return devices


def test_the_devices_agree_and_their_times_are_side_by_side(visitor, photos):
    visitor.open("./?device=webgpu&model=squeezenet1_1")
    check, checked = visitor.hook("check-numpy"), visitor.hook("check-result")
    compare, bars = visitor.hook("compare-run"), visitor.hook("compare-result").locator("li")
    visitor.draw_seven()
    assert visitor.read() == "7"
    check.click()
    expect(checked).to_have_attribute("data-max-diff", NUMBER, timeout=60_000)
    assert 0 <= float(checked.get_attribute("data-max-diff")) < 1e-4
    expect(checked).to_contain_text("among the 10 probabilities")
    expect(checked).to_contain_text("agree")
    compare.click()
    assert compared(visitor) == ["webgpu", "wasm", "numpy"]
    visitor.hook("language-select").select_option("zh")
    expect(bars.first).to_contain_text("首次 · WebGPU")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    visitor.hook("language-select").select_option("en")

    visitor.show("Classify")  # there is no answer to check
    expect(check).to_be_disabled()
    expect(check).to_have_attribute("title", "Draw a digit or choose a photograph first.")
    assert checked.get_attribute("data-max-diff") is None
    expect(bars).to_have_count(0)
    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    visitor.choose(photos["coffee"]["path"])
    visitor.answer("coffee.png")
    check.click()
    expect(checked).to_have_attribute("data-max-diff", NUMBER, timeout=60_000)
    assert 0 <= float(checked.get_attribute("data-max-diff")) < 1e-3
    expect(checked).to_contain_text("among the 1000 probabilities")
    expect(visitor.device).to_have_attribute("data-device", "numpy")
    expect(visitor.status).to_have_attribute("data-state", "ready")


def test_if_numpy_is_unavailable_the_check_says_so_and_webassembly_continues(newcomer):
    visitor = newcomer
    visitor.open()
    visitor.page.route("**/numpy*.whl", lambda route: route.fulfill(status=404))
    visitor.draw_seven()
    assert visitor.read() == "7"
    visitor.hook("check-numpy").click()
    expect(visitor.hook("check-result")).to_contain_text("numpy")
    expect(visitor.hook("check-result")).to_contain_text("missing from the server (404)")
    visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"
    expect(visitor.device).to_have_attribute("data-device", "wasm")


def test_an_adapter_that_refuses_the_device_leaves_webassembly(newcomer, patch):
    visitor = newcomer
    refuse = """
        GPUAdapter.prototype.requestDevice = () =>
            Promise.reject(new DOMException("limits too high", "OperationError"));
    """
    patch(visitor.page, "gpu/device.js", OPEN_DEVICE, f"{refuse}{OPEN_DEVICE}")
    visitor.open()
    expect(visitor.device).to_have_attribute("data-device", "wasm")
    expect(visitor.device).to_contain_text("refused to open a device: limits too high")
    visitor.draw_seven()
    assert visitor.read() == "7"
