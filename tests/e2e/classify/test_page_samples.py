"""The sample photographs: thumbnails when they come into view, classification, credits.

All on one page, on which nothing is fetched before the view is shown.
"""

from __future__ import annotations

import json
from functools import partial

import pytest
from playwright.sync_api import Request, expect
from tests.conftest import watched_page
from tests.e2e.conftest import Visitor

from tallow_build.environment.browser import until
from tallow_build.paths import ROOT

# The mean colour of each of two pictures, as the browser shows them.
MEANS = """(addresses) => Promise.all(addresses.map(async (address) => {
    const picture = Object.assign(new Image(), { src: address });
    await picture.decode();
    const canvas = new OffscreenCanvas(64, 64).getContext("2d");
    canvas.drawImage(picture, 0, 0, 64, 64);
    const { data } = canvas.getImageData(0, 0, 64, 64);
    return [0, 1, 2].map((c) => data.reduce((sum, v, i) => sum + (i % 4 === c ? v : 0), 0) / 4096);
}))"""


def note(fetched: list[str], request: Request) -> None:
    """Adds the name of a sample's file that the page requests."""
    if "/samples/" in request.url:
        fetched.append(request.url.rpartition("/")[2])


@pytest.fixture(scope="module")
def page_of_samples(browser, server):
    """A visitor of "Draw", and the names of the sample files that were fetched so far: none."""
    for page, _ in watched_page(browser, server):
        fetched: list[str] = []
        page.on("request", partial(note, fetched))
        visitor = Visitor(page)
        visitor.open("./?device=numpy")
        assert not fetched
        yield visitor, fetched


@pytest.fixture
def visitor(page_of_samples):
    """The visitor of the one page of these tests, in English."""
    visitor, _ = page_of_samples
    visitor.hook("language-select").select_option("en")
    return visitor


def test_samples_are_shown_credited_and_classified(visitor, page_of_samples, dist):
    _, fetched = page_of_samples
    known = json.loads((ROOT / "samples" / "samples.json").read_text("utf-8"))["samples"]
    published = json.loads((dist / "samples" / "samples.json").read_text("utf-8"))
    visitor.show("Classify")
    samples = visitor.hook("image-sample")
    expect(samples).to_have_count(8)
    assert len(known) == 8
    loaded = "all => all.every(({ complete, naturalWidth }) => complete && naturalWidth > 0)"
    samples.nth(7).scroll_into_view_if_needed()
    until(
        visitor.page,
        f"({loaded})([...document.querySelectorAll('[data-testid=image-sample] img')])",
    )
    assert sorted(fetched) == sorted(["samples.json", *(one["small"] for one in published)])
    fetched.clear()
    labels = {}
    for sample, record in zip(samples.all(), known, strict=True):
        sample.click()
        labels[record["name"]] = visitor.answer(record["file"])[0]["label"]
    assert fetched == [one["file"] for one in published]
    assert labels["coffee"] == "espresso"
    assert labels["flower"] == "daisy"
    assert labels["rocket"] == "missile"

    credits = visitor.page.locator(".samples details")
    credits.locator("summary").click()
    for item, record in zip(credits.get_by_role("listitem").all(), known, strict=True):
        expect(item).to_contain_text(record["author"])
        expect(item).to_contain_text(record["licence"])
        targets = [a.get_attribute("href") for a in item.get_by_role("link").all()]
        assert targets == [record["source_url"], record["licence_url"]]
    visitor.hook("language-select").select_option("zh")
    expect(samples.first).to_have_text("猫")
    expect(credits).to_contain_text("公有领域")


def test_samples_look_like_their_photographs_and_sharp_on_a_dense_screen(visitor, dist):
    published = json.loads((dist / "samples" / "samples.json").read_text("utf-8"))
    page = visitor.page
    page.set_viewport_size({"width": 1920, "height": 1080})
    visitor.show("Classify")
    pictures = page.locator(".samples img")
    expect(pictures).to_have_count(8)
    for picture, one in zip(pictures.all(), published, strict=True):
        picture.scroll_into_view_if_needed()
        box = picture.bounding_box()
        width, height = picture.evaluate(
            "async (i) => (await i.decode(), [i.naturalWidth, i.naturalHeight])"
        )
        assert width >= 2 * box["width"]
        assert height >= 2 * box["height"]
        small, whole = page.evaluate(MEANS, [f"samples/{one[key]}" for key in ("small", "file")])
        assert max(abs(a - b) for a, b in zip(small, whole, strict=True)) < 3


def test_a_thumbnail_cannot_be_dragged(visitor):
    page = visitor.page
    visitor.show("Classify")
    page.evaluate("addEventListener('dragstart', () => document.body.dataset.dragged = 'yes')")
    page.locator(".samples img").first.drag_to(page.locator("#view-classify .drop"), force=True)
    assert page.evaluate("document.body.dataset.dragged") is None
