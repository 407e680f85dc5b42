"""The programs of `bench --programs` run on NumPy, and are trained by it."""

from __future__ import annotations

import math

import pytest
from bench.program_cases import PROGRAMS

import tallow as tl


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_steps(name: str) -> None:
    tl.set_default_device("numpy")
    try:
        step = PROGRAMS[name].begin(tl, small=True)
        first, second = step(), step()
    finally:
        tl.set_default_device(None)
    assert math.isfinite(first)
    assert math.isfinite(second)
    assert first != second, "a step changes what the next one computes with"


def test_programs_begin_alike() -> None:
    losses = {PROGRAMS["mlp"].begin(tl, small=True)() for _ in range(2)}
    assert len(losses) == 1
