"""The Train view's table of layers, and what is taken home of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnxruntime import InferenceSession
from playwright.sync_api import expect
from tests.e2e.train.test_page_train import PATIENCE, few, opened, state

import tallow as tl
from tallow_build.content import published
from tallow_build.page import dist as site
from tallow_build.paths import DIST


@pytest.fixture(autouse=True, scope="module")
def data(dist: Path) -> None:
    """MNIST is there, so that no test waits for a registry."""
    site.put_published(DIST, published.ensure_one("mnist"))


def test_layers_are_edited_in_place(visitor: Any) -> None:
    hook = opened(visitor)
    rows = hook("train-layers").locator("li")
    total = hook("train-layer-total")
    expect(total).to_have_attribute("data-parameters", "61706", timeout=PATIENCE)
    expect(rows).to_have_count(12)
    expect(hook("train-network")).to_have_value("lenet5")
    first = rows.nth(0)
    expect(first).to_contain_text("gives 6×28×28")

    # An impossible layer says why, under its row, and nothing can be started.
    window = first.locator("[name=kernel]")
    window.fill("40")
    expect(first.locator("[role=alert]")).to_have_text(
        "A window of 40×40 is larger than the picture of 32×32 with its padding."
    )
    expect(hook("train-start")).to_be_disabled()
    expect(window).to_be_focused()
    window.fill("")
    expect(first.locator("[role=alert]")).to_have_text(
        "Window must be a whole number from 1 to 64."
    )
    window.fill("3")
    expect(first).to_contain_text("gives 6×30×30")
    expect(first.locator("[role=alert]")).to_have_text("")
    expect(hook("train-start")).to_be_enabled()
    expect(hook("train-network")).to_have_value("own")

    # Rows move with the keyboard, and the focus goes with them.
    kind = rows.nth(1).locator("select")
    kind.focus()
    kind.press("Alt+ArrowDown")
    expect(rows.nth(2).locator("select")).to_have_value("tanh")
    expect(rows.nth(2).locator("select")).to_be_focused()
    rows.nth(2).locator("[data-act=up]").click()
    expect(rows.nth(1).locator("select")).to_have_value("tanh")
    rows.nth(1).locator("[data-act=add]").click()
    expect(rows).to_have_count(13)
    expect(rows.nth(2).locator("select")).to_have_value("relu")
    rows.nth(2).locator("select").select_option("dropout")
    expect(rows.nth(2).locator("[name=p]")).to_have_value("0.5")
    rows.nth(2).locator("[data-act=remove]").click()
    expect(rows).to_have_count(12)

    hook("train-network").select_option("mlp")
    expect(rows).to_have_count(6)
    expect(total).to_have_attribute("data-parameters", "235146")
    memory = int(total.get_attribute("data-memory"))
    few(hook, batch="128")
    expect(total).not_to_have_attribute("data-memory", str(memory))
    assert int(total.get_attribute("data-memory")) > memory
    while rows.count():
        rows.nth(0).locator("[data-act=remove]").click()
    expect(total).to_have_text("There is no layer; add one that gives 10 scores.")
    expect(hook("train-layer-add")).to_be_focused()


def test_a_trained_network_is_taken_home(visitor: Any, tmp_path: Path) -> None:
    hook = opened(visitor)
    expect(hook("train-download-onnx")).to_be_hidden()
    few(hook, 640)
    hook("train-start").click()
    state(hook, "done")

    def taken(form: str) -> Path:
        with visitor.page.expect_download(timeout=PATIENCE) as download:
            hook(f"train-download-{form}").click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        expect(hook("train-taken")).to_contain_text(path.name)
        return path

    network = taken("onnx")
    onnx.checker.check_model(onnx.load(network), full_check=True)
    session = InferenceSession(network)
    pictures = np.zeros((2, 1, 28, 28), np.uint8)
    (scores,) = session.run(["scores"], {"input": pictures})
    assert scores.shape == (2, 10)
    assert np.isfinite(scores).all()
    weights = tl.load(taken("safetensors"))
    assert sum(each.size for each in weights.values()) == 61_706
    program = taken("python").read_text("utf-8")
    compile(program, "train.py", "exec")
    assert "datasets.MNIST(FOLDER, part, download=True)" in program
    card = taken("card").read_text("utf-8")
    assert re.search(r"\| 9 \| \d+\.\d% \| 1,009 \|", card)
    expect(hook("train-download-data")).to_be_hidden()
    # Other settings are another run, of which there is nothing yet.
    few(hook, 640, seed="1")
    expect(hook("train-download-onnx")).to_be_hidden()
