"""What the tests of a page that works offline share: its state, its tabs, its stored files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, expect
from tests.conftest import Watch
from tests.e2e.conftest import PATIENCE, Visitor

from tallow_build.environment.browser import until

# The page's long timeouts never end.
LATE = """
window.setTimeout = new Proxy(setTimeout, { apply: late });
function late(set, self, [run, ms = 0, ...args]) {
  return ms < 3000 ? Reflect.apply(set, self, [run, ms, ...args]) : 0;
}
"""


def offline_state(page: Page) -> Any:
    return page.get_by_test_id("offline-state")


def wait_until_kept(page: Page) -> None:
    expect(offline_state(page)).to_have_attribute("data-state", "kept", timeout=PATIENCE)
    expect(offline_state(page)).to_contain_text("Works offline")
    until(page, "navigator.serviceWorker.controller !== null")  # which comes a moment later


@contextmanager
def tab(page: Page, script: str = "") -> Iterator[Visitor]:
    """A visitor in another tab of the same browser, which runs this script first."""
    other = page.context.new_page()
    if script:
        other.add_init_script(script)
    watch = Watch(other, page.url)
    yield Visitor(other)
    watch.look(other)
    other.close()
    watch.check()


def forget(page: Page, part: str) -> None:
    """Removes a file from the browser's cache."""
    gone = """async (part) => {
        for (const name of await caches.keys()) {
            const cache = await caches.open(name);
            for (const { url } of await cache.keys()) {
                if (url.includes(part)) await cache.delete(url);
            }
        }
    }"""
    page.evaluate(gone, part)
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
