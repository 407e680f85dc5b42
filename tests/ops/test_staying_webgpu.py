"""What stays on a device, in Chromium, where nothing may wait but what reads."""

from __future__ import annotations

from typing import Any

import pytest
from staying_cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, python: Any) -> None:
    outcome = python.run(f"import staying_cases; await staying_cases.run_case({name!r}, 'webgpu')")
    assert outcome["device"] == "webgpu"
    assert outcome["adapter"]
    assert outcome["left"] == [0, 0]
