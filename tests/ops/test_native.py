"""The op suite on desktop WebGPU (the package `wgpu`): a second compiler of our WGSL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from op_cases import CASES
from run_case import run_case

pytestmark = pytest.mark.usefixtures("native")


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, run_async: Callable[..., Any]) -> None:
    outcome = run_async(run_case(name, "webgpu"))
    assert outcome["wrong"] is None, outcome["wrong"]
    assert outcome["device"] == "webgpu"
    assert outcome["dispatches"] > 0
    assert outcome["runs"] == 1
    assert outcome["adapter"]
