"""A server that stalls, no modules, no WebAssembly."""

from __future__ import annotations

import json
from itertools import count

from playwright.sync_api import Locator, Route, expect
from tests.e2e.conftest import served_path

HTML = {"Content-Type": "text/html; charset=utf-8"}

# The timeout for a silent server.
WAITING = "function withinSilence(path, promise) {"
# It is shortened only for the requests of a file that are left unanswered.
SHORT = """
  const left = (globalThis.left ??= STALLS);
  const SILENCE_MS = left[path]-- > 0 ? 6_000 : 30_000;
"""
# Shows the notice after a millisecond, and tells whether it was visible before.
BEFORE = """(notice) => {
  const [appearing] = notice.getAnimations();
  appearing.currentTime = 5_999;
  return getComputedStyle(notice).visibility;
}"""

ARRIVAL = "performance.getEntriesByType('navigation')[0].type"


def stall(page, path: str, times: int) -> list[str]:
    """Leaves the first requests of a file unanswered; returns the list of all of them."""
    asked: list[str] = []
    numbers = count(1)

    def handle(route: Route) -> None:
        asked.append(route.request.url)
        if next(numbers) > times:
            route.continue_()

    page.route(f"**/{path}", handle)
    return asked


def notice(page) -> Locator:
    """The page's notice that its modules do not run."""
    return page.get_by_text("scripts have not started")


def no_notice(page) -> None:
    """Where modules run, there is no such notice, whatever else fails."""
    expect(notice(page)).to_have_count(0)


def test_a_server_that_stalls_is_asked_once_more_and_then_given_up(visitor, patch):
    stalls = {"models/manifest.json": 1, served_path("mnist"): 3}
    short = SHORT.replace("STALLS", json.dumps(stalls))
    patch(visitor.page, "site/fetch.js", WAITING, WAITING + short)
    listed, asked = (stall(visitor.page, path, times) for path, times in stalls.items())
    visitor.open("./?device=numpy", state="error")
    assert len(listed) >= 2  # the page asks, and so does the worker
    expect(visitor.status).to_contain_text(f"{served_path('mnist')} could not be fetched")
    expect(visitor.status).to_contain_text("silent for 6 seconds")
    assert len(asked) == 2
    visitor.status.get_by_role("button", name="Try again").click()
    visitor.wait()  # it was silent once, and answered then
    assert len(asked) == 4
    no_notice(visitor.page)
    visitor.draw_seven()
    assert visitor.read() == "7"


def test_without_webassembly_the_page_says_so(visitor, patch):
    own = "const networkFetch = globalThis.fetch;"
    patch(visitor.page, "worker/python.js", own, f"{own} delete globalThis.WebAssembly;")
    visitor.open("./?device=numpy", state="error")
    expect(visitor.status).to_contain_text("no WebAssembly")
    no_notice(visitor.page)
    visitor.draw_seven()  # and nothing breaks
    assert visitor.read() == ""


def test_if_modules_do_not_run_the_page_says_so(page):
    forbid = {"Content-Security-Policy": "script-src 'none'"}
    faults = [
        ("**/", lambda route: route.fulfill(response=route.fetch(), headers=forbid | HTML)),
        ("**/boot/main-*.js", lambda route: route.abort()),
        ("**/boot/main-*.js", lambda route: route.fulfill(status=404)),
    ]
    notices = []
    for path, fault in faults:  # in a tab each, since the page waits before it says so
        tab = page.context.new_page()
        tab.route(path, fault)
        tab.goto("./")
        notices.append(notice(tab))
        assert notices[-1].evaluate(BEFORE) == "hidden"
    for shown in notices:
        shown.page.bring_to_front()
        expect(shown).to_be_visible(timeout=60_000)
        assert shown.page.evaluate(ARRIVAL) == "navigate"  # and not started over: nothing is newer
