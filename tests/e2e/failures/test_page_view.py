"""A view that fails while the page starts: it says so, and the others work."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

# In the constructor of the view Draw.
FINDS = 'find(".seen")'


@pytest.mark.parametrize(
    ("thrown", "said"),
    [
        ('new RangeError("no room")', "no room"),
        ('new TypeError("x is undefined")', "an unexpected error"),
    ],
)
def test_a_view_that_throws_leaves_the_others_as_they_are(visitor, patch, photos, thrown, said):
    throwing = f"(() => {{ throw {thrown}; }})()"
    patch(visitor.page, "views/draw/draw.js", FINDS, throwing)
    visitor.open("./?device=wasm")
    line = visitor.page.locator("#view-draw").get_by_role("alert")
    expect(line).to_contain_text(f"This view could not be started: {said}")
    expect(line).to_contain_text("The others can be used.")
    expect(visitor.page.locator("#draw-title")).to_be_visible()
    visitor.hook("language-select").select_option("zh")
    expect(line).to_contain_text("无法启动这个视图")
    visitor.hook("language-select").select_option("en")
    visitor.show("Classify")
    photo = photos["coffee"]
    visitor.choose(photo["path"])
    assert visitor.answer(photo["file"])[0]["label"] == "espresso"
