"""Every hand-written kernel inside Chromium, on odd shapes, also where no rule chooses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernel_cases import TOLERANCE

from tallow.backends.kernels import SCHEDULES

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def python(browser_python: Callable[[str], Any]) -> Any:
    """The browser's Python on WebGPU, with the cases in its current folder."""
    python = browser_python("webgpu")
    for name in (
        "recurrence_reference.py",
        "winograd_reference.py",
        "op_cases.py",
        "kernel_cases.py",
    ):
        python.write(name, (HERE / name).read_bytes())
    python.run("import sys; sys.path.insert(0, '.'); import kernel_cases")
    return python


@pytest.mark.parametrize("file", SCHEDULES)
def test_schedule(file: str, python: Any) -> None:
    outcome = python.run(f"await kernel_cases.run_schedule({file!r})")
    if outcome["missing"]:
        pytest.skip(f"{outcome['adapter']} has no {outcome['missing']}")
    assert outcome["kernels"] == [file] * outcome["cases"]
    assert not outcome["wrong"], "\n".join(outcome["wrong"])
    assert (outcome["rounding"] > TOLERANCE) == file.endswith("_f16")
