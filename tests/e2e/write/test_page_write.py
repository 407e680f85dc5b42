"""The Write view: a language model from a file, and a conversation with it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import Visitor
from tests.e2e.write.talking import PATIENCE, asked, load, opened, options, said, sent


@pytest.mark.parametrize("device", ["wasm", "webgpu", "numpy"])
def test_an_answer_streams_and_is_the_same_with_the_same_seed(
    visitor: Any, given: dict[str, Any], device: str
) -> None:
    hook = opened(visitor, given, device)
    expect(visitor.device).to_have_attribute("data-device", device)
    expect(hook("write-model-info")).to_contain_text("Llama")
    options(hook, most=12, temperature=0.8, seed=3)
    first = asked(hook, "Hello")
    assert first
    expect(hook("write-rate")).to_contain_text("12 tokens")
    assert float(hook("write-rate").get_attribute("data-value")) > 0

    hook("write-output").locator(".piece").first.hover()
    rows = hook("write-considered").locator("li")
    expect(rows).to_have_count(10)
    shares = [float(row.get_attribute("data-probability")) for row in rows.all()]
    assert shares == sorted(shares, reverse=True) and sum(shares) <= 1.001

    hook("write-output").evaluate("(item) => (item.dataset.old = 'yes')")
    hook("write-output").get_by_role("button", name="Answer again").click()
    new = visitor.page.locator("[data-testid=write-output][data-state=done]:not([data-old])")
    expect(new).to_be_attached(timeout=PATIENCE)
    assert "".join(hook("write-output").locator(".piece").all_text_contents()) == first


def test_what_was_considered_is_reached_by_the_keyboard(writer: Visitor) -> None:
    hook = writer.hook
    options(hook, most=6, temperature=0)
    asked(hook, "Hello")
    pieces = hook("write-output").locator(".piece")
    stops = hook("write-output").locator("[tabindex='0']")
    press = writer.page.keyboard.press
    expect(stops).to_have_count(1)
    expect(hook("write-considered")).to_be_hidden()

    writer.page.locator(".talk li.user button").focus()
    press("Tab")
    expect(pieces.first).to_be_focused()
    expect(hook("write-considered").locator("li")).to_have_count(10)
    expect(hook("write-piece")).to_contain_text("Most probable")
    before = hook("write-considered").inner_text()
    press("ArrowRight")
    expect(pieces.nth(1)).to_be_focused()
    assert hook("write-considered").inner_text() != before
    press("End")
    expect(pieces.last).to_be_focused()
    press("ArrowRight")
    expect(pieces.last).to_be_focused()
    press("Home")
    expect(pieces.first).to_be_focused()
    press("ArrowRight")
    expect(stops).to_have_count(1)
    expect(hook("write-output").get_by_role("group")).to_have_accessible_name(re.compile("arrow"))
    press("Tab")
    expect(hook("write-output").get_by_role("button")).to_be_focused()
    hook("write-close").click()
    expect(hook("write-considered")).to_be_hidden()
    expect(writer.page.locator(".piece.chosen")).to_have_count(0)


def test_what_cannot_be_a_model_is_said(writer: Visitor, given: dict[str, Any]) -> None:
    hook, content = writer.hook, given["buffer"]
    for size in (int(0.02 * len(content)), 5000, len(content) // 2, int(0.98 * len(content))):
        hook("write-file").set_input_files(given | {"buffer": content[:size]})
        expect(hook("write-model-info")).to_have_attribute("data-state", "chosen")
        hook("write-load").click()
        expect(hook("write-model-info")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
        expect(hook("write-model-info")).to_have_text(re.compile(r"^tiny\.gguf can’t be used: .+"))
        expect(hook("write-load")).to_have_text("Try again")
    hook("write-file").set_input_files({"name": "a.txt", "mimeType": "", "buffer": b"a"})
    expect(hook("write-model-info")).to_contain_text("end in .gguf")
    load(hook, given)


def test_a_conversation_is_edited_kept_stopped_and_forgotten(writer: Visitor) -> None:
    hook, page = writer.hook, writer.page
    options(hook, most=8, temperature=0)
    asked(hook, "One")
    asked(hook, "Two")
    talk = page.locator(".talk li")
    expect(talk).to_have_count(4)

    talk.nth(2).get_by_role("button", name="Edit").click()
    expect(hook("write-input")).to_have_value("Two")
    expect(talk).to_have_count(2)

    options(hook, most=400)
    sent(hook, "Three")
    expect(hook("write-output").locator(".piece").nth(2)).to_be_attached(timeout=PATIENCE)
    hook("write-stop").click()
    expect(hook("write-output")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(talk).to_have_count(4)
    options(hook, most=8)
    asked(hook, "After a stop")  # the worker has lost nothing

    page.reload()
    expect(talk).to_have_count(6, timeout=PATIENCE)
    assert said(page) == [["One", "Three", "After a stop"]]


def test_the_view_is_fetched_when_it_is_opened(visitor: Any) -> None:
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.open("./?device=wasm")
    visitor.draw_seven()
    assert visitor.read() == "7"
    assert not [url for url in asked if "write" in url]
    visitor.page.locator("#to-write").click()
    expect(visitor.page.locator("#view-write h1")).to_have_text("Write with a language model")
    assert len([url for url in asked if "views/write-" in url]) == 1
    visitor.hook("language-select").select_option("zh")
    expect(visitor.page.locator("#view-write h1")).to_have_text("用语言模型写作")
    expect(visitor.hook("write-model-info")).to_contain_text("需下载")
