"""The Train view: what a run has learnt, labels reviewed, and answers of the trained network."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.train.test_page_train import lend
from tests.unit.tallow_page.train.lessons import idx

from tallow_build.content import published
from tallow_build.page import dist as site
from tallow_build.paths import DIST

PATIENCE = 120_000
SIDE = 28

WRONG = set(range(7, 600, 31))
"""Samples to learn from that have a wrong label, of all classes."""
TWIN = 300, 12
"""A sample that is another one's duplicate, and that one."""

INSIDE = """item => [...item.querySelectorAll("button, select")].every(
    each => each.getBoundingClientRect().right < item.getBoundingClientRect().right)"""
"""Whether what can be pressed is within its card."""


@pytest.fixture(autouse=True, scope="module")
def data(dist: Path) -> None:
    """MNIST is there, so that no test waits for a registry."""
    site.put_published(DIST, published.ensure_one("mnist"))


def bars() -> dict[str, bytes]:
    """The four files of a data set: bars, whose row is their class, of which there are three."""
    random = Random(0)
    files: dict[str, bytes] = {}
    for prefix, count in (("train", 600), ("t10k", 90)):
        pictures: list[bytes] = []
        for number in range(count):
            picture = bytearray(random.randrange(60) for _ in range(SIDE * SIDE))
            top = 9 * (number % 3) + random.randrange(6)
            picture[top * SIDE : (top + 2) * SIDE] = bytes([250]) * 2 * SIDE
            pictures.append(bytes(picture))
        labels = bytearray(number % 3 for number in range(count))
        if prefix == "train":
            for number in WRONG:
                labels[number] = (labels[number] + 1) % 3
            pictures[TWIN[0]] = pictures[TWIN[1]]
        files[f"{prefix}-images-idx3-ubyte"] = idx(b"".join(pictures), count, SIDE, SIDE)
        files[f"{prefix}-labels-idx1-ubyte"] = idx(bytes(labels), count)
    return files


def learned(visitor: Any, device: str = "wasm", **fields: str) -> Any:
    """A run of the data that is done."""
    visitor.open(f"./?device={device}#train")
    hook = visitor.hook
    expect(hook("train-start")).to_be_enabled(timeout=PATIENCE)
    hook("train-options").locator("summary").click()
    for name, value in fields.items():
        hook(f"train-{name}").fill(value)
        hook(f"train-{name}").press("Tab")
    learn(hook)
    return hook


def learn(hook: Any) -> None:
    hook("train-start").click()
    status = hook("train-status")
    expect(status).to_have_attribute("data-state", "running")
    expect(status).to_have_attribute("data-state", "done", timeout=PATIENCE)


def counts(table: Locator) -> list[list[int]]:
    """What the confusion matrix shows."""
    cells = table.locator("tbody td")
    expect(cells.first).to_have_attribute("data-count", re.compile("."), timeout=PATIENCE)
    found: list[int] = [int(each.get_attribute("data-count") or 0) for each in cells.all()]
    width = round(len(found) ** 0.5)
    return [found[row * width : (row + 1) * width] for row in range(width)]


def parts(visitor: Any) -> None:
    """The first layer's filters, and the norms of all weights, are shown."""
    expect(visitor.page.locator("#view-train .filters canvas")).to_have_count(6)
    norms = visitor.hook("train-norms").locator("tbody tr")
    expect(norms).to_have_count(5)
    assert all(
        float(each.get_attribute("data-value")) > 0
        for each in norms.locator("td:nth-child(2)").all()
    )


def stroke(visitor: Any) -> Locator:
    """Draws a stroke from top to bottom; the best answer of the network."""
    pad = visitor.hook("train-use")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    mouse = visitor.page.mouse
    mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.2)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.8, steps=12)
    mouse.up()
    return visitor.hook("train-use-bars").locator("li.best")


def test_what_was_learnt_on_webgpu_is_seen(visitor: Any) -> None:
    lend(visitor, bars())
    hook = learned(visitor, "webgpu", epochs="2", batch="20")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    matrix = counts(hook("train-confusion"))
    assert sum(map(sum, matrix)) == 90
    right = sum(row[number] for number, row in enumerate(matrix)) / 90
    shown = float(hook("train-valid-accuracy").get_attribute("data-value"))
    assert shown == pytest.approx(right, abs=1e-4)
    assert right > 0.6  # a third by chance
    parts(visitor)
    expect(stroke(visitor)).to_have_attribute("data-label", re.compile("^[012]$"), timeout=PATIENCE)


def test_what_digits_have_taught_is_seen(visitor: Any) -> None:
    hook = learned(visitor, count="6400")
    table = hook("train-confusion")
    expect(table).to_be_visible(timeout=PATIENCE)
    matrix = counts(table)
    assert len(matrix) == 10
    assert sum(map(sum, matrix)) == 10_000
    right = sum(matrix[each][each] for each in range(10)) / 10_000
    shown = float(hook("train-valid-accuracy").get_attribute("data-value"))
    assert shown == pytest.approx(right, abs=1e-4)
    assert right > 0.85

    mistakes = hook("train-mistakes").locator("li")
    expect(mistakes).to_have_count(24, timeout=PATIENCE)
    for each in mistakes.all():
        assert each.get_attribute("data-label") != each.get_attribute("data-predicted")
    drawn = mistakes.first.locator("canvas").evaluate(
        "canvas => new Set(canvas.getContext('2d').getImageData(0, 0, 28, 28).data).size"
    )
    assert drawn > 5

    parts(visitor)
    expect(stroke(visitor)).to_have_attribute("data-label", "1", timeout=PATIENCE)
    hook("train-use-clear").click()
    expect(hook("train-use-bars").locator("li")).to_have_count(0)


def test_a_cell_shows_its_samples_by_mouse_and_keyboard(visitor: Any) -> None:
    hook = learned(visitor, count="1280")
    table = hook("train-confusion")
    matrix = counts(table)
    places = [(i, j) for i in range(10) for j in range(10) if matrix[i][j]]
    wrong = next((i, j) for i, j in places if i != j)
    samples = visitor.page.locator("#view-train [data-testid=train-confusion]").locator(
        "xpath=../following-sibling::ol"
    )
    row, column = wrong
    cell = table.locator("tbody tr").nth(row).locator("td").nth(column).get_by_role("button")
    expect(cell).to_have_accessible_name(
        re.compile(rf"^\d, taken for \d: {matrix[row][column]} samples?$")
    )
    cell.click()
    expect(samples.locator("li")).to_have_count(min(60, matrix[row][column]), timeout=PATIENCE)
    for each in samples.locator("li").all():
        assert each.get_attribute("data-label") == str(row)
        assert each.get_attribute("data-predicted") == str(column)

    # One cell is reached with the tabulator, the others from there.
    expect(table.locator('button[tabindex="0"]')).to_have_count(1)
    keys = visitor.page.keyboard
    cell.focus()
    keys.press("ArrowRight")
    after = next((j for j in range(column + 1, 10) if matrix[row][j]), None)
    focused = table.locator("button:focus")
    if after is not None:
        expect(focused).to_have_accessible_name(re.compile(f": {matrix[row][after]} sample"))
        keys.press("Enter")
        expect(samples.locator("li")).to_have_count(min(60, matrix[row][after]), timeout=PATIENCE)


def test_labels_are_reviewed_with_one_key_each_and_undone(visitor: Any) -> None:
    lend(visitor, bars())
    hook = learned(visitor, epochs="3", batch="20")
    hook("train-review-begin").click()
    items = hook("train-review").locator("li")
    expect(items.first).to_be_visible(timeout=PATIENCE)
    expect(hook("train-review")).to_have_attribute("aria-busy", "false", timeout=PATIENCE)
    numbers = [int(each.get_attribute("data-index") or -1) for each in items.all()]
    kinds = [each.get_attribute("data-guess") for each in items.all()]
    doubted = [number for number, kind in zip(numbers, kinds, strict=True) if kind]
    assert len(WRONG & set(doubted)) >= 0.7 * len(WRONG)
    assert len(set(doubted) - WRONG) <= 3
    assert TWIN[0] in numbers

    assert items.first.evaluate(INSIDE)

    total = visitor.page.locator("#view-train .counts")
    before = total.inner_text()
    count = items.count()
    first = items.first
    label, guess = first.get_attribute("data-label"), first.get_attribute("data-guess")
    keys = visitor.page.keyboard
    first.focus()
    keys.press("r")
    expect(items).to_have_count(count - 1)
    expect(total).not_to_have_text(before)
    assert label != guess
    expect(items.first).to_be_focused()
    keys.press("u")
    expect(items).to_have_count(count)
    expect(items.first).to_be_focused()
    assert total.inner_text() == before
    keys.press("r")
    keys.press("x")
    keys.press("k")
    expect(items).to_have_count(count - 3)

    # The next run learns from what was decided, also after a reload, and does not ask again.
    visitor.page.reload()
    hook = visitor.hook
    expect(hook("train-start")).to_be_enabled(timeout=PATIENCE)
    hook("train-options").locator("summary").click()
    for name, value in {"epochs": "3", "batch": "20"}.items():
        hook(f"train-{name}").fill(value)
        hook(f"train-{name}").press("Tab")
    learn(hook)
    hook("train-review-begin").click()
    expect(items.first).to_be_visible(timeout=PATIENCE)
    expect(hook("train-review")).to_have_attribute("aria-busy", "false", timeout=PATIENCE)
    sums = [int(each) for each in re.findall(r"\d+$", total.inner_text(), re.MULTILINE)]
    assert sum(sums) == 600 + 90 - 1


def test_a_run_that_is_kept_is_looked_into_after_a_reload(visitor: Any) -> None:
    lend(visitor, bars())
    hook = learned(visitor, epochs="2", batch="20")
    expect(hook("train-confusion")).to_be_visible(timeout=PATIENCE)
    matrix = counts(hook("train-confusion"))
    visitor.page.reload()
    hook = visitor.hook
    expect(hook("train-start")).to_be_enabled(timeout=PATIENCE)
    expect(hook("train-confusion")).to_be_hidden()
    hook("train-run-open").click()
    hook("train-run-look").click()
    expect(hook("train-status")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(hook("train-confusion")).to_be_visible(timeout=PATIENCE)
    assert counts(hook("train-confusion")) == matrix
    expect(hook("train-use")).to_be_visible()
    expect(hook("train-run-look")).to_be_hidden()
