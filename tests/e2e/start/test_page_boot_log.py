"""The boot log: a line for each stage with its bytes and time, in both languages.

A failed stage is shown as failed until it is tried again.
"""

from __future__ import annotations

import re

from playwright.sync_api import expect


def test_each_stage_has_a_line_with_bytes_and_time_also_if_it_failed_at_first(visitor):
    log = visitor.hook("boot-log")
    missing = "**/models/mnist/mnist-*.onnx"
    visitor.page.route(missing, lambda route: route.fulfill(status=404))
    visitor.open("./?device=webgpu", state="error")
    line = log.locator("[data-stage=model]")
    expect(line).to_have_attribute("data-state", "failed")
    expect(line).to_contain_text("failed")
    visitor.page.unroute_all(behavior="wait")
    visitor.status.get_by_role("button", name="Try again").click()
    visitor.wait()
    expect(line).to_have_attribute("data-state", "done")

    visitor.page.get_by_text("Boot log").click()
    expect(log).to_be_visible()
    kept = log.locator("[data-stage=keep]")
    expect(kept).to_have_text(
        re.compile(r"^Saving the plan of mnist +[\d.]+ m?s $"), timeout=60_000
    )
    lines = {line.get_attribute("data-stage"): line for line in log.get_by_role("listitem").all()}
    assert set(lines) == {"snapshot", "model", "kernels", "keep"}  # and no NumPy
    for line in lines.values():
        expect(line).to_have_attribute("data-state", "done")
        assert float(line.get_attribute("data-ms")) > 0
    assert int(lines["snapshot"].get_attribute("data-bytes")) > 5_000_000
    restored = re.compile(r"^Python and Tallow, from a snapshot [\d.]+ MB [\d.]+ m?s $")
    expect(lines["snapshot"]).to_have_text(restored)
    expect(lines["model"]).to_have_text(re.compile(r"^Model mnist [\d.]+ [kM]B [\d.]+ m?s $"))
    expect(lines["kernels"]).to_have_text(re.compile(r"^Kernels of mnist (\d+) of \1 [\d.]+ m?s $"))

    visitor.hook("language-select").select_option("zh")
    expect(log).to_contain_text("内存快照")
    expect(log).to_contain_text("mnist 的内核")

    visitor.hook("device-select").select_option("numpy")
    visitor.wait()
    expect(log.locator("[data-stage=numpy]")).to_have_text(re.compile(r"NumPy [\d.]+ MB .*s $"))
    expect(log.get_by_role("listitem")).to_have_count(5)
