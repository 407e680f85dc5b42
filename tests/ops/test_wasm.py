"""The op suite on generated WebAssembly, run by wasmtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from op_cases import CASES
from run_case import run_case


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, run_async: Callable[..., Any]) -> None:
    outcome = run_async(run_case(name, "wasm"))
    assert outcome["wrong"] is None, outcome["wrong"]
    assert outcome["device"] == "wasm"
