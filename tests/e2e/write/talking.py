"""What the tests of the Write view share: a tiny model, and talking with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

PATIENCE = 120_000


def opened(visitor: Any, given: dict[str, Any], device: str = "wasm") -> Callable[[str], Any]:
    """The view with a model that is loaded; returns what finds a hook of the view."""
    visitor.open(f"./?device={device}#write")
    hook = visitor.hook
    expect(hook("write-send")).to_be_disabled(timeout=PATIENCE)
    hook("write-file").set_input_files(given)
    expect(hook("write-status")).to_have_attribute("data-state", "chosen")
    expect(hook("write-status")).to_contain_text("tiny.gguf")
    hook("write-load").click()
    expect(hook("write-status")).to_have_attribute("data-state", "loaded", timeout=PATIENCE)
    return hook


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
