"""The programs of `bench --programs` run on NumPy through `tallow.torch`, and are trained by it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from bench.program_cases import PROGRAMS

import tallow as tl
from tallow.core import context


@pytest.fixture
def torch() -> Iterator[Any]:
    """The door, with its switch on within the test alone."""
    with context.pytorch.override(True), context.floating.override(None):
        tl.set_default_device("numpy")
        try:
            yield import_module("tallow.torch")
        finally:
            tl.set_default_device(None)


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_steps(name: str, torch: Any) -> None:
    step = PROGRAMS[name].begin(torch, small=True)
    first, second = step(), step()
    assert math.isfinite(first)
    assert math.isfinite(second)
    assert first != second, "a step changes what the next one computes with"


def test_programs_begin_alike(torch: Any) -> None:
    losses = {PROGRAMS["mlp"].begin(torch, small=True)() for _ in range(2)}
    assert len(losses) == 1
