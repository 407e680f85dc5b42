"""The Kernels panel: the kernels of an answer, and how long each took."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.test_page_results import SHOWN_FOR_LONG

from tallow_build.paths import ROOT

PATIENCE = 60_000


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


@pytest.fixture
def visitor(regular):
    """One page for all tests that do not need a fresh one."""
    return regular


@pytest.mark.parametrize("device", ["webgpu", "numpy"])
def test_each_kernel_has_its_share_of_the_time(visitor, device):
    visitor.open(f"./?device={device}")
    visitor.draw_seven()
    assert visitor.read() == "7"
    rows = look(visitor)
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

    name, plan = downloaded(visitor, "kernels-plan")
    assert name == "mnist.plan.json"
    assert [step["name"] for step in plan["run"]] == names
    name, trace = downloaded(visitor, "kernels-trace")
    assert name == "mnist.trace.json"
    assert downloaded(visitor, "kernels-trace") == (name, trace)
    assert [event["name"] for event in trace["traceEvents"] if event["ph"] == "X"] == names


def test_a_kernel_shows_its_text_to_copy(newcomer, patch):
    visitor = newcomer
    patch(visitor.page, *SHOWN_FOR_LONG)
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.open()
    visitor.draw_seven()
    visitor.read()
    rows = look(visitor)
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


def test_if_copying_is_not_allowed_the_code_is_selected(newcomer, patch):
    visitor = newcomer
    patch(visitor.page, *SHOWN_FOR_LONG)
    visitor.page.add_init_script(
        "navigator.clipboard.writeText = async () => { throw new Error('no') };"
    )
    visitor.open()
    visitor.draw_seven()
    visitor.read()
    look(visitor)
    visitor.hook("kernels-copy").click()
    expect(visitor.hook("kernels-copy")).to_contain_text("keyboard")
    assert "@compute" in visitor.page.evaluate("getSelection().toString()")


def test_numpy_has_no_wgsl_and_says_so(visitor):
    visitor.open("./?device=numpy")
    visitor.draw_seven()
    visitor.read()
    look(visitor)
    expect(visitor.hook("kernels-wgsl")).to_contain_text("no WGSL")
    expect(visitor.hook("kernels-copy")).to_be_hidden()


def test_nothing_is_profiled_while_the_panel_is_closed_or_without_an_answer(visitor):
    visitor.open()
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


def test_the_kernels_are_those_of_the_last_answer(visitor, photos):
    visitor.open()
    visitor.draw_seven()
    visitor.read()
    digits = len(look(visitor))
    visitor.show("Classify")
    expect(visitor.hook("kernels-table")).to_be_hidden()
    visitor.hook("model-select").select_option("squeezenet1_1")
    visitor.choose(photos["coffee"]["path"])
    visitor.answer("coffee.png")
    assert len(measured(visitor)) > digits
    assert downloaded(visitor, "kernels-plan")[0] == "squeezenet1_1.plan.json"
    visitor.show("Draw")
    assert len(measured(visitor)) == digits
    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    visitor.read()
    expect(visitor.hook("kernels-wgsl")).to_contain_text("no WGSL", timeout=PATIENCE)


def test_without_timestamp_query_the_shares_are_estimated_and_the_panel_says_so(newcomer, patch):
    visitor = newcomer
    patch(visitor.page, "gpu/device.js", ', "timestamp-query"', "")
    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"
    rows = look(visitor)
    panel = visitor.hook("kernels-panel")
    expect(panel).to_have_attribute("data-source", "counted")
    expect(panel).to_contain_text("estimated from the kernel’s arithmetic and bytes, not measured")
    expect(rows[0]).to_contain_text("≈")
    assert sum(float(row.get_attribute("data-share")) for row in rows) == pytest.approx(1, abs=0.01)
    expect(visitor.hook("kernels-wgsl")).to_contain_text("@compute")


@pytest.mark.parametrize(("bits", "source"), [(16, "timestamp"), (60, "counted")])
def test_a_coarse_clock_is_mentioned_and_one_that_stands_still_is_not_used(
    newcomer, bits, source, patch
):
    """Browsers may round the GPU's times."""
    visitor = newcomer
    rounding = f"stamps.forEach((t, i) => (stamps[i] = (t >> {bits}n) << {bits}n));"
    loop = "for (const stamp of stamps)"
    patch(visitor.page, "gpu/profile.js", loop, f"{rounding} {loop}")
    visitor.open()
    visitor.draw_seven()
    visitor.read()
    look(visitor)
    panel = visitor.hook("kernels-panel")
    expect(panel).to_have_attribute("data-source", source)
    expect(panel).to_contain_text("it ticks every" if source == "timestamp" else "not measured")


def test_the_keyboard_goes_through_the_kernels(visitor):
    visitor.open()
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


def test_fits_any_width(visitor):
    visitor.open()
    visitor.draw_seven()
    visitor.read()
    look(visitor)
    for width in (320, 768, 1280, 2560):
        visitor.page.set_viewport_size({"width": width, "height": 800})
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
        table = visitor.hook("kernels-table").bounding_box()
        assert table["x"] >= 0 and table["x"] + table["width"] <= width


def test_a_failure_is_shown_and_can_be_tried_again(newcomer, patch):
    visitor = newcomer
    asking = 'app.ask("profile", name, model.asked)'
    patch(visitor.page, "worker/main.js", asking, "globalThis.trial()")
    visitor.open()
    visitor.draw_seven()
    assert visitor.read() == "7"
    panel = visitor.hook("kernels-panel")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("data-state", "error", timeout=PATIENCE)
    expect(panel).to_contain_text("could not be timed: an unexpected error")
    expect(visitor.hook("kernels-table")).to_be_hidden()
    panel.get_by_role("button", name="Try again").click()
    expect(panel).to_have_attribute("data-state", "error", timeout=PATIENCE)
    visitor.clear()
    visitor.draw_seven()
    assert visitor.read() == "7"


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
