"""Several digits side by side are read as a number. For splitting see tests/js/prepare.test.js."""

from __future__ import annotations

from playwright.sync_api import expect

DIGITS = {
    0: [[(0.5, 0.2), (0.35, 0.28), (0.29, 0.5), (0.35, 0.72), (0.5, 0.8), (0.65, 0.72),
         (0.71, 0.5), (0.65, 0.28), (0.5, 0.2)]],
    2: [[(0.32, 0.33), (0.38, 0.23), (0.5, 0.19), (0.62, 0.24), (0.66, 0.36), (0.6, 0.5),
         (0.31, 0.79), (0.5, 0.79), (0.7, 0.79)]],
    3: [[(0.33, 0.25), (0.47, 0.19), (0.61, 0.24), (0.63, 0.36), (0.55, 0.46), (0.44, 0.49),
         (0.58, 0.52), (0.67, 0.62), (0.63, 0.75), (0.48, 0.81), (0.32, 0.76)]],
    4: [[(0.38, 0.2), (0.31, 0.55), (0.72, 0.55)], [(0.62, 0.2), (0.6, 0.82)]],
    7: [[(0.3, 0.22), (0.7, 0.22), (0.5, 0.62), (0.42, 0.82)]],
    8: [[(0.62, 0.28), (0.5, 0.19), (0.38, 0.26), (0.4, 0.38), (0.52, 0.48), (0.64, 0.6),
         (0.63, 0.74), (0.5, 0.81), (0.37, 0.74), (0.37, 0.61), (0.49, 0.49), (0.61, 0.38),
         (0.62, 0.28)]],
}  # fmt: skip


def around(digit: int, middle: float, size: float) -> list[list[tuple[float, float]]]:
    """A digit's strokes, in the middle of the pad's height."""
    return [
        [(middle + (x - 0.5) * size, 0.5 + (y - 0.5) * size) for x, y in stroke]
        for stroke in DIGITS[digit]
    ]


def beside(digit: int, index: int, count: int) -> list[list[tuple[float, float]]]:
    """A digit's strokes, at one of several positions side by side."""
    return around(digit, (index + 0.5) / count, 1.4 / count)


def test_digits_side_by_side_are_a_number(visitor, patch):
    patch(
        visitor.page, "worker/models/model.js", "ms: performance.now() - began", "ms: 1"
    )  # of a picture
    visitor.open("./?device=webgpu")
    expect(visitor.device).to_have_attribute("data-device", "webgpu")
    page, number = visitor.page, visitor.hook("digit-number")
    visitor.draw(*beside(4, 0, 2))
    assert visitor.read() == "4"
    expect(number).to_have_text("")
    expect(visitor.digit).to_be_visible()
    one = float(visitor.latency.get_attribute("data-ms"))
    visitor.draw(*beside(2, 1, 2))
    assert visitor.read() == "42"
    expect(number).to_have_text("42")
    expect(number).to_be_visible()
    expect(number.locator("b")).to_have_text("2")  # the newest, which the bars are about
    expect(page.locator(".digits .best .label")).to_have_text("2")
    expect(page.get_by_role("status").get_by_text("The number is 42")).to_be_attached()
    assert float(visitor.latency.get_attribute("data-ms")) == one + 1  # of both
    visitor.hook("digit-undo").click()
    assert visitor.read() == "4"
    expect(number).to_have_text("")

    visitor.clear()
    boxes = """[...document.querySelectorAll(".read, .seen, .bars, .engine")].map(element => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [x, y + scrollY, width, height].map(Math.round);
    })"""
    page.get_by_role("radio", name="Thin").check()
    visitor.draw(*beside(3, 0, 4))
    assert visitor.read() == "3"
    of_one = {}
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        of_one[width] = page.evaluate(boxes)
    for index, digit in enumerate((0, 7, 8), 1):
        visitor.draw(*beside(digit, index, 4))
    assert visitor.read() == "3078"
    expect(number).to_have_text("3078")
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        box, seen = number.bounding_box(), page.locator(".seen").bounding_box()
        assert box["x"] + box["width"] <= seen["x"], width
        assert page.evaluate(boxes) == of_one[width]  # nothing has moved
    visitor.clear()
    assert visitor.read() == ""
    expect(number).to_have_text("")

    # Digits that touch, whichever order the strokes come in.
    page.get_by_role("radio", name="Medium").check()
    bar, stem = around(4, 0.62, 0.6)
    visitor.draw(stem)
    visitor.draw(*around(0, 0.36, 0.6))
    visitor.draw(bar)
    assert visitor.read() == "04"
    expect(number.locator("b")).to_have_text("4")
    visitor.hook("digit-undo").click()
    visitor.hook("digit-undo").click()
    assert visitor.read() == "1"
