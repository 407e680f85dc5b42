"""What the tests of plans that are kept share: what lies in storage, what the boot log says."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tallow_build.browser import until

PATIENCE = 120_000

# What may have happened to an entry: changes its bytes, or gives others.
DAMAGE = {
    "a byte of the text": "(bytes) => { bytes[100] ^= 1; }",
    "a byte of a weight": "(bytes) => { bytes[bytes.length - 9] ^= 1; }",
    "a length": "(bytes) => { bytes[0] = 255; }",
    "cut short": "(bytes) => bytes.slice(0, 40_000)",
    "empty": "(bytes) => bytes.slice(0, 0)",
}

# Every entry in the storage of plans: its cache, its address, its size.
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
# Whether so many plans are kept.
COUNT = """(await (await caches.open(`tallow:plans:3:${new URL("./", location).href}`)).keys())
  .filter(({ url }) => !url.includes("?")).length === argument"""
# When a plan was used last, as is noted beside them.
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
    """Has code(bytes, cache, url) do something to each plan that is kept."""
    page.evaluate(CHANGE.replace("CODE", code))


def entries(page: Page) -> list[tuple[str, str, int]]:
    """All that is kept of plans: cache, address, size."""
    found: list[tuple[str, str, int]] = page.evaluate(ENTRIES)
    return found


def plans(page: Page) -> list[str]:
    """The addresses of all plans that are kept."""
    return [url for _, url, _ in entries(page) if "?" not in url]


def kept_in_all(page: Page, count: int) -> None:
    """Waits until so many plans are kept."""
    until(page, COUNT, count, seconds=PATIENCE / 1000)


def last_use(page: Page) -> float:
    """When a plan was used last."""
    found: float = page.evaluate(LAST_USE)
    return found


def used_since(page: Page, before: float) -> None:
    """Waits until it is noted that a plan was used after that, of which the page says nothing."""
    until(page, f"await {LAST_USE} > argument", before)


def line(visitor: Any, stage: str, model: str = "mnist") -> Any:
    """The line of a stage in the boot log."""
    lines = visitor.hook("boot-log").locator(f"[data-stage={stage}]")
    return lines.filter(has_text=re.compile(rf"\b{re.escape(model)}\b"))


def kept(visitor: Any, model: str = "mnist") -> None:
    """Waits until the plan is kept."""
    expect(line(visitor, "keep", model)).to_have_attribute("data-state", "done", timeout=PATIENCE)


def recalled(visitor: Any, model: str = "mnist") -> None:
    """The model came from its plan, and its file was not asked for."""
    expect(line(visitor, "plan", model)).to_have_attribute("data-state", "done")
    expect(line(visitor, "model", model)).to_have_count(0)
