"""Functions of angles keep their digits on a GPU, near 0 and after many turns."""

from __future__ import annotations

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
