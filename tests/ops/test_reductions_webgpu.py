"""Every schedule of reductions inside Chromium, also where the rule chooses another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallow.backends.choice import REDUCTIONS

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def python(browser_python: Callable[[str], Any]) -> Any:
    """The browser's Python on WebGPU, with the cases in its current folder."""
    python = browser_python("webgpu")
    for name in ("op_cases.py", "run_case.py", "kernel_cases.py", "reduction_cases.py"):
        python.write(name, (HERE / name).read_bytes())
    python.run("import sys; sys.path.insert(0, '.'); import reduction_cases")
    return python


@pytest.mark.parametrize("schedule", REDUCTIONS)
def test_schedule(schedule: str, python: Any) -> None:
    outcome = python.run(f"await reduction_cases.run_schedule({schedule!r})")
    if outcome["missing"]:
        pytest.skip(f"{outcome['adapter']} has no {outcome['missing']}")
    assert outcome["schedules"] == [schedule]
    assert not outcome["wrong"], "\n".join(outcome["wrong"])


@pytest.mark.parametrize("software", [True, False])
def test_long_folds(software: bool, python: Any) -> None:
    outcome = python.run(f"await reduction_cases.run_long({software})")
    assert not outcome["wrong"], "\n".join(outcome["wrong"])
