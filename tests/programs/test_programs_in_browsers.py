"""Some of the programs in Chromium, as `build.py run --as-torch` runs them: on WebAssembly, and one
of each kind on WebGPU."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser
from tests.programs.programs import (
    BROWSERS,
    NEAR_ZERO,
    ON_WEBGPU,
    PROGRAMS,
    RECORDED,
    losses,
    tolerance,
)

from tallow_build.serving.script import INSTALL, BrowserPython

EXPECTED = json.loads(RECORDED.read_text("utf-8"))

# A program may have set another type of floating numbers.
BEGIN = """
import torch, tallow
torch.set_default_dtype(torch.float32)
assert tallow.default_device() == DEVICE
"""


class Opened:
    """Python in a page on a device, where `import torch` finds tallow.torch."""

    def __init__(self, browser: Browser, server: str, device: str) -> None:
        self._python = BrowserPython(browser.new_page(), server)
        booted = self._python.boot(device)
        assert booted.device == device, booted.reason
        self.run(INSTALL)
        self._begin = BEGIN.replace("DEVICE", repr(device))

    def run(self, code: str) -> str:
        """What a program prints; an error fails the test."""
        printed: dict[str, list[str]] = {"stdout": [], "stderr": []}
        ended = self._python.run(code, "program.py", lambda name, text: printed[name].append(text))
        assert ended.status == 0, "".join(printed["stderr"])[-2000:]
        return "".join(printed["stdout"])

    def program(self, name: str) -> str:
        """What one of the programs prints."""
        self.run(self._begin)
        return self.run(PROGRAMS[name].read_text("utf-8"))


@pytest.fixture(scope="module")
def wasm(browser: Browser, server: str) -> Opened:
    return Opened(browser, server, "wasm")


@pytest.fixture(scope="module")
def webgpu(browser: Browser, server: str) -> Opened:
    return Opened(browser, server, "webgpu")


def check(name: str, opened: Opened) -> None:
    """A program loses what it loses with PyTorch."""
    expected = EXPECTED[name]
    near = pytest.approx(expected["losses"], rel=tolerance(name), abs=NEAR_ZERO, nan_ok=True)
    assert losses(opened.program(name)) == near


@pytest.mark.parametrize("name", BROWSERS)
def test_on_webassembly(name: str, wasm: Opened) -> None:
    check(name, wasm)


@pytest.mark.parametrize("name", ON_WEBGPU)
def test_on_webgpu(name: str, webgpu: Opened) -> None:
    check(name, webgpu)
