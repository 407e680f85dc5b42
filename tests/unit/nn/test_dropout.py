"""Dropout: what it leaves, and when it draws anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError, ShapeError

F = nn.functional


@pytest.fixture(autouse=True)
def numpy_device() -> Any:
    before = tl.default_device()
    tl.set_default_device("numpy")
    tl.manual_seed(3)
    yield
    tl.set_default_device(before)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_what_is_left_and_its_expectation(p: float) -> None:
    x = np.full((200, 200), 2.0, np.float32)
    found = F.dropout(tl.asarray(x), p).numpy()
    assert (found == 0).mean() == pytest.approx(p, abs=0.02)
    np.testing.assert_allclose(found[found != 0], 2 / (1 - p), rtol=1e-6)
    assert found.mean() == pytest.approx(2.0, rel=0.06)


def test_the_gradient_passes_what_is_left() -> None:
    x = tl.tensor(np.ones((10, 10), np.float32), requires_grad=True)
    y = F.dropout(x, 0.4)
    y.sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), y.numpy())


def test_a_compiled_step_draws_anew_and_a_seed_repeats_it() -> None:
    layer = nn.Dropout(0.5)

    @tl.jit
    def step(x: tl.Tensor) -> tl.Tensor:
        found: tl.Tensor = layer(x)
        return found

    x = tl.ones((20, 20))
    tl.manual_seed(1)
    first, second = step(x).numpy(), step(x).numpy()
    assert (first != second).any()
    tl.manual_seed(1)
    np.testing.assert_array_equal(step(x).numpy(), first)
    np.testing.assert_array_equal(step(x).numpy(), second)


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.Dropout1d, (30, 20, 4)),
        (nn.Dropout2d, (30, 20, 2, 2)),
        (nn.Dropout3d, (30, 20, 2, 1, 2)),
    ],
)
def test_whole_channels(layer: Any, shape: tuple[int, ...]) -> None:
    found = layer(0.3)(tl.ones(shape)).numpy().reshape(30, 20, 4)
    assert (found == found[:, :, :1]).all()
    assert (found == 0).mean() == pytest.approx(0.3, abs=0.06)


def test_evaluation_leaves_everything() -> None:
    x = tl.ones((4, 5))
    for layer in (nn.Dropout(0.9).eval(), nn.Dropout(0.0)):
        np.testing.assert_array_equal(layer(x).numpy(), x.numpy())
    np.testing.assert_array_equal(F.dropout(x, 1.0).numpy(), np.zeros((4, 5)))


def test_what_does_not_go() -> None:
    for p in (-0.1, 1.1):
        with pytest.raises(OptionError, match="probability"):
            F.dropout(tl.ones((2,)), p)
    with pytest.raises(ShapeError, match="dropout2d"):
        F.dropout2d(tl.ones(3))


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    tl.manual_seed(3)
    x = tl.randn(400, 50)
    for layer in (nn.AlphaDropout(0.3), nn.FeatureAlphaDropout(0.3)):
        y = layer(x).numpy()
        assert abs(y.mean()) < 0.03 and abs(y.std() - 1) < 0.03
        assert abs(np.unique(y, return_counts=True)[1].max() / y.size - 0.3) < 0.03
    whole = nn.FeatureAlphaDropout(0.5)(tl.ones((20, 30, 8))).numpy()
    assert (whole == whole[:, :, :1]).all() and len(np.unique(whole)) == 2
    assert not nn.AlphaDropout(1.0)(x).numpy().any()


def test_gumbel_softmax_draws_by_the_logits() -> None:
    tl.manual_seed(3)
    shares = np.array([0.1, 0.6, 0.3], np.float32)
    logits = tl.tensor(np.log(np.tile(shares, (5000, 1))), requires_grad=True)
    hard = nn.functional.gumbel_softmax(logits, hard=True)
    drawn = hard.numpy()
    assert np.allclose(np.sort(drawn, 1), [0, 0, 1], atol=1e-6)
    assert np.allclose(drawn.mean(0), shares, atol=0.03)
    (hard * tl.tensor(shares)).sum().backward()
    assert logits.grad is not None and logits.grad.numpy().any()
    soft = nn.functional.gumbel_softmax(logits, tau=2.0, dim=0).numpy()
    assert np.allclose(soft.sum(0), 1, atol=1e-3)
