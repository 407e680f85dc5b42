"""The tools of the drawing pad: undo, redo, brushes, the eraser; a second finger."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

SEVEN = [(0.3, 0.22), (0.5, 0.22), (0.7, 0.22), (0.6, 0.42), (0.5, 0.62), (0.42, 0.82)]
ONE = [(0.53, 0.2), (0.5, 0.5), (0.48, 0.8)]
FLAT = [(0.1, 0.5), (0.9, 0.5)]

# A checksum of all pixels of the pad, and how many are inked.
INK = """canvas => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let [sum, inked] = [0, 0];
    for (let i = 3; i < data.length; i += 4) {
        sum = (Math.imul(sum, 31) + data[i]) | 0;
        if (data[i] > 127) inked += 1;
    }
    return [sum, inked];
}"""


@pytest.fixture
def visitor(regular):
    """One page for all tests that do not need a fresh one."""
    return regular


def ink_of(visitor):
    """ink(): [a sum over all pixels of the pad, how many are inked]."""
    return lambda: visitor.hook("digit-pad").evaluate(INK)


def test_undo_and_redo_restore_every_pixel(newcomer):
    visitor, ink = newcomer, ink_of(newcomer)
    visitor.open("./?device=numpy")
    undo, redo = visitor.hook("digit-undo"), visitor.hook("digit-redo")
    expect(undo).to_be_disabled()
    expect(redo).to_be_disabled()
    blank = ink()
    states = [blank]
    visitor.draw(SEVEN)
    assert visitor.read() == "7"
    states.append(ink())
    visitor.draw([(0.2, 0.2), (0.9, 0.9), (0.1, 0.6)])
    states.append(ink())
    visitor.hook("digit-eraser").click()
    visitor.draw(FLAT)
    states.append(ink())
    visitor.clear()
    states.append(ink())
    assert states[-1] == blank
    assert len({tuple(state) for state in states}) == len(states) - 1
    for state in reversed(states[:-1]):
        undo.click()
        assert ink() == state
    expect(undo).to_be_disabled()
    expect(redo).to_be_enabled()
    assert visitor.read() == ""
    for state in states[1:]:
        visitor.page.keyboard.press("Control+Shift+Z")
        assert ink() == state
    expect(redo).to_be_disabled()
    for state in reversed(states[1:-1]):
        visitor.page.keyboard.press("Meta+z")
        assert ink() == state
    assert visitor.read() == "7"
    visitor.hook("digit-eraser").click()  # away with the eraser
    visitor.draw(ONE)  # and with the redo list
    expect(redo).to_be_disabled()


def test_undo_in_the_middle_of_a_stroke_takes_that_stroke(visitor):
    ink = ink_of(visitor)
    visitor.open("./?device=numpy")
    visitor.draw(SEVEN)
    seven = ink()
    visitor.page.mouse.move(*visitor.point(0.2, 0.2))
    visitor.page.mouse.down()
    visitor.page.mouse.move(*visitor.point(0.8, 0.8), steps=5)
    assert ink() != seven
    visitor.page.keyboard.press("Control+z")
    visitor.page.mouse.move(*visitor.point(0.2, 0.8), steps=5)
    visitor.page.mouse.up()
    assert ink() == seven
    visitor.page.keyboard.press("Control+Shift+z")
    assert ink() != seven


def test_brushes_differ_and_the_eraser_leaves_nothing(visitor):
    ink = ink_of(visitor)
    visitor.open("./?device=numpy")
    amounts = []
    for name in ("Thin", "Medium", "Thick"):
        visitor.page.get_by_role("radio", name=name).check()
        visitor.draw(SEVEN)
        assert visitor.read() == "7", name
        amounts.append(ink()[1])
        visitor.clear()
    thin, medium, thick = amounts
    assert medium > 1.6 * thin
    assert thick > 1.4 * medium
    eraser = visitor.page.get_by_role("button", name="Eraser")
    visitor.draw(SEVEN)
    eraser.click()
    expect(eraser).to_have_attribute("aria-pressed", "true")
    visitor.draw(SEVEN)
    assert ink()[1] == 0
    assert visitor.read() == ""
    expect(visitor.page.get_by_text("Draw here")).to_be_visible()
    visitor.draw(FLAT)  # erases nothing, so there is nothing more to undo than the first eraser
    visitor.hook("digit-undo").click()
    assert visitor.read() == "7"


def test_tools_are_large_enough_and_move_nothing(visitor):
    visitor.open("./?device=numpy")
    visitor.page.set_viewport_size({"width": 320, "height": 800})
    tools = visitor.page.locator("#view-draw .question :is(button, .widths label)")
    boxes = [tool.bounding_box() for tool in tools.all()]
    assert len(boxes) == 7
    for box in boxes:
        assert box is not None
        assert box["width"] >= 44 and box["height"] >= 44
        assert box["x"] + box["width"] <= 320
    visitor.draw(SEVEN)
    visitor.hook("digit-eraser").click()
    assert [tool.bounding_box() for tool in tools.all()] == boxes


def test_a_second_finger_draws_nothing_and_breaks_nothing(
    browser: Browser, server: str, visitor_of
):
    with browser.new_context(
        service_workers="block",
        base_url=server,
        has_touch=True,
        viewport={"width": 360, "height": 700},
    ) as context:
        visitor = visitor_of(context.new_page())
        visitor.open("./?device=numpy")
        fingers = context.new_cdp_session(visitor.page)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            touches = [
                {**dict(zip("xy", visitor.point(*point), strict=True)), "id": i}
                for i, point in enumerate(points)
            ]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

        touch("touchStart", (0.5, 0.2))
        touch("touchStart", (0.5, 0.2), (0.9, 0.9))
        for step in range(1, 13):
            touch("touchMove", (0.5, 0.2 + step / 20), (0.9 - step / 20, 0.9 - step / 40))
        touch("touchEnd")
        assert visitor.read() == "1"
        assert visitor.page.evaluate("[scrollY, visualViewport.scale]") == [0, 1]
        touch("touchStart", (0.3, 0.5))
        touch("touchEnd")
        visitor.hook("digit-undo").click()
        assert visitor.read() == "1"
