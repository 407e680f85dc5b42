"""The Kernels panel: the kernels of an answer, and how long each took. For a device that can't time
them see test_page_tuning.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.conftest import watched_page
from tests.e2e.classify.test_page_results import SHOWN_FOR_LONG
from tests.e2e.conftest import BRIEFLY, Regular, worker_of

from tallow_build.paths import ROOT

PATIENCE = 60_000

# Rounds the GPU's times to so many bits, as browsers may.
STAMPS = "for (const stamp of stamps)"
ROUND = """
const bits = BigInt(globalThis.bits ?? 0);
stamps.forEach((t, i) => (stamps[i] = (t >> bits) << bits));
"""
PROFILE = 'app.ask("profile", name, model.asked)'
BROKEN = f"(globalThis.broken ? globalThis.trial() : {PROFILE})"


def look(visitor: Any) -> list[Any]:
    """Opens the panel and returns its rows, once there are any."""
    visitor.hook("kernels-panel").locator("summary").click()
    return measured(visitor)


def measured(visitor: Any) -> list[Any]:
    """The rows, once the page's answer was profiled."""
    panel = visitor.hook("kernels-panel")
    expect(panel).to_have_attribute("data-state", "ready", timeout=PATIENCE)
    return list(visitor.hook("kernels-row").all())


def downloaded(visitor: Any, hook: str) -> tuple[str, Any]:
    """The name and the JSON of a button's download."""
    with visitor.page.expect_download() as download:
        visitor.hook(hook).click()
    return download.value.suggested_filename, json.loads(download.value.path().read_bytes())


@pytest.fixture(scope="module")
def regular_page(browser: Browser, server: str, patch: Any) -> Iterator[Regular]:
    """A page on which measurements are shorter than otherwise and the copy button shows its result
    for long; flags of the worker coarsen the GPU's clock or let profiles fail."""
    for page, _ in watched_page(browser, server):
        patch(page, *SHOWN_FOR_LONG)
        patch(page, *BRIEFLY)
        patch(page, "gpu/profile.js", STAMPS, f"{ROUND} {STAMPS}")
        patch(page, "worker/main.js", PROFILE, BROKEN)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield Regular(page)


@pytest.fixture
def visitor(regular: Regular) -> Iterator[Regular]:
    """A visitor who stays on one page for all tests."""
    yield regular
    worker_of(regular.page).evaluate("() => { globalThis.bits = globalThis.broken = 0; }")


def seven(visitor: Any, device: str = "webgpu") -> list[Any]:
    """A seven on this device; returns the rows of the panel."""
    # This model is lighter than the default for photographs, which the view would load.
    visitor.open(f"./?device={device}&model=squeezenet1_1")
    visitor.draw_seven()
    assert visitor.read() == "7"
    return look(visitor)


def seven_again(visitor: Any) -> None:
    """Another seven, with the panel as it is."""
    visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"


@pytest.mark.parametrize("device", ["webgpu", "wasm", "numpy"])
def test_each_kernel_has_its_share_of_the_time(visitor, device):
    rows = seven(visitor, device)
    shares = [float(row.get_attribute("data-share")) for row in rows]
    assert len(rows) > 5
    assert sum(shares) == pytest.approx(1, abs=0.01)
    names = [row.get_attribute("data-name") for row in rows]
    assert any("conv2d" in name for name in names)
    for row, share in zip(rows, shares, strict=True):
        expect(row).to_contain_text(f"{share * 100:.1f} %")
        expect(row).to_contain_text("ms")
        expect(row).to_contain_text("→")
    panel = visitor.hook("kernels-panel")
    expect(panel).to_have_attribute("data-source", "timestamp" if device == "webgpu" else "clock")
    expect(panel).to_contain_text("Measured by")
    assert visitor.read() == "7"  # profiling changed nothing
    if device == "numpy":
        expect(visitor.hook("kernels-wgsl")).to_contain_text("no code of its own")
        expect(visitor.hook("kernels-copy")).to_be_hidden()
    if device == "wasm":
        expect(visitor.hook("kernels-wgsl")).to_contain_text("f32x4.relaxed_madd")

    name, plan = downloaded(visitor, "kernels-plan")
    assert name == "mnist.plan.json"
    assert [step["name"] for step in plan["run"]] == names
    name, trace = downloaded(visitor, "kernels-trace")
    assert name == "mnist.trace.json"
    assert downloaded(visitor, "kernels-trace") == (name, trace)
    assert [event["name"] for event in trace["traceEvents"] if event["ph"] == "X"] == names


def test_a_kernel_shows_its_text_to_copy_and_selects_it_if_copying_is_not_allowed(visitor):
    rows = seven(visitor)
    code = visitor.hook("kernels-wgsl")
    for parts in (code.locator("span"), rows[0].locator("td, td *")):
        sizes = parts.evaluate_all(
            "all => all.map((e) => parseFloat(getComputedStyle(e).fontSize))"
        )
        assert 0 < max(sizes) < 20
    expect(code).to_contain_text("@compute")  # the slowest is chosen
    rows[0].click()
    first = code.text_content()
    rows[1].click()
    expect(code).not_to_have_text(first)
    expect(visitor.hook("kernels-panel").get_by_role("radio").nth(1)).to_be_checked()
    plan = downloaded(visitor, "kernels-plan")[1]
    assert code.text_content() == plan["modules"][plan["run"][1]["kernel"]["module"]].strip()
    for kind in ("keyword", "type", "number", "attribute"):
        assert code.locator(f".{kind}").count(), kind
    visitor.hook("kernels-copy").click()
    expect(visitor.hook("kernels-copy")).to_have_text("Copied")
    assert visitor.page.evaluate("navigator.clipboard.readText()") == code.text_content()
    visitor.page.evaluate(
        "navigator.clipboard.writeText = async () => { throw new Error('no') }; 0"
    )
    visitor.hook("kernels-copy").click()
    expect(visitor.hook("kernels-copy")).to_contain_text("keyboard")
    assert visitor.page.evaluate("getSelection().toString()").strip() == code.text_content()
    visitor.page.evaluate("delete navigator.clipboard.writeText")  # the browser's own again


def test_nothing_is_profiled_while_the_panel_is_closed_or_without_an_answer(visitor):
    visitor.open("./?device=webgpu&model=squeezenet1_1")
    panel = visitor.hook("kernels-panel")
    visitor.draw_seven()
    visitor.read()
    visitor.page.wait_for_timeout(600)  # longer than the page must be quiet
    expect(panel).to_have_attribute("data-state", "idle")
    panel.locator("summary").click()
    measured(visitor)
    visitor.clear()
    expect(visitor.hook("kernels-table")).to_be_hidden()
    expect(panel).to_contain_text("Draw a digit")


def test_a_coarse_clock_is_mentioned_and_one_that_stands_still_is_not_used(visitor):
    """Browsers may round the GPU's times."""
    seven(visitor)
    panel = visitor.hook("kernels-panel")
    cases = [(16, "timestamp", "it ticks every"), (60, "counted", "not measured")]
    for bits, source, words in cases:
        worker_of(visitor.page).evaluate("(bits) => { globalThis.bits = bits; }", bits)
        seven_again(visitor)
        measured(visitor)
        expect(panel).to_have_attribute("data-source", source)
        expect(panel).to_contain_text(words)


def test_the_keyboard_goes_through_the_kernels(visitor):
    visitor.open("./?device=webgpu&model=squeezenet1_1")
    visitor.draw_seven()
    visitor.read()
    visitor.hook("kernels-panel").locator("summary").focus()
    visitor.page.keyboard.press("Enter")
    rows = measured(visitor)
    for _ in range(5):  # tuning, the order, two downloads, the chosen kernel
        visitor.page.keyboard.press("Tab")
    radios = visitor.hook("kernels-panel").get_by_role("radio")
    expect(radios.and_(visitor.page.locator(":checked"))).to_be_focused()
    texts = set()
    for _ in rows:
        visitor.page.keyboard.press("ArrowDown")
        texts.add(visitor.page.locator("#kernel-title").text_content())
    assert len(texts) == len(rows)
    visitor.hook("kernels-panel").get_by_label("Order").select_option("time")
    shares = [float(r.get_attribute("data-share")) for r in visitor.hook("kernels-row").all()]
    assert shares == sorted(shares, reverse=True)
    visitor.hook("kernels-panel").get_by_label("Order").select_option("run")


def test_fits_any_width(visitor):
    seven(visitor)
    for width in (320, 768, 1280, 2560):
        visitor.page.set_viewport_size({"width": width, "height": 800})
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
        table = visitor.hook("kernels-table").bounding_box()
        assert table["x"] >= 0 and table["x"] + table["width"] <= width


def test_a_failure_is_shown_and_can_be_tried_again(visitor):
    visitor.open("./?device=webgpu&model=squeezenet1_1")
    worker_of(visitor.page).evaluate("() => { globalThis.broken = true; }")
    visitor.draw_seven()
    assert visitor.read() == "7"
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "error", timeout=PATIENCE)
    expect(panel).to_contain_text("could not be timed: an unexpected error")
    expect(visitor.hook("kernels-table")).to_be_hidden()
    panel.get_by_role("button", name="Try again").click()
    expect(panel).to_have_attribute("data-state", "error", timeout=PATIENCE)
    seven_again(visitor)
    expect(panel).to_have_attribute("data-state", "error", timeout=PATIENCE)
    worker_of(visitor.page).evaluate("() => { globalThis.broken = false; }")
    panel.get_by_role("button", name="Try again").click()
    measured(visitor)


def test_the_kernels_are_those_of_the_last_answer(visitor, photos):
    digits = len(seven(visitor))
    visitor.show("Classify")
    expect(visitor.hook("kernels-table")).to_be_hidden()
    expect(visitor.hook("model-select")).to_have_value("squeezenet1_1")
    visitor.choose(photos["coffee"]["path"])
    visitor.answer("coffee.png")
    assert len(measured(visitor)) > digits
    assert downloaded(visitor, "kernels-plan")[0] == "squeezenet1_1.plan.json"
    visitor.show("Draw")
    assert len(measured(visitor)) == digits
    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    visitor.read()
    expect(visitor.hook("kernels-wgsl")).to_contain_text("no code of its own", timeout=PATIENCE)


def test_python_in_the_browser_profiles_sessions(browser_python):
    notebook = browser_python("webgpu")
    notebook.write("mnist.onnx", (ROOT / "models" / "mnist" / "mnist.onnx").read_bytes())
    code = """
import numpy as np, tallow as tl
session = await tl.onnx.load("mnist.onnx").session_async()
(port,) = session.plan.inputs
feeds = {port.name: np.zeros(port.shape, np.float32)}
profile = await session.profile_async(feeds)
result = [profile.source, sum(kernel.share for kernel in profile), str(profile)]
session.close()
result
"""
    source, shares, table = notebook.run(code)
    assert source == "timestamp"
    assert shares == pytest.approx(1)
    assert "conv2d" in table
