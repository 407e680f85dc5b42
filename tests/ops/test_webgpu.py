"""The op suite inside Chromium, on WebGPU; every test asserts that WebGPU ran it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from op_cases import CASES

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def python(browser_python: Callable[[str], Any]) -> Any:
    """The browser's Python on WebGPU, with the suite in its current folder."""
    python = browser_python("webgpu")
    for name in ("recurrence_reference.py", "winograd_reference.py", "op_cases.py", "run_case.py"):
        python.write(name, (HERE / name).read_bytes())
    python.run("import sys; sys.path.insert(0, '.'); import run_case")
    return python


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, python: Any) -> None:
    outcome = python.run(f"await run_case.run_case({name!r}, 'webgpu')")
    assert outcome["wrong"] is None, outcome["wrong"]
    assert outcome["device"] == "webgpu"
    assert outcome["dispatches"] > 0
    assert outcome["runs"] == 1
    assert outcome["adapter"]
