"""Derivatives, where the parts of a plain formula cancel, and at corners."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import tallow as tl
from tallow.core import context


@pytest.fixture(params=["numpy", "wasm"])
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    before = context.default_device.get()
    tl.set_default_device(request.param)
    yield
    tl.set_default_device(before)


def _slopes(function: Callable[[tl.Tensor], tl.Tensor], points: list[float]) -> np.ndarray:
    x = tl.asarray(np.array(points, np.float32), requires_grad=True)
    function(x).sum().backward()
    assert x.grad is not None
    return x.grad.numpy()


@pytest.mark.usefixtures("device")
def test_slopes_keep_their_digits() -> None:
    x = np.array([-12, -9, 0, 1, 10], np.float32)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(_slopes(tl.tanh, list(x)), np.cosh(wide) ** -2, 3e-6)
    found = _slopes(tl.functional.sigmoid, list(2 * x))
    np.testing.assert_allclose(found, np.cosh(wide) ** -2 / 4, 3e-6)
    np.testing.assert_allclose(_slopes(tl.expm1, list(2 * x)), np.exp(2 * wide), 3e-6)
    x = np.array([1e-6, 1e-4, -1e-3], np.float32)
    np.testing.assert_allclose(_slopes(tl.sinc, list(x)), -(math.pi**2) / 3 * x, 1e-5)


def test_second_derivatives() -> None:
    def second(function: Callable[[tl.Tensor], tl.Tensor], at: float) -> float:
        twice = tl.func.grad(tl.func.grad(function))
        return float(twice(tl.asarray(np.float32(at))).numpy())

    assert second(tl.sinc, 0.0) == pytest.approx(-(math.pi**2) / 3, rel=1e-5)
    assert second(tl.tanh, 10.0) == pytest.approx(-2 * math.cosh(10) ** -2, rel=1e-5)
    for at in (-20.0, 20.0):
        right = -1 / (1 + math.exp(20)) / (1 + math.exp(-20))
        assert second(tl.functional.logsigmoid, at) == pytest.approx(right, rel=1e-5)


def test_corners() -> None:
    zero = tl.asarray(np.zeros(1, np.float32))
    assert _slopes(lambda y: tl.atan2(y, zero), [0.0]) == 0
    assert _slopes(lambda x: tl.atan2(zero, x), [0.0]) == 0
    assert _slopes(lambda x: tl.clamp(x, 0.0, 6.0), [0, 3, 6]).tolist() == [0, 1, 0]


def test_a_remainder_has_the_slope_1_at_whole_multiples() -> None:
    assert _slopes(lambda x: tl.remainder(x, 2.0), [0, 2, -4, 3]).tolist() == [1, 1, 1, 1]
    assert np.signbit(tl.remainder(tl.asarray([0.0, -4.0]), -2.0).numpy()).all()


def test_nan_is_kept() -> None:
    x = tl.asarray([np.nan, 2.0])
    np.testing.assert_array_equal(tl.functional.threshold(x, 0.0, 1.0).numpy(), [np.nan, 2.0])
    zero = tl.asarray([0.0, 0.0])
    np.testing.assert_array_equal(tl.xlogy(zero, x).numpy(), [np.nan, 0.0])


def test_ctc_loss_of_no_input() -> None:
    scores = tl.asarray(np.log(np.full((1, 2, 2), 0.5, np.float32)))
    labels = tl.asarray(np.array([[1], [1]]))
    steps, targets = (tl.asarray(np.array(each)) for each in ([0, 0], [0, 1]))
    found = tl.functional.ctc_loss(scores, labels, steps, targets, reduction="none")
    assert found.numpy().tolist() == [0, np.inf]


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_pictures_at_infinity(mode: str, padding: str) -> None:
    picture = tl.asarray(np.arange(1, 10, dtype=np.float32).reshape(1, 1, 3, 3))
    grid = tl.asarray(np.array([[[[np.inf, 0], [-np.inf, 0]]]], np.float32))
    found = tl.functional.grid_sample(picture, grid, mode, padding, False).numpy().ravel()
    right = {"zeros": [0, 0], "border": [6, 4], "reflection": [4, 4]}[padding]
    np.testing.assert_allclose(found, right, 1e-6)


@pytest.mark.usefixtures("device")
def test_erfc_in_its_tail() -> None:
    x = np.array([-3, -0.5, 0, 0.4, 0.6, 2, 5, 9], np.float32)
    found = tl.erfc(tl.asarray(x)).numpy()
    np.testing.assert_allclose(found, [math.erfc(each) for each in x], 2e-6)
