"""Drawing with only the keyboard, and what screen readers announce."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

HEARD = """() => {
    window.announced = [];
    for (const status of document.querySelectorAll("#view-draw [role=status]"))
        new MutationObserver(() => window.announced.push(status.textContent))
            .observe(status, { childList: true, characterData: true, subtree: true });
}"""


@pytest.fixture
def visitor(regular):
    """One page for all tests that do not need a fresh one."""
    return regular


@pytest.fixture
def go(visitor):
    """go(ArrowDown=4, ...): presses keys that many times."""

    def press(**times: int) -> None:
        for key, count in times.items():
            for _ in range(count):
                visitor.page.keyboard.press(key)

    return press


def test_the_keyboard_draws_what_is_read(visitor, go):
    visitor.open("./?device=numpy")
    page, keys = visitor.page, visitor.page.keyboard
    pad, cursor = visitor.hook("digit-pad"), page.locator(".cursor")
    hint = page.get_by_text("Arrows move")
    pen = page.locator("#view-draw .said.pen")
    expect(pad).to_have_accessible_description(
        "Arrows move, hold Space to draw; Enter lowers and lifts the pen"
    )
    expect(cursor).to_be_hidden()
    expect(hint).to_be_hidden()
    page.get_by_test_id("language-select").focus()
    keys.press("Tab")
    expect(pad).to_be_focused()
    expect(cursor).to_be_visible()
    expect(hint).to_be_visible()
    page.evaluate(HEARD)

    before = cursor.bounding_box()
    go(ArrowLeft=6)
    assert cursor.bounding_box()["x"] < before["x"]
    assert visitor.read() == ""  # moving draws nothing

    keys.down(" ")  # a 7: along the top, then diagonally with two arrows at once
    go(ArrowRight=12)
    keys.down("ArrowLeft")
    for _ in range(6):
        keys.press("ArrowDown")
    keys.up("ArrowLeft")
    go(ArrowDown=9)
    keys.up(" ")
    assert visitor.read() == "7"
    assert page.evaluate("scrollY") == 0
    expect(page.get_by_role("status").get_by_text("The digit is 7")).to_be_attached()
    # It is announced once, not with every step.
    assert page.evaluate("window.announced") == ["Pen down", "Pen up", "The digit is 7"]

    keys.press("Control+z")
    assert visitor.read() == ""
    go(ArrowUp=20, ArrowLeft=30)  # up to the edge, not beyond
    go(ArrowRight=14, ArrowDown=6, Enter=1)
    expect(pen).to_have_text("Pen down")
    keys.press("Enter")  # lifted: a dot is drawn
    expect(pen).to_have_text("Pen up")
    keys.press("Control+z")
    keys.press("Enter")
    go(ArrowDown=17)
    keys.press("Enter")
    go(ArrowRight=8)  # lifted: draws no foot
    assert visitor.read() == "1"

    keys.press("Enter")
    keys.press("Tab")  # leaving the pad lifts the pen
    expect(cursor).to_be_hidden()
    expect(visitor.hook("digit-undo")).to_be_focused()
    expect(pen).to_be_empty()

    visitor.hook("language-select").select_option("zh")
    pad.focus()
    keys.press("Enter")
    expect(pen).to_have_text("落笔")
    keys.press("Enter")
    expect(pen).to_have_text("抬笔")


def test_the_mouse_hides_the_cursor(visitor):
    visitor.open("./?device=numpy")
    visitor.hook("digit-pad").focus()
    visitor.page.keyboard.press("ArrowDown")
    expect(visitor.page.locator(".cursor")).to_be_visible()
    visitor.draw_seven()
    expect(visitor.page.locator(".cursor")).to_be_hidden()
    expect(visitor.page.get_by_text("Arrows move")).to_be_hidden()
    assert visitor.read() == "7"
