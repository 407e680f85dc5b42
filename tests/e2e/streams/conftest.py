"""A page with the client of a worker that has a long action, in Chromium and in Firefox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Playwright
from starlette.routing import Mount

from tallow_build.environment import debian, firefox
from tallow_build.paths import ROOT, WEB
from tallow_build.serving import server as static

TOY = ROOT / "bench" / "in_browser" / "streams"

# The client, in the page's own window.
START = """async () => {
  const { Rpc, RemoteError } = await import("../engine/rpc.js");
  Object.assign(globalThis, { Rpc, RemoteError });
  globalThis.started = async () => {
    globalThis.rpc = new Rpc(new URL("../toy/worker.js", location));
    await rpc.call("boot");
  };
  await started();
}"""


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def toy(
    request: pytest.FixtureRequest, playwright: Playwright, dist: Path, watched_page_of: Any
) -> Iterator[Page]:
    """A page whose `rpc` is the client of `bench --streams`' worker; `started()` starts another."""
    mounts = [
        Mount("/sources/toy", static.application(TOY)),
        Mount("/sources", static.application(WEB, fallback=dist)),
    ]
    with static.running(dist, also=mounts) as address:
        if request.param == "chromium":
            with watched_page_of(request.getfixturevalue("browser"), address) as (page, _):
                yield begun(page)
            return
        path = firefox.find()
        if path is None:
            assert not debian.available(), "build.py test has not installed Debian's firefox-esr"
            pytest.skip("there is no Firefox here, and no root on Debian to install one")
        with (
            firefox.running(playwright, path, webgpu=False) as browser,
            watched_page_of(browser, address, service_workers="allow") as (page, _),
        ):
            yield begun(page)


def begun(page: Page) -> Page:
    """The page, with its worker."""
    page.goto("sources/boot/start.js")  # same origin, and runs no scripts
    page.evaluate(START)
    return page
