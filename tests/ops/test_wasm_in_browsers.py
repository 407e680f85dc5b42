"""The op suite on generated WebAssembly in Chromium and Firefox, whose engines are not wasmtime's.

Every third case, since test_wasm.py runs all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
from op_cases import CASES
from playwright.sync_api import Playwright
from tests.conftest import Notebook, watched_page
from tests.ops.conftest import with_cases

from tallow_build.environment import debian, firefox

CHOSEN = list(CASES)[::3]

RUN = """
import run_case
wrong = {}
for name in CHOSEN:
    outcome = await run_case.run_case(name, "wasm")
    if outcome["wrong"] or outcome["device"] != "wasm":
        wrong[name] = str(outcome)
wrong
"""


def check(python: Notebook) -> None:
    assert with_cases(python).run(f"CHOSEN = {CHOSEN}\n{RUN}") == {}


def test_chromium(browser_python: Callable[[str], Notebook]) -> None:
    check(browser_python("wasm"))


def test_chromium_keeps_no_more_programs_than_it_has_memories_for(
    browser_python: Callable[[str], Notebook],
) -> None:
    """Every program has a memory of its own, and a process has room for about a hundred."""
    code = """
import tallow as tl
kept = [tl.jit(lambda x: x + 1) for _ in range(40)]
for number, step in enumerate(kept):
    step(tl.ones(number + 1).realize())
sums = [float((tl.ones(number + 65) * 2).realize().sum()) for number in range(60)]
[step(tl.ones(3).realize()).numpy().tolist() for step in kept[:2]] + [sums]
"""
    expected = [[2.0] * 3] * 2 + [[2.0 * (number + 65) for number in range(60)]]
    assert browser_python("wasm").run(code) == expected


def test_firefox(playwright: Playwright, server: str) -> None:
    path = firefox.find()
    if path is None:
        assert not debian.available(), "build.py test has not installed Debian's firefox-esr"
        pytest.skip("there is no Firefox here, and no root on Debian to install one")
    open_page: Any = contextmanager(watched_page)
    with (
        firefox.running(playwright, path, webgpu=False) as browser,
        open_page(browser, server) as (page, _),
    ):
        check(Notebook(page, server, "wasm"))
