"""Finds a Firefox, gets Debian's where there is none, and starts it, with or without WebGPU.

Only tests need one, to see that the page does not lean on Chromium; so a system that has none and
offers none is no error. It is Mozilla's own build, which Playwright drives by WebDriver BiDi.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from . import debian
from .browser import fault
from .errors import BuildError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

_NAMES = (
    "firefox-esr",
    "firefox",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
    r"C:\Program Files\Mozilla Firefox\firefox.exe",
)

# Playwright and Firefox's remote control turn off updates and reports. Should Firefox look for
# anything else, it finds a proxy that is not there; this machine alone is asked directly.
_QUIET: dict[str, str | float | bool] = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1, localhost",
}

# Has Firefox heed the setting, which its remote control makes, not to ask for Mozilla's lists.
_HEEDFUL = {"MOZ_REMOTE_SETTINGS_DEVTOOLS": "1"}


def find() -> str | None:
    """The path of a Firefox that starts, or None."""
    found = filter(None, map(shutil.which, _NAMES))
    return next((path for path in found if fault(path) is None), None)


def ensure() -> None:
    """Installs Debian's Firefox where there is none and that can be done. Raises BuildError."""
    if find() is None and debian.available():
        debian.install("firefox-esr")


@contextmanager
def running(playwright: Playwright, path: str, *, webgpu: bool) -> Iterator[Browser]:
    """A headless Firefox with a fresh profile, which ends with the block.

    webgpu: whether pages may have it; with no driver there is no adapter all the same. Firefox 153
    on Linux has `navigator.gpu`, but a blocklist that, headless and without a GPU, lets
    `requestAdapter()` give null. Told to ignore the list, it takes what Vulkan offers, Mesa's
    lavapipe included.

    Raises BuildError if it does not start.
    """
    wanted = {"dom.webgpu.enabled": webgpu, "gfx.webgpu.ignore-blocklist": webgpu}
    # As root, Firefox refuses a home that belongs to somebody else; and it leaves caches in it.
    with TemporaryDirectory(prefix="tallow-firefox-", ignore_cleanup_errors=True) as home:
        try:
            browser = playwright.firefox.launch(
                channel="moz-firefox",
                executable_path=path,
                headless=True,
                env={**os.environ, **_HEEDFUL, "HOME": home},
                firefox_user_prefs={**_QUIET, **wanted},
            )
        except Exception as error:  # Playwright's own kinds are known only once it is imported
            first = str(error).strip().splitlines()[0]
            remedy = "start it by hand with --headless to see what is wrong with it"
            raise BuildError("Starting Firefox", f"{path}: {first}", remedy) from error
        try:
            yield browser
        finally:
            browser.close()
