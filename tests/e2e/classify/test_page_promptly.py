"""What the page does for a photograph, and when: its worker decodes and scales, and nothing is
drawn before the answer, unless that takes long."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from tests.e2e.classify.colours import add_colours, most, small

from tallow_build.environment.browser import until

# Notes what happens to a photograph; `decoded` and `read` would be on the page's own thread.
WATCH = """
window.noted = [];
window.withheld = null;
const note = (what) => { if (noted.at(-1) !== what) noted.push(what); };
window.createImageBitmap = () => { throw new Error("decoded on the page"); };
CanvasRenderingContext2D.prototype.getImageData = () => { throw new Error("read on the page"); };
const draw = CanvasRenderingContext2D.prototype.drawImage;
CanvasRenderingContext2D.prototype.drawImage = function (...about) {
    note("drawn");
    draw.apply(this, about);
};
const send = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message, ...others) {
    const asked = message.action === "classify.photo";
    if (asked) note("asked");
    if (!asked || !window.withhold) send.call(this, message, ...others);
    else window.withheld = () => send.call(this, message, ...others);
};
addEventListener("DOMContentLoaded", () => {
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    const parts = document.querySelectorAll(".photo, [data-testid=image-result]");
    const changed = (records) => {
        // The name of the picture is taken away at once, which draws nothing.
        if (records.some(({ attributeName }) => attributeName !== "data-source")) note("changed");
    };
    for (const part of parts) new MutationObserver(changed).observe(part, all);
});
"""

WAITING = re.compile(r"\bwaiting\b")

# The page's patience with an answer never ends.
PATIENT = """
const later = setTimeout;
window.setTimeout = (work, ms, ...more) => (ms === 100 ? 1e9 : later(work, ms, ...more));
"""


def test_nothing_is_drawn_before_the_answer(visitor):
    visitor.page.add_init_script(WATCH)
    visitor.page.add_init_script(PATIENT)
    add_colours(visitor.page)
    visitor.open("./?device=numpy&model=colours#classify")
    for number in (3, 7, 5):
        visitor.page.evaluate("noted.length = 0")
        visitor.choose(small(number))
        assert visitor.answer(f"{number}.png")[0]["label"] == most(number)
        until(visitor.page, "noted.includes('drawn')")
        assert visitor.page.evaluate("noted.slice(0, 2)") == ["asked", "changed"]


def test_a_picture_without_an_answer_is_shown_in_the_end(visitor):
    visitor.page.add_init_script(WATCH)
    add_colours(visitor.page)
    visitor.open("./?device=numpy&model=colours#classify")
    visitor.choose(small(3))
    visitor.answer("3.png")
    visitor.page.evaluate("[noted.length, window.withhold] = [0, true]")
    visitor.choose(small(7))
    canvas = visitor.page.locator(".photo canvas")
    expect(canvas).to_have_attribute("aria-label", "7.png")
    expect(visitor.page.locator("#view-classify")).to_have_class(WAITING)
    expect(visitor.result.locator("li")).to_have_count(0)
    until(visitor.page, "noted.includes('drawn') && window.withheld")
    visitor.page.evaluate("[window.withhold] = [false]; withheld()")
    assert visitor.answer("7.png")[0]["label"] == most(7)
    expect(visitor.page.locator("#view-classify")).not_to_have_class(WAITING)
