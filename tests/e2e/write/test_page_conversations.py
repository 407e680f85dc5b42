"""Conversations of the Write view: several, kept by the browser, in several tabs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import watched_page
from tests.e2e.conftest import Visitor
from tests.e2e.write.talking import PATIENCE, asked, opened, options

PLACE = "new URL('.', document.baseURI).pathname"


def keep(page: Page, *talks: tuple[str, Any]) -> None:
    """Puts conversations into the storage, as (id, content): messages, or a text as it is."""
    for at, (name, content) in enumerate(talks):
        if not isinstance(content, str):
            content = json.dumps({"at": at + 1, "messages": content})
        page.evaluate(
            f"([id, text]) => localStorage.setItem(`tallow.talk ${{{PLACE}}} ${{id}}`, text)",
            [name, content],
        )


def kept(page: Page) -> dict[str, list[str]]:
    """What the storage has: what was said, by the beginning of its conversation."""
    texts = page.evaluate(
        "Object.entries(localStorage).filter(([key]) => key.startsWith('tallow.talk '))"
        ".map(([, text]) => text)"
    )
    found = [[m["content"] for m in json.loads(text)["messages"]] for text in texts]
    return {messages[0]: messages for messages in found}


def talk(*contents: str) -> list[dict[str, str]]:
    """Messages of the visitor and of the model, in turn."""
    return [
        {"role": ("user", "assistant")[number % 2], "content": content}
        for number, content in enumerate(contents)
    ]


@pytest.fixture(scope="module")
def tabs(browser: Browser, server: str) -> Iterator[tuple[Visitor, Page]]:
    """A visitor of the view, and another tab of this site."""
    for page, _ in watched_page(browser, server):
        visitor = Visitor(page)
        page.goto("./?device=wasm#write")
        expect(visitor.hook("write-new")).to_be_hidden(timeout=PATIENCE)
        other = page.context.new_page()
        other.goto("app.webmanifest")
        yield visitor, other


@pytest.fixture
def two(tabs: tuple[Visitor, Page]) -> Visitor:
    """A visitor who had two conversations, and sees the newer one."""
    visitor, other = tabs
    hook = visitor.hook
    hook("language-select").select_option("en")
    visitor.page.evaluate("window.full = false")
    for key in visitor.page.evaluate("Object.keys(localStorage)"):
        if key.startswith("tallow.talk "):
            other.evaluate("(key) => localStorage.removeItem(key)", key)
    expect(hook("write-talks").locator("option")).to_have_text(["New conversation"])
    keep(other, ("a", talk("One?", "1")), ("b", talk("Two\n  lines of " + 60 * "w", "2")))
    expect(hook("write-talks").locator("option")).to_have_count(3)
    hook("write-talks").select_option("b")
    expect(hook("write-talks").locator("option")).to_have_count(2)
    expect(visitor.page.locator(".talk li .said").nth(1)).to_have_text("2")
    return visitor


def names(visitor: Visitor) -> list[str]:
    return visitor.hook("write-talks").locator("option").all_text_contents()


def test_a_conversation_is_chosen_by_its_first_message(two: Visitor) -> None:
    assert names(two) == ["Two lines of " + 47 * "w" + "…", "One?"]
    items = two.page.locator(".talk li .said")
    expect(items.nth(1)).to_have_text("2")
    two.hook("write-talks").select_option(label="One?")
    expect(items.nth(1)).to_have_text("1")

    two.hook("write-new").click()
    expect(items).to_have_count(0)
    assert names(two)[0] == "New conversation"
    expect(two.hook("write-input")).to_be_focused()
    two.hook("language-select").select_option("zh")
    assert names(two)[0] == "新的对话"
    two.hook("write-talks").select_option(index=2)
    assert names(two) == ["Two lines of " + 47 * "w" + "…", "One?"]


def test_a_conversation_is_deleted_and_comes_back(two: Visitor) -> None:
    two.hook("write-delete").click()
    expect(two.hook("write-kept")).to_contain_text("Deleted: “Two lines of")
    assert names(two) == ["One?"]
    assert list(kept(two.page)) == ["One?"]
    undo = two.hook("write-kept").get_by_role("button")
    expect(undo).to_have_text("Undo")
    undo.click()
    expect(two.page.locator(".talk li .said").nth(1)).to_have_text("2")
    expect(undo).to_be_hidden()
    assert len(names(two)) == len(kept(two.page)) == 2

    two.hook("write-delete").click()
    two.hook("write-delete").click()
    assert names(two) == ["New conversation"]
    assert kept(two.page) == {}
    expect(two.hook("write-delete")).to_be_hidden()


DAMAGED = ("[]", "null", '{"at": "now", "messages": []}')


def test_an_earlier_versions_conversation_is_taken_over_and_damage_is_said_and_left(
    visitor: Any,
) -> None:
    """tests/js/talks.test.js has more kinds of damage."""
    page = visitor.page
    page.goto("app.webmanifest")
    old = json.dumps(talk("Before", "then"))
    page.evaluate("(text) => localStorage.setItem('tallow.talk', text)", old)
    keep(page, ("a", talk("One?", "1")), *((f"bad{at}", text) for at, text in enumerate(DAMAGED)))
    page.goto("./?device=wasm#write")
    expect(visitor.hook("write-kept")).to_contain_text("3 conversations", timeout=PATIENCE)
    expect(page.locator(".talk li")).to_have_count(2)
    assert names(visitor) == ["Before", "One?"]
    for at, text in enumerate(DAMAGED):
        assert page.evaluate(f"localStorage.getItem(`tallow.talk ${{{PLACE}}} bad{at}`)") == text
        page.evaluate(f"localStorage.removeItem(`tallow.talk ${{{PLACE}}} bad{at}`)")
    assert kept(page) == {"Before": ["Before", "then"], "One?": ["One?", "1"]}
    assert page.evaluate("localStorage.getItem('tallow.talk')") is None


FULL = """() => {
  const set = Storage.prototype.setItem;
  Storage.prototype.setItem = function (key, value) {
    if (window.full) throw new DOMException("full", "QuotaExceededError");
    set.call(this, key, value);
  };
}"""


def test_a_full_storage_loses_nothing(two: Visitor) -> None:
    page = two.page
    page.evaluate(FULL)
    page.evaluate("window.full = true")
    two.hook("write-talks").select_option(label="One?")
    two.hook("write-delete").click()
    two.hook("write-kept").get_by_role("button", name="Undo").click()
    expect(two.hook("write-kept")).to_contain_text("storage is full")
    assert "One?" in names(two) and "One?" not in kept(page)
    expect(page.locator(".talk li .said").nth(1)).to_have_text("1")
    page.evaluate("window.full = false")
    two.hook("write-delete").click()
    two.hook("write-kept").get_by_role("button", name="Undo").click()
    assert kept(page)["One?"] == ["One?", "1"]


def test_storage_that_is_refused_is_said(visitor: Any, given: Any) -> None:
    visitor.page.add_init_script(
        "Object.defineProperty(window, 'localStorage',"
        " { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    hook = opened(visitor, given)
    options(hook, most=4)
    asked(hook, "One")
    expect(hook("write-kept")).to_contain_text("stores nothing")
    assert names(visitor) == ["One"]


def test_editing_the_first_message_forgets_nothing_until_it_is_sent(two: Visitor) -> None:
    before = kept(two.page)
    two.page.locator(".talk li").first.get_by_role("button", name="Edit").click()
    expect(two.page.locator(".talk li")).to_have_count(0)
    expect(two.hook("write-input")).to_have_value(re.compile("^Two"))
    assert kept(two.page) == before


def test_another_tab_is_seen(two: Visitor, tabs: tuple[Visitor, Page]) -> None:
    page, other = two.page, tabs[1]
    keep(other, ("b", talk("Two", "2", "Three", "3")))
    expect(page.locator(".talk li")).to_have_count(4)
    assert sorted(names(two)) == ["One?", "Two"]
    keep(other, ("c", talk("Four", "4")))
    expect(two.hook("write-talks").locator("option")).to_have_count(3)
    expect(page.locator(".talk li")).to_have_count(4)
    other.evaluate(f"localStorage.removeItem(`tallow.talk ${{{PLACE}}} b`)")
    expect(two.hook("write-talks").locator("option")).to_have_text(
        ["New conversation", "One?", "Four"]
    )


def test_another_tab_is_not_overwritten(visitor: Any, given: Any) -> None:
    hook = opened(visitor, given)
    options(hook, most=8)
    asked(hook, "One")
    page = visitor.page
    (key,) = page.evaluate("Object.keys(localStorage).filter((k) => k.startsWith('tallow.talk '))")
    # A tab hears nothing of what it writes itself.
    keep(page, (key.split()[-1], talk("One", "of another tab")))
    asked(hook, "Two")
    expect(hook("write-kept")).to_contain_text("Another tab")
    found = page.evaluate(
        "Object.entries(localStorage).filter(([k]) => k.startsWith('tallow.talk '))"
    )
    said = sorted([m["content"] for m in json.loads(text)["messages"]][:3] for _, text in found)
    assert said[0][0] == said[1][0] == "One" and len(found) == 2
    assert ["One", "of another tab"] in said and "Two" in said[0] + said[1]
    assert names(visitor) == ["One", "One"]
