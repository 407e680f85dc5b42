"""Conversations of the Write view: several, kept by the browser, in several tabs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.write.talking import asked, opened, options

PATIENCE = 120_000
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


@pytest.fixture
def two(visitor: Any) -> Any:
    """A visitor who had two conversations, and sees the newer one."""
    visitor.open("./?device=wasm")
    keep(visitor.page, ("a", talk("One?", "1")), ("b", talk("Two\n  lines of " + 60 * "w", "2")))
    visitor.page.locator("#to-write").click()
    expect(visitor.page.locator(".talk li")).to_have_count(2, timeout=PATIENCE)
    return visitor


def names(visitor: Any) -> list[str]:
    return visitor.hook("write-talks").locator("option").all_text_contents()


def test_a_conversation_is_chosen_by_its_first_message(two: Any) -> None:
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


def test_a_conversation_is_deleted_and_comes_back(two: Any) -> None:
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


def test_a_conversation_of_an_earlier_version_is_taken_over(visitor: Any) -> None:
    visitor.open("./?device=wasm")
    old = json.dumps(talk("Before", "then"))
    visitor.page.evaluate("(text) => localStorage.setItem('tallow.talk', text)", old)
    visitor.page.locator("#to-write").click()
    expect(visitor.page.locator(".talk li")).to_have_count(2, timeout=PATIENCE)
    assert names(visitor) == ["Before"]
    assert kept(visitor.page) == {"Before": ["Before", "then"]}
    assert visitor.page.evaluate("localStorage.getItem('tallow.talk')") is None


@pytest.mark.parametrize(
    "text",
    [
        '{"at": 1, "messages": [{"role": "user", "con',
        "[]",
        "null",
        '{"at": 1, "messages": [{"role": "user", "content": 3}]}',
        '{"at": 1, "messages": [null]}',
        '{"at": "now", "messages": []}',
    ],
)
def test_a_damaged_conversation_is_said_and_left_as_it_is(visitor: Any, text: str) -> None:
    visitor.open("./?device=wasm")
    keep(visitor.page, ("a", talk("One?", "1")), ("bad", text))
    visitor.page.locator("#to-write").click()
    expect(visitor.hook("write-kept")).to_contain_text("One conversation", timeout=PATIENCE)
    assert names(visitor) == ["One?"]
    found = visitor.page.evaluate(f"localStorage.getItem(`tallow.talk ${{{PLACE}}} bad`)")
    assert found == text


FULL = """() => {
  const set = Storage.prototype.setItem;
  Storage.prototype.setItem = function (key, value) {
    if (window.full) throw new DOMException("full", "QuotaExceededError");
    set.call(this, key, value);
  };
}"""


def test_a_full_storage_loses_nothing(two: Any) -> None:
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


def test_editing_the_first_message_forgets_nothing_until_it_is_sent(two: Any) -> None:
    before = kept(two.page)
    two.page.locator(".talk li").first.get_by_role("button", name="Edit").click()
    expect(two.page.locator(".talk li")).to_have_count(0)
    expect(two.hook("write-input")).to_have_value(re.compile("^Two"))
    assert kept(two.page) == before


def test_another_tab_is_seen(two: Any) -> None:
    page = two.page
    other = page.context.new_page()
    other.goto(page.url.split("?")[0] + "app.webmanifest")
    keep(other, ("b", talk("Two", "2", "Three", "3")))
    expect(page.locator(".talk li")).to_have_count(4)
    assert sorted(names(two)) == ["One?", "Two"]
    keep(other, ("c", talk("Four", "4")))
    expect(two.hook("write-talks").locator("option")).to_have_count(3)
    expect(page.locator(".talk li")).to_have_count(4)
    other.evaluate(f"localStorage.removeItem(`tallow.talk ${{{PLACE}}} b`)")
    expect(two.hook("write-talks").locator("option")).to_have_count(3)
    other.close()


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
