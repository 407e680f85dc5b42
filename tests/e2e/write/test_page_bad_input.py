"""What goes wrong in the Write view is one clear line, and the conversation stays."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.write.talking import PATIENCE, asked, opened, options
from tests.unit.hub import tiny

FOREVER = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"


def given_with(**metadata: Any) -> dict[str, Any]:
    return {"name": "tiny.gguf", "mimeType": "", "buffer": tiny.gguf_file(**metadata)}


def failed(visitor: Any, text: str, said: str) -> None:
    """Sends a message; the answer fails with a line, and the message stays, also on a reload."""
    hook, items = visitor.hook, visitor.page.locator(".talk li")
    before = items.count()
    hook("write-input").fill(text)
    hook("write-send").click()
    expect(hook("write-said")).to_contain_text(said, timeout=PATIENCE)
    expect(hook("write-said").get_by_role("button", name="Try again")).to_be_visible()
    expect(hook("write-send")).to_be_visible()
    expect(items).to_have_count(before + 1)
    visitor.page.reload()
    expect(items).to_have_count(before + 1, timeout=PATIENCE)


def test_a_prompt_that_is_longer_than_the_context(visitor: Any, given: dict[str, Any]) -> None:
    opened(visitor, given)
    failed(visitor, "word " * 400, "the model reads 511")


def test_a_template_that_does_not_end(visitor: Any) -> None:
    opened(visitor, given_with(**{"tokenizer.chat_template": FOREVER}))
    failed(visitor, "Hello", "The answer failed: ")


def test_a_template_that_is_damaged(visitor: Any) -> None:
    opened(visitor, given_with(**{"tokenizer.chat_template": "{% for %}"}))
    failed(visitor, "Hello", "The answer failed: ")


def test_half_a_character_becomes_a_sign_for_it(visitor: Any, given: dict[str, Any]) -> None:
    hook = opened(visitor, given)
    options(hook, most=4)
    hook("write-input").evaluate(
        "(input) => { input.value = 'a\\ud800b'; input.dispatchEvent(new Event('input')); }"
    )
    hook("write-send").click()
    expect(hook("write-output")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    expect(visitor.page.locator(".talk li .said").first).to_have_text("a\ufffdb")


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_a_file_that_was_cut_off(visitor: Any, given: dict[str, Any], share: float) -> None:
    visitor.open("./?device=wasm#write")
    hook = visitor.hook
    content = given["buffer"]
    cut = given | {"buffer": content[: int(share * len(content))]}
    hook("write-file").set_input_files(cut)
    hook("write-load").click()
    expect(hook("write-status")).to_have_attribute("data-state", "failed", timeout=PATIENCE)
    expect(hook("write-status")).to_contain_text("tiny.gguf can’t be used: ")
    expect(hook("write-load")).to_have_text("Try again")


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
    expect(hook("write-said")).to_contain_text("memory is not enough", timeout=PATIENCE)
    texts = visitor.page.locator(".talk li .said")
    expect(texts).to_have_count(4)
    assert texts.nth(1).text_content() == first and texts.nth(3).text_content()
    options(hook, most=3)
    hook("write-said").get_by_role("button", name="Try again").click()
    expect(hook("write-said").get_by_role("button")).to_be_hidden()
    expect(hook("write-output")).to_have_attribute("data-state", "done", timeout=PATIENCE)
