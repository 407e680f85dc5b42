"""Every schedule of reductions on desktop WebGPU, also where the rule chooses another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from reduction_cases import run_long, run_schedule

from tallow.devices.webgpu.codegen.choice import REDUCTIONS

pytestmark = pytest.mark.usefixtures("native")


@pytest.mark.parametrize("schedule", REDUCTIONS)
def test_schedule(schedule: str, run_async: Callable[..., Any]) -> None:
    outcome = run_async(run_schedule(schedule))
    if outcome["missing"]:
        pytest.skip(f"{outcome['adapter']} has no {outcome['missing']}")
    assert outcome["schedules"] == [schedule]
    assert not outcome["wrong"], "\n".join(outcome["wrong"])


@pytest.mark.parametrize("software", [True, False])
def test_long_folds(software: bool, run_async: Callable[..., Any]) -> None:
    outcome = run_async(run_long(software))
    assert not outcome["wrong"], "\n".join(outcome["wrong"])
