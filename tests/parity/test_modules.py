"""Modules and functions beside PyTorch's: outputs, gradients, state, on the desktop's devices."""

from __future__ import annotations

import pytest

import tallow as tl

from .case import Call
from .cases import CASES, FAMILIES
from .run import differences, recorded

CALLS = {name: case for name, case in CASES.items() if isinstance(case, Call)}
OF = {name: family for family, names in FAMILIES.items() for name in names if name in CALLS}


@pytest.mark.parametrize("device", ["numpy", "wasm"])
@pytest.mark.parametrize("name", OF)
def test_agrees_with_pytorch(
    name: str, device: str, run_async, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that autocast is on: graphs of float16 give the same everywhere.
    monkeypatch.setattr(tl.amp, "is_autocast_available", lambda device: True)
    before = tl.default_device()
    try:
        found = run_async(differences(CALLS[name], recorded(OF[name])[name], device))
    finally:
        tl.set_default_device(before)
    assert not found, "\n".join(found)
