"""Functions of angles keep their digits on a GPU, near 0 and after any number of turns."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tallow as tl


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "sinh"])
def test_angles(name: str) -> None:
    size = np.geomspace(1e-20, 80 if name == "sinh" else 150000, 5000)
    x = np.concatenate([size, -size]).astype(np.float32)
    program = tl.jit(getattr(tl, name), device="webgpu")
    right = getattr(np, name)(x.astype(np.float64))
    np.testing.assert_allclose(program(tl.asarray(x)).numpy(), right, 6e-6)


@pytest.mark.parametrize("count", [8192, 1, 7])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_of_many_turns(name: str, count: int) -> None:
    """Up to the largest number, by one at a time and by four; small ones stand between."""
    size = np.geomspace(190000, 3.4e38, count)
    size[::5] = np.linspace(0.1, 3, len(size[::5]))
    x = np.concatenate([size, -size]).astype(np.float32)
    got = tl.jit(getattr(tl, name), device="webgpu")(tl.asarray(x)).numpy()
    right = [getattr(math, name)(angle) for angle in x.tolist()]
    np.testing.assert_allclose(got, right, 2e-6)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_that_are_none(name: str) -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.0, 1.0], np.float32)
    got = tl.jit(getattr(tl, name), device="webgpu")(tl.asarray(x)).numpy()
    assert np.isnan(got[:3]).all() and np.isfinite(got[3:]).all()
