"""docs/tutorial.md in a browser: its commands, its page and its model, taken from its text."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import Notebook, Watch
from tests.e2e.conftest import PATIENCE
from tests.e2e.python.plain_server import serving
from tests.tutorial import BLOCKS, COLLECT, INDEX_HTML

import tallow as tl
from tallow_build.paths import ROOT

# Counts what the page gives to the GPU.
COUNT_SUBMITS = """
window.submits = 0;
const { submit } = GPUQueue.prototype;
GPUQueue.prototype.submit = function (buffers) {
  window.submits += 1;
  return submit.call(this, buffers);
};
"""

Watched = Callable[..., AbstractContextManager[tuple[Page, Watch]]]


@pytest.fixture(scope="module")
def folder(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader's copy of the repository: colors.py ran there, and the page is in `mine`."""
    copy: Path = tmp_path_factory.mktemp("tutorial")
    for name in ("build", "dist", "node_modules", "py"):
        (copy / name).symlink_to(ROOT / name)
    (copy / "colors.py").write_text("".join(BLOCKS), "utf-8")
    command = [sys.executable, "colors.py"]
    subprocess.run(command, cwd=copy, env={"PYTHONPATH": "py"}, check=True, capture_output=True)
    subprocess.run(["sh", "-ec", COLLECT], cwd=copy, check=True, capture_output=True)
    (copy / "mine" / "index.html").write_text(INDEX_HTML, "utf-8")
    return copy


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Where the reader's page is served."""
    with serving(folder / "mine") as found:
        yield found


def answer(folder: Path, color: str) -> float:
    """How probable dark text is on this background, according to the saved model."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    session = tl.onnx.load(folder / "readable.onnx").session(device="numpy")
    found: float = session.run({"color": np.array([parts], np.float32)})["dark"].item()
    return found


def test_the_page_answers_on_webgpu(
    folder: Path, address: str, browser: Browser, watched_page_of: Watched
) -> None:
    with watched_page_of(browser, address) as (page, _):
        page.add_init_script(COUNT_SUBMITS)
        page.goto("./")
        status, text = page.locator("output"), page.locator("p")
        expect(page.get_by_label("Background")).to_be_enabled(timeout=PATIENCE)
        for color, words in [("#2255aa", "white"), ("#ffff00", "black"), ("#000080", "white")]:
            before = page.evaluate("window.submits")
            page.get_by_label("Background").fill(color)
            probability = answer(folder, color)
            assert words == ("black" if probability > 0.5 else "white")
            expect(text).to_have_attribute("style", re.compile(rf"\bcolor: {words};"))
            expect(status).to_have_text(f"dark text: {100 * probability:.1f} %")
            page.wait_for_function("before => window.submits > before", arg=before)


def test_without_webgpu_the_page_says_why(
    address: str, browser_without_webgpu: Browser, watched_page_of: Watched
) -> None:
    with watched_page_of(browser_without_webgpu, address) as (page, _):
        page.goto("./")
        status = page.locator("output")
        expect(status).to_contain_text("DeviceUnavailableError", timeout=PATIENCE)
        expect(status).to_contain_text("adapter")


def test_the_examples_run_in_the_browser(browser_python: Callable[[str], Notebook]) -> None:
    python = browser_python("webgpu")
    python.run("".join(BLOCKS))
    found = python.run("[step.plans, float(right), yellow.item(), navy.item(), session.device]")
    plans, right, yellow, navy, device = found
    assert (plans, device) == (1, "webgpu")
    assert right > 0.97
    assert yellow > 0.95
    assert navy < 0.05
