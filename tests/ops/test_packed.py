"""Packed constants that kernels decode as they read them, on desktop WebGPU and in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packed_cases import run_all

HERE = Path(__file__).parent


@pytest.mark.usefixtures("native")
def test_native(run_async: Callable[..., Any]) -> None:
    assert run_async(run_all("webgpu")) == []


def test_chromium(browser_python: Callable[[str], Any]) -> None:
    python = browser_python("webgpu")
    python.write("packed_cases.py", (HERE / "packed_cases.py").read_bytes())
    python.run("import sys; sys.path.insert(0, '.'); import packed_cases")
    assert python.run("await packed_cases.run_all('webgpu')") == []
