"""A trained network is used in other views at once, and kept until its run is removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playwright.sync_api import expect
from tests.e2e.conftest import worker_of
from tests.e2e.train.test_page_own import add_class, files_of, has, learnt, opened, plain

from tallow_build.environment.browser import until

PATIENCE = 120_000

LISTED = "caches.match(new URL('models/own/list.json', document.baseURI))"
"""The list of the trained networks, a Response."""

Strokes = Sequence[Sequence[tuple[float, float]]]


def line(at: float) -> Strokes:
    return [[(0.15 + at, 0.5), (0.5, 0.5), (0.85, 0.5 + at)]]


def cross(at: float) -> Strokes:
    return [[(0.2 + at, 0.2), (0.5, 0.5), (0.8, 0.8)], [(0.8, 0.2), (0.5, 0.5), (0.2, 0.8 - at)]]


SIGNS = {"line": line, "cross": cross}


def teach(visitor: Any) -> Any:
    """A run that knows the signs."""
    hook = opened(visitor, "signs")
    mouse = visitor.page.mouse
    for name, strokes in SIGNS.items():
        add_class(hook, name)
        for number in range(5):
            hook("train-pad").scroll_into_view_if_needed()
            box = hook("train-pad").bounding_box()
            assert box
            for stroke in strokes(0.02 * number):
                for at, (x, y) in enumerate(stroke):
                    mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
                    if at == 0:
                        mouse.down()
                mouse.up()
            hook("train-sign-keep").click()
            has(hook, name, number + 1)
    learnt(hook)
    return hook


def drawn(visitor: Any, name: str) -> None:
    """Draws a sign, which is recognised."""
    hook = visitor.hook
    visitor.draw(*SIGNS[name](0.01))
    expect(hook("digit-result")).to_have_text(name, timeout=PATIENCE)
    assert visitor.read() == name
    expect(hook("digit-classes").get_by_role("listitem").first).to_have_attribute(
        "data-label", name
    )
    expect(hook("digit-classes").get_by_role("listitem")).to_have_count(len(SIGNS))
    visitor.clear()


def test_own_signs_are_read_in_draw_until_their_run_is_removed(visitor: Any) -> None:
    hook = teach(visitor)
    page = visitor.page
    elsewhere = hook("train-use-elsewhere")
    expect(elsewhere).to_have_text("Use in Draw")
    visitor.show("Draw")
    expect(hook("digit-model")).to_be_hidden()  # there is nothing to choose
    visitor.show("Train")
    page.context.set_offline(True)  # what was trained here is on no server
    elsewhere.click()
    expect(page.locator("#view-draw")).to_be_visible(timeout=PATIENCE)
    visitor.wait()
    choice = hook("digit-model")
    expect(choice.locator(":checked")).to_have_text("signs 1")
    drawn(visitor, "line")
    drawn(visitor, "cross")
    page.context.set_offline(False)

    page.reload()
    visitor.wait()
    expect(choice.locator(":checked")).to_have_text("signs 1")
    drawn(visitor, "cross")
    choice.select_option("mnist")
    visitor.draw_seven()
    expect(hook("digit-result")).to_have_text("7", timeout=PATIENCE)
    visitor.clear()

    page.evaluate("location.hash = '#train'")
    name = hook("train-run-name")
    expect(name).to_have_value("signs 1", timeout=PATIENCE)
    name.fill("my signs")
    name.press("Enter")
    until(page, f"(await (await {LISTED}).text()).includes('my signs')")
    page.evaluate("location.hash = '#draw'")
    expect(choice.locator("option", has_text="my signs")).to_be_attached(timeout=PATIENCE)
    choice.select_option(label="my signs")
    drawn(visitor, "line")

    page.evaluate("location.hash = '#train'")
    hook("train-run-remove").click()
    expect(hook("train-runs")).to_have_text("No runs are kept yet.", timeout=PATIENCE)
    page.evaluate("location.hash = '#draw'")
    expect(choice).to_be_hidden()
    expect(choice.locator("option")).to_have_text(["Handwritten digits"])
    visitor.draw_seven()
    expect(hook("digit-result")).to_have_text("7", timeout=PATIENCE)
    kept = "(await caches.keys()).find((name) => name.startsWith('tallow:models:'))"
    files = page.evaluate(f"async () => (await (await caches.open({kept})).keys()).length")
    assert files == 1  # the list, which is empty


def test_own_pictures_are_recognised_in_classify(visitor: Any) -> None:
    hook = opened(visitor, "pictures")
    for name, blue in {"red": 0, "blue": 200}.items():
        add_class(hook, name)
        pictures = [plain((200 - blue, 3 * at, blue), f"{at}.png") for at in range(5)]
        files_of(hook, name).set_input_files(pictures)
        has(hook, name, 5)
    learnt(hook)
    elsewhere = hook("train-use-elsewhere")
    expect(elsewhere).to_have_text("Use in Classify")
    elsewhere.click()
    expect(visitor.page.locator("#view-classify")).to_be_visible(timeout=PATIENCE)
    visitor.wait()
    expect(hook("model-select").locator(":checked")).to_have_text("pictures 1")
    for name, colour in {"red": (190, 8, 5), "blue": (5, 8, 190)}.items():
        visitor.choose(plain(colour, f"{name}.png"))
        best, other = visitor.answer(f"{name}.png")
        assert best["label"] == name and best["probability"] > 0.8, (best, other)
    visitor.page.reload()
    visitor.wait()
    expect(hook("model-select").locator(":checked")).to_have_text("pictures 1")
    visitor.choose(plain((190, 8, 5), "again.png"))
    assert visitor.answer("again.png")[0]["label"] == "red"


def test_without_space_that_is_said_and_the_network_stays(visitor: Any) -> None:
    hook = teach(visitor)
    worker_of(visitor.page).evaluate(
        """() => { Cache.prototype.put = async () => {
            throw new DOMException("", "QuotaExceededError"); }; }"""
    )
    hook("train-use-elsewhere").click()
    message = visitor.page.locator("[data-part=elsewhere] .message")
    expect(message).to_contain_text("storage has no room for this. Remove runs", timeout=PATIENCE)
    hook("language-select").select_option("zh")
    expect(message).to_contain_text("请删除一些训练记录")
    expect(hook("train-use-elsewhere")).to_be_enabled()
