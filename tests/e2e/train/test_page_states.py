"""The Train view in each of its states: accessible in both themes, no wider than a phone, reached
and heard by the keyboard and screen readers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.page.test_page_accessible import findings
from tests.e2e.start.test_page_early import hold_python
from tests.e2e.train.test_page_own import add_class
from tests.e2e.train.test_page_train import PATIENCE, few, lend, opened, state
from tests.e2e.train.test_page_train_insight import bars

NARROW = {"width": 320, "height": 700}

# What can be reached in the view, in the order of the document.
STOPS = """[...document.querySelectorAll("#view-train :is(a, button, input, select, textarea,"
  + "summary, [tabindex])")].filter(each => !each.disabled && each.tabIndex >= 0
    && each.checkVisibility())"""

# The place of what has the focus among them, and whether one sees that.
FOCUS = f"""() => {{
    const stops = {STOPS};
    const {{ activeElement: one }} = document;
    const ringed = [one, one.closest("label, .frame")].some(
        each => each && getComputedStyle(each).outlineStyle !== "none");
    return [stops.indexOf(one), ringed, one.outerHTML.slice(0, 200)];
}}"""

# Notes each text that comes into a live region of the view.
LISTEN = """() => {
    window.heard = [];
    const live = "[role=status], [role=alert], [aria-live]";
    new MutationObserver(changes => {
        const places = new Set(changes.map(({ target }) =>
            (target.nodeType === 1 ? target : target.parentElement)?.closest(live)));
        for (const place of places) {
            const said = place?.checkVisibility() && place.innerText.trim();
            if (said && place.said !== said) window.heard.push(said);
            if (place) place.said = said;
        }
    }).observe(document.getElementById("view-train"),
        { subtree: true, childList: true, characterData: true });
}"""


class Seen:
    """What axe-core finds in the states of a page, and which of them are too wide."""

    def __init__(self, visitor: Any) -> None:
        self._page = visitor.page
        self._page.set_viewport_size(NARROW)
        self.wrong: dict[str, Any] = {}

    def see(self, name: str) -> None:
        width = self._page.evaluate("document.documentElement.scrollWidth")
        if found := findings(self._page):
            self.wrong[name] = found
        if width > NARROW["width"]:
            self.wrong[f"{name}: width"] = width


@contextmanager
def seen(visitor: Any) -> Iterator[Seen]:
    found = Seen(visitor)
    yield found
    assert found.wrong == {}


def ready(visitor: Any) -> Any:
    """The view once Python has said what the network is."""
    hook = opened(visitor)
    total = hook("train-layer-total")
    expect(total).to_have_attribute("data-parameters", "61706", timeout=PATIENCE)
    return hook


def layers(visitor: Any) -> Any:
    """The table of layers, which is closed where it is narrow."""
    table = visitor.hook("train-layers")
    if not table.is_visible():
        visitor.page.locator("[data-part=layers] > summary").click()
    return table.locator("li")


def test_before_python_the_layers_are_there_and_start_waits(visitor: Any) -> None:
    lend(visitor, bars())
    with seen(visitor) as states:
        held = hold_python(visitor.page)
        visitor.page.goto("./?device=wasm#train")
        hook = visitor.hook
        expect(hook("train-start")).to_be_enabled(timeout=PATIENCE)
        total = hook("train-layer-total")
        expect(total).to_have_text("Python is starting. Then the layers can be changed.")
        expect(hook("train-network")).to_be_disabled()
        expect(hook("train-network").locator("option")).to_have_text("Loading…")
        expect(layers(visitor)).to_have_count(12)
        expect(layers(visitor).nth(0).locator("option")).to_have_text("Convolution")
        states.see("before Python")
        hook("train-start").click()
        state(hook, "running")
        expect(hook("train-status")).to_have_text("Python is starting; then the network learns…")
        states.see("waiting")
        held.release()
        state(hook, "done")
        expect(hook("train-network")).to_have_value("lenet5")
        expect(total).to_have_attribute("data-parameters", "61706")


def test_a_run_and_what_it_has_learnt(visitor: Any) -> None:
    lend(visitor, bars())
    with seen(visitor) as states:
        hook = ready(visitor)
        states.see("idle")
        expect(hook("train-pause")).to_be_hidden()
        expect(hook("train-stop")).to_be_hidden()
        few(hook, 600, epochs="1000", batch="20")
        layers(visitor)
        states.see("all settings")
        hook("train-start").click()
        expect(hook("train-confusion")).to_be_visible(timeout=PATIENCE)
        states.see("running")
        expect(hook("train-start")).to_be_hidden()
        hook("train-pause").click()
        state(hook, "paused")
        expect(hook("train-download-onnx")).to_be_visible()
        states.see("paused")
        hook("train-stop").click()
        expect(hook("train-stop")).to_be_hidden()
        expect(hook("train-start")).to_have_text("Start")
        few(hook, 600, epochs="3")
        hook("train-start").click()
        expect(hook("train-run-name")).to_have_count(2, timeout=PATIENCE)
        state(hook, "done")
        hook("train-run-compare").nth(1).check()
        expect(hook("train-differences")).to_be_visible()
        hook("train-review-begin").click()
        expect(hook("train-review").locator("li").first).to_be_visible(timeout=PATIENCE)
        states.see("done, compared and reviewed")
        hook("language-select").select_option("zh")
        states.see("in Chinese")


def test_what_fails(visitor: Any) -> None:
    lend(visitor, bars())
    with seen(visitor) as states:
        hook = ready(visitor)
        few(hook, 600, **{"lr-field": "1000", "decay": "1", "epochs": "4"})
        hook("train-start").click()
        state(hook, "failed")
        states.see("a loss that is not finite")
        first = layers(visitor).nth(0)
        first.locator("[name=kernel]").fill("40")
        expect(first.locator("[role=alert]")).to_contain_text("A window of 40×40")
        expect(hook("train-start")).to_be_disabled()
        total = hook("train-layer-total")
        expect(total).to_have_text("One layer is impossible; see why at that layer.")
        states.see("an impossible layer")


@pytest.mark.parametrize("kind", ["signs", "pictures", "sounds", "text"])
def test_own_data(visitor: Any, kind: str) -> None:
    with seen(visitor) as states:
        hook = opened(visitor)
        hook("train-data").select_option(kind)
        expect(hook("train-start")).to_be_enabled(timeout=PATIENCE)  # it says what is missing
        assert hook("train-layers").is_hidden()
        if kind != "text":
            states.see("no class")
            add_class(hook, "one")
        offered = {"signs": "lenet5", "pictures": "head", "sounds": "cnn", "text": "chargpt"}
        expect(hook("train-network")).to_have_value(offered[kind], timeout=PATIENCE)
        few(hook, 600)
        expect(hook("train-mirror")).to_be_visible(visible=kind == "signs")
        states.see("a class")


def test_a_number_that_does_not_count_is_shown(visitor: Any) -> None:
    hook = opened(visitor)
    few(hook, 600, batch="0")
    hook("train-options").locator("summary").click()
    expect(hook("train-batch")).to_be_hidden()
    hook("train-start").click()
    expect(hook("train-batch")).to_be_focused()
    state(hook, "idle")


def test_the_keyboard_reaches_all_of_a_run_and_shows_where_it_is(visitor: Any) -> None:
    lend(visitor, bars())
    hook = ready(visitor)
    page = visitor.page
    keys = page.keyboard
    few(hook, 600, epochs="1000", batch="20")
    hook("train-start").focus()
    keys.press("Enter")
    state(hook, "running")
    expect(hook("train-pause")).to_be_focused()
    expect(hook("train-data")).to_be_disabled()
    expect(hook("train-fixed")).to_contain_text("Pause to change them.")
    expect(hook("train-confusion")).to_be_visible(timeout=PATIENCE)
    keys.press("Enter")
    state(hook, "paused")
    expect(hook("train-start")).to_be_focused()
    expect(hook("train-fixed")).to_be_hidden()
    expect(hook("train-use")).to_be_visible()
    expect(hook("train-mistakes").locator("..").locator(".info")).not_to_be_empty()
    count = page.evaluate(f"{STOPS}.length")
    assert count > 60
    hook("train-data").focus()
    for number in range(count):
        place, ringed, one = page.evaluate(FOCUS)
        assert (place, ringed) == (number, True), one
        keys.press("Tab")
    assert page.evaluate("!document.activeElement.closest('#view-train')")


def test_the_focus_stays_in_the_list_of_runs(visitor: Any) -> None:
    lend(visitor, bars())
    hook = ready(visitor)
    for number in (1, 2):
        few(hook, 600, seed=str(number))
        hook("train-start").click()
        expect(hook("train-run-name")).to_have_count(number, timeout=PATIENCE)
        state(hook, "done")
    open_it, remove = hook("train-run-open"), hook("train-run-remove")
    expect(open_it.nth(0)).to_be_hidden()  # it is shown
    open_it.nth(1).focus()
    visitor.page.keyboard.press("Enter")
    expect(open_it.nth(1)).to_be_hidden()
    expect(hook("train-run-share").nth(1)).to_be_focused()
    remove.nth(1).focus()
    visitor.page.keyboard.press("Enter")
    expect(remove).to_have_count(1)
    expect(remove).to_be_focused()
    visitor.page.keyboard.press("Enter")
    expect(hook("train-runs")).to_be_focused()
    expect(hook("train-runs")).to_have_text("No runs are kept yet.")


def test_screen_readers_hear_of_a_run_and_not_of_its_steps(visitor: Any) -> None:
    lend(visitor, bars())
    hook = ready(visitor)
    few(hook, 600, epochs="2", batch="20")
    visitor.page.evaluate(LISTEN)
    hook("train-start").click()
    state(hook, "done")
    heard = visitor.page.evaluate("window.heard")
    assert "Opening the data and the network…" in heard
    assert "Done after 60 steps." in heard
    assert len(heard) <= 4, heard
    assert not [said for said in heard if re.search(r"step \d", said)]
