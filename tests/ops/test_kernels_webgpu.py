"""Every hand-written kernel inside Chromium, on odd shapes, also where no rule chooses it.

Chromium takes ten times as long to compile a kernel as the desktop, which runs all cases
(native/test_kernels.py). Here every third one runs.
"""

from __future__ import annotations

from typing import Any

import pytest
from kernel_cases import TOLERANCE

from tallow.devices.webgpu.codegen.kernels import SCHEDULES


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name: str, python: Any) -> None:
    outcome = python.run(f"import kernel_cases; await kernel_cases.run_schedule({name!r}, 3)")
    if outcome["missing"]:
        pytest.skip(f"{outcome['adapter']} has no {outcome['missing']}")
    assert outcome["kernels"] == [name] * outcome["cases"]
    assert not outcome["wrong"], "\n".join(outcome["wrong"])
    assert (outcome["rounding"] > TOLERANCE) == SCHEDULES[name].half
