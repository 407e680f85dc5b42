"""Several digits side by side: split, and read as a number."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw
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


def beside(digit: int, place: int, places: int) -> list[list[tuple[float, float]]]:
    """A digit's strokes, in one of so many places side by side."""
    return around(digit, (place + 0.5) / places, 1.4 / places)


def test_digits_side_by_side_are_a_number(visitor, patch):
    patch(
        visitor.page, "worker/models/model.js", "ms: performance.now() - began", "ms: 1"
    )  # of a picture
    visitor.open()
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
    expect(number.locator("b")).to_have_text("2")  # the newest, which the bars tell of
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
    blank = {}
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        blank[width] = page.evaluate(boxes)
    page.get_by_role("radio", name="Thin").check()
    for place, digit in enumerate((3, 0, 7, 8)):
        visitor.draw(*beside(digit, place, 4))
    assert visitor.read() == "3078"
    expect(number).to_have_text("3078")
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        box, seen = number.bounding_box(), page.locator(".seen").bounding_box()
        assert box["x"] + box["width"] <= seen["x"], width
        assert page.evaluate(boxes) == blank[width]  # nothing has moved
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


@pytest.fixture
def split(module):
    """split(draw): what prepare/split.js makes of ink that draw(brush) puts on 300 x 200, which lie
    1000 from the left of the whole."""

    def take(draw) -> list[tuple[int, int, np.ndarray]]:
        image = Image.new("L", (300, 200))
        draw(ImageDraw.Draw(image))
        found = module(
            "./prepare/split.js",
            "(m, ink) => m.splitDigits({ ink: new Uint8Array(ink), width: 300, height: 200,"
            " left: 1000, right: 1300, top: 0 }).map(d => ({ ...d, ink: [...d.ink] }))",
            np.asarray(image).ravel().tolist(),
        )
        return [
            (
                d["left"] - 1000,
                d["right"] - 1000,
                np.array(d["ink"]).reshape(d["height"], d["width"]),
            )
            for d in found
        ]

    return take


def line(*points, width=12):
    return lambda brush: brush.line(points, fill=255, width=width)


def test_parts_that_lie_above_each_other_are_one_digit(split):
    def several(*marks):
        return lambda brush: [mark(brush) for mark in marks]

    def places(found):
        return [(left, right) for left, right, _ in found]

    assert split(lambda brush: None) == []
    stem, other = line((40, 20), (40, 180)), line((200, 20), (200, 180))
    assert places(split(several(other, stem))) == [(35, 47), (195, 207)]  # left to right
    body = line((60, 60), (50, 100), (110, 130), (50, 180))
    bar = line((60, 25), (120, 20))
    assert len(split(several(body, bar))) == 1
    far_bar = line((122, 25), (150, 20))  # a 5's bar that begins right of its body, but near
    assert len(split(several(body, far_bar))) == 1
    rings = [
        lambda brush: brush.ellipse((80, 10, 140, 80), outline=255, width=10),
        lambda brush: brush.ellipse((70, 95, 150, 190), outline=255, width=10),
    ]
    assert len(split(several(*rings))) == 1
    four = [line((60, 20), (40, 110), (130, 110)), line((110, 122), (110, 190))]
    assert len(split(several(*four))) == 1
    assert len(split(several(*four, other))) == 2
    # A dot far from every digit, or the next digit's beginning, is no digit yet.
    assert len(split(several(stem, other, line((260, 30), (264, 30))))) == 2
    assert len(split(line((100, 100), (180, 100)))) == 1  # but alone it is all that there is


def test_each_digit_has_its_own_ink_only(split):
    """A 7 that reaches over the digit after it."""
    found = split(
        lambda brush: [
            line((20, 30), (120, 30), (60, 180))(brush),
            line((129, 90), (129, 180))(brush),
        ]
    )
    assert len(found) == 2
    (left, right, seven), (start, end, stem) = found
    assert right > start  # they share columns
    assert seven.shape[1] == right - left
    assert (stem == 255).all() and stem.shape == (91, end - start)


def test_nearly_erased_ink_is_nothing(split):
    assert split(lambda brush: brush.line((40, 20, 40, 180), fill=15, width=3)) == []
    assert len(split(lambda brush: brush.line((40, 20, 40, 180), fill=16, width=3))) == 1
