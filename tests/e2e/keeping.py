"""Helpers for tests of saved plans: what is in storage, what the boot log shows."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tallow_build.environment.browser import until

PATIENCE = 120_000

# Ways to damage an entry: each changes its bytes, or returns others.
DAMAGE = {
    "a byte of the text": "(bytes) => { bytes[100] ^= 1; }",
    "a byte of a weight": "(bytes) => { bytes[bytes.length - 9] ^= 1; }",
    "a length": "(bytes) => { bytes[0] = 255; }",
    "cut short": "(bytes) => bytes.slice(0, 40_000)",
    "empty": "(bytes) => bytes.slice(0, 0)",
}

# Every saved plan: its cache, URL and size.
ENTRIES = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    if (!name.startsWith("tallow:plans:")) continue;
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      const bytes = new Uint8Array(await (await cache.match(request)).arrayBuffer());
      found.push([name, request.url, bytes.length]);
    }
  }
  return found;
}"""
# Whether so many plans are saved.
COUNT = """(await (await caches.open(`tallow:plans:3:${new URL("./", location).href}`)).keys())
  .filter(({ url }) => !url.includes("?")).length === argument"""
# When a plan was last used, as noted beside it.
LAST_USE = """(async () => {
  const cache = await caches.open(`tallow:plans:3:${new URL("./", location).href}`);
  const notes = (await cache.keys()).filter(({ url }) => url.endsWith("?used"));
  const uses = notes.map(async (note) => (await (await cache.match(note)).json()).used);
  return Math.max(...(await Promise.all(uses)));
})()"""
# Changes the only plan: calls code(bytes, cache, url).
CHANGE = """async () => {
  const [name] = (await caches.keys()).filter((each) => each.startsWith("tallow:plans:"));
  const cache = await caches.open(name);
  for (const { url } of await cache.keys()) {
    if (url.includes("?")) continue;
    const bytes = new Uint8Array(await (await cache.match(url)).arrayBuffer());
    await (CODE)(bytes, cache, url);
  }
}"""


def change(page: Page, code: str) -> None:
    """Calls code(bytes, cache, url) for each saved plan."""
    page.evaluate(CHANGE.replace("CODE", code))


def entries(page: Page) -> list[tuple[str, str, int]]:
    """All saved plans: cache, URL, size."""
    found: list[tuple[str, str, int]] = page.evaluate(ENTRIES)
    return found


def plans(page: Page) -> list[str]:
    """The URLs of all saved plans."""
    return [url for _, url, _ in entries(page) if "?" not in url]


def kept_in_all(page: Page, count: int) -> None:
    """Waits until so many plans are saved."""
    until(page, COUNT, count, seconds=PATIENCE / 1000)


def last_use(page: Page) -> float:
    """When a plan was last used."""
    found: float = page.evaluate(LAST_USE)
    return found


def used_since(page: Page, before: float) -> None:
    """Waits for the note that a plan was used after that time; the page does not show it."""
    until(page, f"await {LAST_USE} > argument", before)


def line(visitor: Any, stage: str, model: str = "mnist") -> Any:
    """The line of a stage in the boot log."""
    lines = visitor.hook("boot-log").locator(f"[data-stage={stage}]")
    return lines.filter(has_text=re.compile(rf"\b{re.escape(model)}\b"))


def kept(visitor: Any, model: str = "mnist") -> None:
    """Waits until the plan is saved."""
    expect(line(visitor, "keep", model)).to_have_attribute("data-state", "done", timeout=PATIENCE)


def recalled(visitor: Any, model: str = "mnist") -> None:
    """Checks that the model came from its saved plan, and its file was not requested."""
    expect(line(visitor, "plan", model)).to_have_attribute("data-state", "done")
    expect(line(visitor, "model", model)).to_have_count(0)
