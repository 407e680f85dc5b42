"""Draw: each digit is read on every device, while it is drawn and afterwards."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Route, expect

DIGITS = {
    0: [[(0.5, 0.2), (0.36, 0.27), (0.29, 0.42), (0.29, 0.58), (0.36, 0.73), (0.5, 0.8),
         (0.64, 0.73), (0.71, 0.58), (0.71, 0.42), (0.64, 0.27), (0.5, 0.2)]],
    1: [[(0.53, 0.2), (0.5, 0.5), (0.48, 0.8)]],
    2: [[(0.32, 0.33), (0.38, 0.23), (0.5, 0.19), (0.62, 0.24), (0.66, 0.36), (0.6, 0.5),
         (0.45, 0.66), (0.31, 0.79), (0.5, 0.79), (0.7, 0.79)]],
    3: [[(0.33, 0.25), (0.47, 0.19), (0.61, 0.24), (0.63, 0.36), (0.55, 0.46), (0.44, 0.49),
         (0.58, 0.52), (0.67, 0.62), (0.63, 0.75), (0.48, 0.81), (0.32, 0.76)]],
    4: [[(0.38, 0.2), (0.34, 0.38), (0.31, 0.55), (0.5, 0.56), (0.72, 0.55)],
        [(0.62, 0.2), (0.61, 0.5), (0.6, 0.82)]],
    5: [[(0.66, 0.2), (0.38, 0.2), (0.36, 0.46), (0.5, 0.43), (0.64, 0.5), (0.67, 0.64),
         (0.6, 0.77), (0.46, 0.81), (0.32, 0.76)]],
    6: [[(0.6, 0.18), (0.46, 0.3), (0.37, 0.48), (0.35, 0.65), (0.43, 0.78), (0.56, 0.8),
         (0.65, 0.7), (0.62, 0.57), (0.5, 0.52), (0.38, 0.6)]],
    7: [[(0.3, 0.22), (0.5, 0.22), (0.7, 0.22), (0.6, 0.42), (0.5, 0.62), (0.42, 0.82)]],
    8: [[(0.62, 0.28), (0.5, 0.19), (0.38, 0.26), (0.4, 0.38), (0.52, 0.48), (0.64, 0.6),
         (0.63, 0.74), (0.5, 0.81), (0.37, 0.74), (0.37, 0.61), (0.49, 0.49), (0.61, 0.38),
         (0.62, 0.28)]],
    9: [[(0.64, 0.32), (0.54, 0.21), (0.4, 0.24), (0.35, 0.38), (0.42, 0.5), (0.55, 0.48),
         (0.64, 0.34), (0.64, 0.5), (0.62, 0.66), (0.58, 0.82)]],
}  # fmt: skip


@pytest.fixture
def visitor(regular):
    """One page for all tests that do not need a fresh one."""
    return regular


@pytest.mark.parametrize("device", ["webgpu", "wasm", "numpy"])
def test_each_digit_is_read(visitor, device):
    visitor.open(f"./?device={device}#draw")
    expect(visitor.device).to_have_attribute("data-device", device)
    read = {}
    for digit, strokes in DIGITS.items():
        visitor.draw(*strokes)
        read[digit] = visitor.read()
        assert float(visitor.latency.get_attribute("data-ms")) > 0
        visitor.clear()
    assert read == {digit: str(digit) for digit in DIGITS}


def test_reads_while_the_pen_is_down(visitor):
    visitor.open()
    visitor.page.mouse.move(*visitor.point(0.5, 0.2))
    visitor.page.mouse.down()
    visitor.page.mouse.move(*visitor.point(0.48, 0.8), steps=10)
    assert visitor.read() == "1"


def test_ink_drawn_before_the_model_is_loaded_is_answered_afterwards(newcomer):
    visitor = newcomer
    held: list[Route] = []
    drawn: list[bool] = []
    visitor.page.route(
        "**/models/mnist/*", lambda route: route.continue_() if drawn else held.append(route)
    )
    visitor.page.goto("./")
    visitor.draw_seven()
    expect(visitor.status).to_have_attribute("data-state", "loading")
    drawn.append(True)
    for route in held:
        route.continue_()
    visitor.wait()
    assert visitor.read() == "7"


def test_an_empty_pad_asks_for_a_drawing_and_has_no_answer(visitor):
    visitor.open()
    prompt = visitor.page.get_by_text("Draw here")
    expect(prompt).to_be_visible()
    assert visitor.read() == ""
    visitor.draw(*DIGITS[3])
    expect(prompt).to_be_hidden()
    assert visitor.read() == "3"
    visitor.clear()
    expect(prompt).to_be_visible()
    assert visitor.read() == ""
    assert visitor.latency.get_attribute("data-ms") is None
    visitor.page.wait_for_timeout(500)  # no late answer either
    assert visitor.read() == ""


def test_bars_show_all_ten_probabilities(visitor):
    visitor.open()
    visitor.draw(*DIGITS[4])
    assert visitor.read() == "4"
    bars = visitor.page.locator(".digits li")
    shares = [float(bar.get_attribute("data-probability")) for bar in bars.all()]
    assert len(shares) == 10
    assert sum(shares) == pytest.approx(1, abs=1e-3)
    assert shares.index(max(shares)) == 4


def test_a_finger_draws_and_does_not_scroll(browser: Browser, server: str, visitor_of):
    with browser.new_context(
        service_workers="block",
        base_url=server,
        has_touch=True,
        viewport={"width": 360, "height": 420},
    ) as context:
        visitor = visitor_of(context.new_page())
        visitor.open()
        finger = context.new_cdp_session(visitor.page)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            touches = [dict(zip("xy", visitor.point(*point), strict=True)) for point in points]
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

        touch("touchStart", (0.5, 0.1))
        for step in range(1, 17):
            touch("touchMove", (0.5, 0.1 + step / 20))
        touch("touchEnd")
        assert visitor.read() == "1"
        assert visitor.page.evaluate("scrollY") == 0
