"""Every schedule of reductions inside Chromium, also where the rule chooses another.

All lengths and the op suite are in native/test_reductions.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from tallow.devices.webgpu.codegen.choice import REDUCTIONS


@pytest.mark.parametrize("schedule", REDUCTIONS)
def test_schedule(schedule: str, python: Any) -> None:
    call = f"run_schedule({schedule!r}, reduction_cases.few_cases())"
    outcome = python.run(f"import reduction_cases; await reduction_cases.{call}")
    if outcome["missing"]:
        pytest.skip(f"{outcome['adapter']} has no {outcome['missing']}")
    assert outcome["schedules"] == [schedule]
    assert not outcome["wrong"], "\n".join(outcome["wrong"])


@pytest.mark.parametrize("software", [True, False])
def test_long_folds(software: bool, python: Any) -> None:
    outcome = python.run(f"import reduction_cases; await reduction_cases.run_long({software})")
    assert not outcome["wrong"], "\n".join(outcome["wrong"])
