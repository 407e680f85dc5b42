"""The op suite inside Chromium, on WebGPU; every test asserts that WebGPU ran it."""

from __future__ import annotations

from typing import Any

import pytest
from op_cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, python: Any) -> None:
    outcome = python.run(f"import run_case; await run_case.run_case({name!r}, 'webgpu')")
    assert outcome["wrong"] is None, outcome["wrong"]
    assert outcome["device"] == "webgpu"
    assert outcome["dispatches"] > 0
    assert outcome["runs"] == 1
    assert outcome["adapter"]
