"""Modules and functions beside PyTorch's: outputs, gradients, state, on the desktop's devices."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import tallow as tl

from .cases import CASES, FAMILIES
from .run import differences, recorded

OF = {name: family for family, names in FAMILIES.items() for name in names}


@cache
def expected(family: str) -> dict[str, dict[str, np.ndarray]]:
    return recorded(family)


@pytest.mark.parametrize("device", ["numpy", "wasm"])
@pytest.mark.parametrize("name", OF)
def test_agrees_with_pytorch(
    name: str, device: str, run_async, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that autocast is on: graphs of float16 give the same everywhere.
    monkeypatch.setattr(tl.amp, "is_autocast_available", lambda device: True)
    before = tl.default_device()
    try:
        found = run_async(differences(CASES[name], expected(OF[name])[name], device))
    finally:
        tl.set_default_device(before)
    assert not found, "\n".join(found)
