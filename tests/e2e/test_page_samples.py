"""The sample photographs: fetched once they are seen, classified when chosen, credited."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tallow_build.browser import until
from tallow_build.paths import ROOT


def test_samples_are_shown_credited_and_classified(visitor):
    known = json.loads((ROOT / "samples" / "samples.json").read_text("utf-8"))["samples"]
    fetched: list[str] = []
    visitor.page.on("request", lambda r: fetched.append(r.url) if "samples/" in r.url else None)
    visitor.open("./?device=numpy")
    assert not fetched
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
    labels = {}
    for sample, record in zip(samples.all(), known, strict=True):
        sample.click()
        labels[record["name"]] = visitor.answer(record["file"])[0]["label"]
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
