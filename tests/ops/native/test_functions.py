"""Functions whose own WGSL promises little keep their digits over their whole range on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl

from ..accuracy import measure, operands


@pytest.mark.parametrize(
    "name",
    [
        *("log", "log2", "log10", "asin", "acos", "atan", "atanh", "sin", "cos"),
        *("exp", "exp2", "expm1", "sinh", "cosh", "tanh", "sigmoid", "softplus", "logsigmoid"),
    ],
)
def test_units_in_the_last_place(name: str) -> None:
    assert measure(name, "webgpu", operands()[::7])[0] < 4


@pytest.mark.parametrize(
    "name", ["log", "asin", "acos", "atan", "atanh", "exp", "expm1", "sinh", "cosh", "tanh"]
)
def test_edges(name: str) -> None:
    x = np.array([0, -0.0, 1, -1, 1.5, -1.5, np.inf, -np.inf, np.nan], np.float32)
    called = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atanh": "arctanh"}
    with np.errstate(all="ignore"):
        right = getattr(np, called.get(name, name))(x)
    for repeated in (x, x[:1], np.tile(x, 4)):  # by fours, and by one
        got = tl.jit(getattr(tl, name), device="webgpu")(tl.asarray(repeated)).numpy()
        wanted = np.resize(right, repeated.shape)
        np.testing.assert_allclose(got, wanted, 1e-6)
        np.testing.assert_array_equal(np.signbit(got[wanted == 0]), np.signbit(wanted[wanted == 0]))


@pytest.mark.parametrize("name", ["exp", "expm1", "sinh", "cosh"])
def test_exponentials_at_the_ends_of_the_range(name: str) -> None:
    x = np.array([88.7, 88.7229, 89.4, 89.42, 90, 1e30, -87.3, -89, -104, -1e30], np.float32)
    with np.errstate(over="ignore"):
        right = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
    got = tl.jit(getattr(tl, name), device="webgpu")(tl.asarray(x)).numpy()
    np.testing.assert_allclose(got, right, 1e-6, 2e-38)


@pytest.mark.parametrize("device", ["numpy", "wasm", "webgpu"])
def test_lgamma_keeps_its_digits_next_to_its_zeros(device: str) -> None:
    away = np.geomspace(2.4e-7, 0.9, 500)
    x = np.concatenate([1 + away, 1 - away, 2 + away, 2 - away, np.geomspace(1e-38, 4e36, 500)])
    assert measure("lgamma", device, x.astype(np.float32))[0] < 4
    ends = tl.jit(tl.lgamma, device=device)(tl.asarray([1.0, 2, 0, -1, -2, np.inf, -np.inf]))
    np.testing.assert_array_equal(ends.numpy(), [0, 0, *[np.inf] * 5])
