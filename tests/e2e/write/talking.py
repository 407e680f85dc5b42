"""What the tests of the Write view share: a tiny model, and talking with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

PATIENCE = 120_000


def opened(visitor: Any, given: dict[str, Any], device: str = "wasm") -> Callable[[str], Any]:
    """The view with a model that is loaded; returns what finds a hook of the view."""
    visitor.open(f"./?device={device}#write")
    hook = visitor.hook
    expect(hook("write-send")).to_be_disabled(timeout=PATIENCE)
    load(hook, given)
    return hook


def load(hook: Any, given: dict[str, Any]) -> None:
    """Chooses a file with a model, and waits until it is loaded."""
    hook("write-file").set_input_files(given)
    expect(hook("write-model-info")).to_have_attribute("data-state", "chosen")
    expect(hook("write-model-info")).to_contain_text(given["name"])
    hook("write-load").click()
    expect(hook("write-model-info")).to_have_attribute("data-state", "loaded", timeout=PATIENCE)


def said(page: Page) -> list[list[str]]:
    """What the visitor said in the conversations that the browser keeps, the newest first."""
    entries = page.evaluate(
        "Object.entries(localStorage).filter(([key]) => key.startsWith('tallow.talk '))"
    )
    kept = sorted((json.loads(text) for _, text in entries), key=lambda each: -each["at"])
    return [[m["content"] for m in each["messages"] if m["role"] == "user"] for each in kept]


def options(hook: Any, **values: float) -> None:
    hook("write-temperature").locator("xpath=ancestor::details").evaluate("it => it.open = true")
    for name, value in values.items():
        hook(f"write-{name.replace('_', '-')}").fill(str(value))


def sent(hook: Any, text: str) -> None:
    """Sends a message; its answer has begun."""
    talk = hook("write-input").page.locator(".talk li")
    before = talk.count()
    hook("write-input").fill(text)
    hook("write-send").click()
    expect(talk).to_have_count(before + 2, timeout=PATIENCE)


def asked(hook: Any, text: str) -> str:
    """The answer to a message."""
    sent(hook, text)
    expect(hook("write-output")).to_have_attribute("data-state", "done", timeout=PATIENCE)
    return "".join(hook("write-output").locator(".piece").all_text_contents())
