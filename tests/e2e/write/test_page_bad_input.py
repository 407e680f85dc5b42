"""What goes wrong in the Write view is one clear line, and the conversation stays."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect
from tests.e2e.conftest import Visitor
from tests.e2e.write.talking import PATIENCE, asked, load, opened, options, said
from tests.unit.hub import tiny

FOREVER = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


def given_with(template: str) -> dict[str, Any]:
    content = tiny.gguf_file(**{"tokenizer.chat_template": template})
    return {"name": "other.gguf", "mimeType": "", "buffer": content}


def failed(visitor: Any, text: str, why: str) -> None:
    """Sends a message; the answer fails with a line, and the message stays."""
    hook, items = visitor.hook, visitor.page.locator(".talk li")
    before = items.count()
    hook("write-input").fill(text)
    hook("write-send").click()
    expect(hook("write-said")).to_contain_text(why, timeout=PATIENCE)
    expect(hook("write-said").get_by_role("button", name="Try again")).to_be_visible()
    expect(hook("write-send")).to_be_visible()
    expect(items).to_have_count(before + 1)


def test_a_prompt_or_a_template_that_fails_is_said_and_the_message_stays(writer: Visitor) -> None:
    hook, page = writer.hook, writer.page
    failed(writer, "word " * 400, "the model reads 511")
    for template, text in ((FOREVER, "It does not end"), ("{% for %}", "It is damaged")):
        load(hook, given_with(template))
        hook("write-new").click()
        expect(page.locator(".talk li")).to_have_count(0)
        failed(writer, text, "The answer failed: ")
    page.reload()
    expect(page.locator(".talk li .said")).to_have_text("It is damaged", timeout=PATIENCE)
    assert said(page) == [["It is damaged"], ["It does not end"], [("word " * 400).strip()]]


def test_half_a_character_becomes_a_sign_for_it(writer: Visitor) -> None:
    hook = writer.hook
    options(hook, most=4)
    hook("write-input").evaluate(
        "(input) => { input.value = 'a\\ud800b'; input.dispatchEvent(new Event('input')); }"
    )
    hook("write-send").click()
    expect(hook("write-output")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(writer.page.locator(".talk li .said").first).to_have_text("a\ufffdb")


# In the worker's side of the view.
ANSWER = 'return app.stream(context, "write.write_text"'

NO_MEMORY = """globalThis.WebAssembly.Memory = class {
  constructor() { throw new RangeError("WebAssembly.Memory(): could not allocate memory"); }
};"""


def test_memory_that_is_not_there(visitor: Any, given: dict[str, Any], patch: Any) -> None:
    patch(visitor.page, "views/write/worker.js", ANSWER, f"{NO_MEMORY} {ANSWER}")
    opened(visitor, given)
    failed(visitor, "Hello", "memory")


MIDDLE = """let pieces = 0;
    const { progress } = context;
    context = { ...context, progress: (report) => {
      if (++pieces > 6) throw new RangeError("Array buffer allocation failed");
      progress(report);
    } };"""


def test_memory_that_ends_in_the_middle(visitor: Any, given: dict[str, Any], patch: Any) -> None:
    patch(visitor.page, "views/write/worker.js", ANSWER, f"{MIDDLE} {ANSWER}")
    hook = opened(visitor, given)
    options(hook, most=3, temperature=0.8)
    first = asked(hook, "One")
    options(hook, most=40)
    hook("write-input").fill("Two")
    hook("write-send").click()
    expect(hook("write-said")).to_contain_text("ran out of memory", timeout=PATIENCE)
    texts = visitor.page.locator(".talk li .said")
    expect(texts).to_have_count(4)
    assert texts.nth(1).text_content() == first and texts.nth(3).text_content()
    options(hook, most=3)
    hook("write-said").get_by_role("button", name="Try again").click()
    expect(hook("write-said").get_by_role("button")).to_be_hidden()
    expect(hook("write-output")).to_have_attribute("data-state", "done", timeout=PATIENCE)
