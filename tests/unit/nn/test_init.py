"""Initial values: what each initialiser draws, and what it rejects."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow import nn
from tallow.errors import OptionError, ShapeError

SHAPE = (80, 100)


@pytest.fixture(autouse=True)
def numpy_device() -> Any:
    before = tl.default_device()
    tl.set_default_device("numpy")
    tl.manual_seed(5)
    yield
    tl.set_default_device(before)


def drawn(fill: Callable[[Any], Any], shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    parameter = nn.Parameter(tl.zeros(shape))
    assert fill(parameter) is parameter
    return np.asarray(parameter.numpy())


@pytest.mark.parametrize(
    ("fill", "bound"),
    [
        (lambda x: nn.init.uniform_(x, -3, 3), 3.0),
        (lambda x: nn.init.xavier_uniform_(x, 2.0), 2 * math.sqrt(6 / 180)),
        (lambda x: nn.init.kaiming_uniform_(x), math.sqrt(2) * math.sqrt(3 / 100)),
        (
            lambda x: nn.init.kaiming_uniform_(x, 1, "fan_out", "leaky_relu"),
            math.sqrt(3 / 80),
        ),
    ],
    ids=["uniform", "xavier", "kaiming", "kaiming-fan-out"],
)
def test_even_ones(fill: Callable[[Any], Any], bound: float) -> None:
    x = drawn(fill)
    assert bound * 0.99 < np.abs(x).max() <= bound * 1.0001
    assert abs(x.mean()) < 0.03 * bound
    assert x.std() == pytest.approx(bound / math.sqrt(3), rel=0.02)


@pytest.mark.parametrize(
    ("fill", "mean", "std"),
    [
        (lambda x: nn.init.normal_(x, 1.0, 0.5), 1.0, 0.5),
        (lambda x: nn.init.xavier_normal_(x), 0.0, math.sqrt(2 / 180)),
        (lambda x: nn.init.kaiming_normal_(x, nonlinearity="relu"), 0.0, math.sqrt(2 / 100)),
        (lambda x: nn.init.trunc_normal_(x, 1.0, 0.1, -9.0, 9.0), 1.0, 0.1),
    ],
    ids=["normal", "xavier", "kaiming", "hardly-truncated"],
)
def test_normal_ones(fill: Callable[[Any], Any], mean: float, std: float) -> None:
    x = drawn(fill)
    assert abs(x.mean() - mean) < 0.04 * std
    assert x.std() == pytest.approx(std, rel=0.03)
    within = (np.abs(x - mean) < std).mean()
    assert within == pytest.approx(0.6827, abs=0.02)


@pytest.mark.parametrize(("a", "b"), [(-2.0, 2.0), (-0.5, 1.0), (1.0, 3.0)])
def test_a_truncated_normal_has_the_quantiles_of_its_distribution(a: float, b: float) -> None:
    x = drawn(lambda p: nn.init.trunc_normal_(p, 0.25, 1.0, a, b))
    assert a <= x.min() and x.max() <= b
    normal = NormalDist(0.25, 1.0)
    low, high = normal.cdf(a), normal.cdf(b)
    for part in (0.05, 0.25, 0.5, 0.75, 0.95):
        expected = normal.inv_cdf(low + part * (high - low))
        assert np.quantile(x, part) == pytest.approx(expected, abs=0.06)


def test_the_inverse_of_erf() -> None:
    x = np.linspace(-0.99999, 0.99999, 4001).astype(np.float32)
    found = tl.erfinv(tl.asarray(x)).numpy()
    normal = NormalDist()
    expected = [normal.inv_cdf((float(each) + 1) / 2) / math.sqrt(2) for each in x]
    np.testing.assert_allclose(found, expected, rtol=3e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(6, 6), (3, 8), (8, 3), (4, 3, 2, 2)])
def test_orthogonal_ones(shape: tuple[int, ...]) -> None:
    x = drawn(lambda p: nn.init.orthogonal_(p, 2.0), shape).reshape(shape[0], -1)
    product = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_fixed_ones() -> None:
    np.testing.assert_array_equal(drawn(nn.init.ones_), np.ones(SHAPE))
    np.testing.assert_array_equal(drawn(nn.init.zeros_), np.zeros(SHAPE))
    np.testing.assert_array_equal(drawn(lambda x: nn.init.constant_(x, 3)), np.full(SHAPE, 3))
    np.testing.assert_array_equal(drawn(nn.init.eye_, (3, 5)), np.eye(3, 5))


@pytest.mark.parametrize(
    ("shape", "groups"), [((4, 4, 3), 1), ((4, 2, 3, 3), 2), ((2, 3, 1, 3, 4), 1)]
)
def test_a_dirac_weight(shape: tuple[int, ...], groups: int) -> None:
    x = drawn(lambda p: nn.init.dirac_(p, groups), shape)
    expected = np.zeros(shape, np.float32)
    rows = shape[0] // groups
    for group in range(groups):
        for channel in range(min(rows, shape[1])):
            centre = tuple(size // 2 for size in shape[2:])
            expected[(group * rows + channel, channel, *centre)] = 1
    np.testing.assert_array_equal(x, expected)


def test_a_sparse_matrix() -> None:
    x = drawn(lambda p: nn.init.sparse_(p, 0.33, 2.0))
    assert set((x == 0).sum(axis=0)) == {math.ceil(0.33 * 80)}
    assert x[x != 0].std() == pytest.approx(2.0, rel=0.05)
    assert len({tuple(column) for column in (x == 0).T}) > 90  # the rows differ by column


def test_draws_differ_and_a_seed_repeats_them() -> None:
    first, second = drawn(nn.init.normal_), drawn(nn.init.normal_)
    assert (first != second).mean() > 0.99
    tl.manual_seed(5)
    np.testing.assert_array_equal(drawn(nn.init.normal_), first)


@pytest.mark.parametrize(
    ("fill", "shape", "error", "word"),
    [
        (nn.init.eye_, (3,), ShapeError, "matrix"),
        (nn.init.dirac_, (3, 3), ShapeError, "convolution"),
        (lambda x: nn.init.dirac_(x, 2), (3, 3, 1), ShapeError, "groups"),
        (nn.init.orthogonal_, (3,), ShapeError, "two axes"),
        (nn.init.xavier_normal_, (3,), ShapeError, "fan"),
        (lambda x: nn.init.sparse_(x, 1.5), (3, 3), OptionError, "sparsity"),
        (lambda x: nn.init.sparse_(x, 0.5), (3,), ShapeError, "matrix"),
        (lambda x: nn.init.trunc_normal_(x, std=0.0), (3,), OptionError, "std"),
        (lambda x: nn.init.trunc_normal_(x, a=2.0, b=1.0), (3,), OptionError, "between"),
        (lambda x: nn.init.trunc_normal_(x, a=90.0, b=99.0), (3,), OptionError, "between"),
        (lambda x: nn.init.kaiming_normal_(x, mode="fan"), (3, 3), OptionError, "mode"),
    ],
)  # fmt: skip
def test_what_does_not_go(
    fill: Callable[[Any], Any], shape: tuple[int, ...], error: type[Exception], word: str
) -> None:
    parameter = nn.Parameter(tl.ones(shape))
    with pytest.raises(error, match=word):
        fill(parameter)
    assert (parameter.numpy() == 1).all()


def test_fans_by_pytorchs_name() -> None:
    assert nn.init._calculate_fan_in_and_fan_out(nn.Conv2d(2, 4, 3).weight) == (18, 36)
