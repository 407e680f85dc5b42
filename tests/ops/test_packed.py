"""Packed constants that kernels decode as they read them, on desktop WebGPU and in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from packed_cases import run_all


@pytest.mark.usefixtures("native")
def test_native(run_async: Callable[..., Any]) -> None:
    assert run_async(run_all("webgpu")) == []


def test_chromium(python: Any) -> None:
    assert python.run("import packed_cases; await packed_cases.run_all('webgpu')") == []
