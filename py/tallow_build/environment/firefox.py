"""Finds Firefox, installs Debian's if necessary, and starts it, with or without WebGPU.

Only tests need it, to check that the page does not depend on Chromium; so it is no error if it is
not available. It is Mozilla's own build, which Playwright drives by WebDriver BiDi.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..errors import BuildError
from . import debian
from .browser import fault

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

_NAMES = (
    "firefox-esr",
    "firefox",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
    r"C:\Program Files\Mozilla Firefox\firefox.exe",
)

# Playwright and Firefox's remote control turn off updates and reports. Any other request goes to a
# proxy that does not exist; only this machine is reachable.
_QUIET: dict[str, str | float | bool] = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "network.proxy.no_proxies_on": "127.0.0.1, localhost",
}

# Makes Firefox obey its remote control's setting not to request Mozilla's lists.
_ENVIRONMENT = {"MOZ_REMOTE_SETTINGS_DEVTOOLS": "1"}


def find() -> str | None:
    """The path of a Firefox that starts, or None."""
    found = filter(None, map(shutil.which, _NAMES))
    return next((path for path in found if fault(path) is None), None)


def ensure() -> None:
    """Installs Debian's Firefox if there is none and it is possible. Raises BuildError."""
    if find() is None and debian.available():
        debian.install("firefox-esr")


@contextmanager
def running(playwright: Playwright, path: str, *, webgpu: bool) -> Iterator[Browser]:
    """A headless Firefox with a fresh profile, which exits at the end of the block.

    webgpu: whether pages may use it; without a driver there is still no adapter. Firefox 153 on
    Linux has `navigator.gpu`, but without a GPU its blocklist makes `requestAdapter()` return null.
    Configured to ignore that list, it uses any Vulkan driver, including Mesa's lavapipe.

    Raises BuildError if it does not start.
    """
    wanted = {"dom.webgpu.enabled": webgpu, "gfx.webgpu.ignore-blocklist": webgpu}
    # As root, Firefox refuses a home folder of another user; and it leaves caches in it.
    with TemporaryDirectory(prefix="tallow-firefox-", ignore_cleanup_errors=True) as home:
        try:
            browser = playwright.firefox.launch(
                channel="moz-firefox",
                executable_path=path,
                headless=True,
                env={**os.environ, **_ENVIRONMENT, "HOME": home},
                firefox_user_prefs={**_QUIET, **wanted},
            )
        except Exception as error:  # Playwright's exceptions are only known once it is imported
            first = str(error).strip().splitlines()[0]
            remedy = "start it by hand with --headless to see what is wrong with it"
            raise BuildError("Starting Firefox", f"{path}: {first}", remedy) from error
        try:
            yield browser
        finally:
            browser.close()
