"""Curves of a run (web/views/train/curves.js): what is written along their axes."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tallow_build.paths import ROOT, WEB

# What is drawn beside the first curve: labels on the left of it, and those below.
LABELS = """async ({ Curves }, losses) => {
    const { prototype } = CanvasRenderingContext2D;
    const { fillText } = prototype;
    const drawn = [];
    prototype.fillText = function (text, x, y) {
        if (this.canvas === document.querySelector("canvas")) drawn.push([this.textAlign, text]);
        fillText.call(this, text, x, y);
    };
    const root = document.body.appendChild(document.createElement("div"));
    root.style.width = "358px";
    const curve = losses.map((loss, step) => [step + 1, loss, 0.5]);
    new Curves(root).show([{ name: "a run", curve, records: [] }]);
    while (!drawn.length) await new Promise(requestAnimationFrame);
    const of = (side) => drawn.filter(([align]) => align === side).map(([, text]) => text);
    return { left: of("right"), below: of("center") };
}"""


@pytest.fixture
def labels(page: Page, module: Any) -> Any:
    """The labels of a curve of losses, which begin with step 1."""
    # The bundler finds the library; here there is none.
    curves = (WEB / "views" / "train" / "curves.js").read_text("utf-8")
    assert 'from "uplot"' in curves
    script = curves.replace('from "uplot"', 'from "/uplot.js"')
    library = ROOT / "node_modules" / "uplot" / "dist" / "uPlot.esm.js"
    served = {"content_type": "text/javascript"}
    page.route("**/uplot.js", lambda route: route.fulfill(path=library, **served))
    page.route("**/train/curves.js", lambda route: route.fulfill(body=script, **served))
    return lambda losses: module("./views/train/curves.js", LABELS, losses)


@pytest.mark.parametrize(
    ("largest", "wanted"),
    [
        (2.3, ["0", "1", "2"]),
        (1e35, ["0", "2.50e34", "5.00e34", "7.50e34", "1.00e35"]),
        (3.4e38, ["0", "1.00e38", "2.00e38", "3.00e38"]),
        (0.00023, ["0", "0.0001", "0.0002"]),
    ],
)
def test_a_loss_of_any_size_has_labels(labels: Any, largest: float, wanted: list[str]) -> None:
    assert labels([largest / 2, largest])["left"] == wanted


def test_steps_are_whole(labels: Any) -> None:
    below = labels([2.0] * 13)["below"]
    assert below
    assert all(label.isdigit() for label in below if label != "Steps"), below
