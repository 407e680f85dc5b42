"""The Train view: one press of Start learns; runs are paused, kept, opened again, compared."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.failures.test_page_lost_device import Losing
from tests.unit.tallow_page.train.lessons import contents

from tallow_build.content import published
from tallow_build.page import dist as site
from tallow_build.paths import DIST

PATIENCE = 120_000


@pytest.fixture(autouse=True, scope="module")
def data(dist: Path) -> None:
    """MNIST is there, so that no test waits for a registry."""
    site.put_published(DIST, published.ensure_one("mnist"))


def opened(visitor: Any, device: str = "wasm") -> Any:
    visitor.open(f"./?device={device}#train")
    expect(visitor.hook("train-start")).to_be_enabled(timeout=PATIENCE)
    return visitor.hook


def few(hook: Any, count: int = 4000, **fields: str) -> None:
    """Learns from so many pictures."""
    if not hook("train-count").is_visible():
        hook("train-options").locator("summary").click()
    for name, value in {"count": str(count), **fields}.items():
        hook(f"train-{name}").fill(value)
        hook(f"train-{name}").press("Tab")


def state(hook: Any, wanted: str) -> None:
    expect(hook("train-status")).to_have_attribute("data-state", wanted, timeout=PATIENCE)


def step(hook: Any) -> int:
    return int(hook("train-status").get_attribute("data-step") or 0)


def figure(hook: Any, name: str) -> float:
    return float(hook(f"train-{name}").get_attribute("data-value"))


@pytest.mark.parametrize(("device", "steps", "right"), [("wasm", 100, 0.85), ("webgpu", 40, 0.6)])
def test_one_press_learns_digits(visitor: Any, device: str, steps: int, right: float) -> None:
    hook = opened(visitor, device)
    expect(hook("train-data")).to_have_value("mnist")
    expect(hook("train-network")).to_have_value("lenet5")
    state(hook, "idle")
    few(hook, 64 * steps)
    hook("train-start").click()
    expect(hook("train-loss")).to_have_attribute("data-value", re.compile("."), timeout=PATIENCE)
    first = figure(hook, "loss")
    state(hook, "done")
    expect(visitor.device).to_have_attribute("data-device", device)
    assert step(hook) == steps
    assert figure(hook, "loss") < first / 2
    assert figure(hook, "accuracy") > right - 0.1
    assert figure(hook, "valid-accuracy") > right
    assert figure(hook, "rate") > 0
    expect(hook("train-status")).to_have_attribute("data-epoch", "1")
    expect(hook("train-curve").locator("canvas")).to_have_count(2)
    (run,) = hook("train-runs").locator("li").all()
    expect(run).to_contain_text(f"done, {steps} steps, 1 of 1 epochs")
    expect(hook("train-start")).to_have_text("Start")


def test_a_run_is_paused_and_goes_on_also_after_a_reload(visitor: Any) -> None:
    hook = opened(visitor)
    few(hook, 20_000)
    hook("train-start").click()
    expect(hook("train-loss")).to_have_attribute("data-value", re.compile("."), timeout=PATIENCE)
    hook("train-pause").click()
    state(hook, "paused")
    paused = step(hook)
    assert 0 < paused < 312
    expect(hook("train-status")).to_contain_text(f"Paused after step {paused} of 312")
    hook("train-step").click()
    expect(hook("train-status")).to_have_attribute("data-step", str(paused + 1))
    state(hook, "paused")

    visitor.page.reload()
    hook = visitor.hook
    expect(hook("train-start")).to_be_enabled(timeout=PATIENCE)
    state(hook, "idle")
    run = hook("train-runs").locator("li")
    expect(run).to_contain_text(f"paused, {paused + 1} steps")
    hook("train-run-open").click()
    state(hook, "paused")
    assert step(hook) == paused + 1
    expect(hook("train-start")).to_have_text("Resume")
    expect(hook("train-count")).to_have_value("20000")
    hook("train-start").click()
    state(hook, "done")
    assert step(hook) == 312
    expect(run).to_contain_text("done, 312 steps")


def test_runs_are_named_compared_shared_and_removed(visitor: Any) -> None:
    hook = opened(visitor)
    few(hook, 1280)
    hook("train-start").click()
    state(hook, "done")
    few(hook, 1280, batch="32")
    hook("train-start").click()
    expect(hook("train-runs").locator("li")).to_have_count(2, timeout=PATIENCE)
    state(hook, "done")
    names = hook("train-run-name")
    expect(names.nth(0)).to_have_value("mnist 2")
    names.nth(1).fill("the first")
    names.nth(1).press("Enter")
    expect(names.nth(1)).to_have_value("the first")
    hook("train-run-compare").nth(1).check()
    rows = hook("train-differences").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_have_text("Batch3264")
    expect(hook("train-curve").locator(".u-legend").first).to_contain_text("the first")

    with visitor.page.expect_download() as download:
        hook("train-run-share").nth(1).click()
    assert download.value.suggested_filename == "the first.run.zip"
    shared = Path(download.value.path()).read_bytes()
    for left in (1, 0):
        hook("train-run-remove").first.click()
        expect(hook("train-run-name")).to_have_count(left)
    expect(hook("train-runs")).to_have_text("No runs are kept yet.")

    visitor.page.reload()
    expect(hook("train-start")).to_be_enabled(timeout=PATIENCE)
    file = {"name": "the first.run.zip", "mimeType": "application/zip", "buffer": shared}
    hook("train-run-file").set_input_files(file)
    state(hook, "done")
    expect(hook("train-run-name")).to_have_value("the first")
    assert step(hook) == 20 and figure(hook, "valid-accuracy") > 0.3

    hook("train-run-file").set_input_files(file | {"buffer": shared[:1000]})
    expect(visitor.page.locator("#view-train > .answer > .message")).to_contain_text(
        "“the first.run.zip” is no run, or it is damaged. Nothing was changed."
    )
    expect(hook("train-run-name")).to_have_count(1)


def test_what_cannot_be_learnt_is_said(visitor: Any) -> None:
    hook = opened(visitor)
    message = visitor.page.locator("#view-train > .answer > .message")
    few(hook, 40)
    hook("train-start").click()
    state(hook, "failed")
    expect(message).to_contain_text("the batch is larger than the data to learn from")
    expect(hook("train-status")).to_have_text("Nothing was learnt.")
    expect(hook("train-runs")).to_have_text("No runs are kept yet.")


def test_a_loss_that_is_not_finite_is_named(visitor: Any) -> None:
    lend(visitor, contents(640, 64, 28))
    hook = opened(visitor)
    few(hook, 640, **{"lr-field": "1000", "decay": "1", "epochs": "4"})  # each step times -999
    hook("train-start").click()
    state(hook, "failed")
    message = visitor.page.locator("#view-train > .answer > .message")
    expect(message).to_contain_text(re.compile(r"the loss of step \d+ is not a finite number"))
    expect(hook("train-start")).to_be_enabled()


def lend(visitor: Any, files: dict[str, bytes]) -> None:
    """The site has these data instead of its own."""
    own = {
        "name": "mnist", "title": "Bars", "task": "train", "memory": 1000, "licence": "MIT",
        "files": [
            {"file": name, "bytes": len(each), "sha256": hashlib.sha256(each).hexdigest()}
            for name, each in files.items()
        ],
    }  # fmt: skip
    page = visitor.page
    page.route("**/models/published.json", lambda route: route.fulfill(body=json.dumps([own])))
    page.route(
        "**/models/published/mnist/*",
        lambda route: route.fulfill(body=files[route.request.url.rpartition("/")[2]]),
    )


def test_a_run_goes_on_where_its_device_was_lost(visitor: Any, patch: Any) -> None:
    losing = Losing(visitor, patch)
    hook = opened(visitor, "webgpu")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    few(hook, 1280, epochs="2")
    hook("train-start").click()
    # After the first epoch there is a checkpoint.
    expect(hook("train-status")).to_have_attribute("data-epoch", "1", timeout=PATIENCE)
    losing.lose("now")
    losing.struck(1)
    state(hook, "done")
    assert step(hook) == 40
    (run,) = hook("train-runs").locator("li").all()
    expect(run).to_contain_text("done, 40 steps, 2 of 2 epochs")


def test_a_run_learns_in_one_tab_alone(visitor: Any) -> None:
    hook = opened(visitor)
    few(hook, 60_000, epochs="9")
    hook("train-start").click()
    expect(hook("train-loss")).to_have_attribute("data-value", re.compile("."), timeout=PATIENCE)
    hook("train-pause").click()
    state(hook, "paused")
    hook("train-start").click()
    paused = step(hook)
    expect(hook("train-status")).not_to_have_attribute("data-step", str(paused), timeout=PATIENCE)

    other = visitor.page.context.new_page()
    other.goto(visitor.page.url)
    there = other.get_by_test_id
    expect(there("train-start")).to_be_enabled(timeout=PATIENCE)
    there("train-run-open").click()
    there("train-start").click()
    expect(there("train-status")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(other.locator("#view-train > .answer > .message")).to_contain_text(
        "learns in another tab"
    )
    there("train-run-remove").click()
    expect(there("train-run-name")).to_have_count(1)
    other.close()
    state(hook, "running")
    hook("train-stop").click()
    state(hook, "paused")
    expect(hook("train-start")).to_have_text("Start")
