"""Results that share memory, on desktop WebGPU and in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memory_cases import run_all

HERE = Path(__file__).parent


@pytest.mark.usefixtures("native")
def test_native(run_async: Callable[..., Any]) -> None:
    assert run_async(run_all("webgpu")) == []


def test_chromium(browser_python: Callable[[str], Any]) -> None:
    python = browser_python("webgpu")
    for name in (
        "op_cases.py",
        "recurrence_reference.py",
        "winograd_reference.py",
        "memory_cases.py",
    ):
        python.write(name, (HERE / name).read_bytes())
    python.run("import sys; sys.path.insert(0, '.'); import memory_cases")
    assert python.run("await memory_cases.run_all('webgpu')") == []
