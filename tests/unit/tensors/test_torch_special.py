"""Special functions, draws by weight, facts about types, and scatters, under PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.errors import DTypeError, OptionError, ShapeError

X = np.array([1e-3, 0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.3, 10.0, 50.0, 1000.0, -0.3, -1.7, -20.25])


def values(x: Any) -> Any:
    return np.asarray(x.numpy()).tolist()


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-8), ("float32", 2e-6)])
def test_the_gamma_function(dtype: str, rtol: float) -> None:
    x = tl.asarray(X).astype(dtype)
    wanted = [math.lgamma(each) for each in X]
    np.testing.assert_allclose(x.lgamma().numpy(), wanted, rtol=rtol, atol=rtol)
    steps = np.maximum(np.abs(X), 0.1) * 1e-6
    pairs = [(a, h) for a, h in zip(X, steps, strict=True) if abs(a) > 0.01]
    slopes = [(math.lgamma(a + h) - math.lgamma(a - h)) / (2 * h) for a, h in pairs]
    for found in (x.digamma(), tl.grad(lambda x: tl.lgamma(x).sum())(x)):
        np.testing.assert_allclose(found.numpy()[1:], slopes, rtol=max(rtol, 1e-7), atol=1e-6)
    second = tl.grad(lambda x: tl.digamma(x).sum())(tl.asarray(1.0))
    np.testing.assert_allclose(second.numpy(), math.pi**2 / 6, rtol=1e-5)
    assert values(tl.lgamma(tl.asarray([math.inf, 0.0]))) == [math.inf, math.inf]


def test_the_inverse_error_function() -> None:
    x = np.float32([0, 0.1, 0.5, 0.9, 0.99, 0.9999, -0.7])
    y = tl.asarray(x).erfinv().numpy()
    np.testing.assert_allclose([math.erf(each) for each in y], x, rtol=1e-6)
    first = tl.grad(lambda x: tl.erfinv(x).sum())
    np.testing.assert_allclose(
        first(tl.asarray(x)).numpy(), math.sqrt(math.pi) / 2 * np.exp(y**2), rtol=1e-4
    )
    second = tl.grad(lambda x: first(x).sum())(tl.asarray(x)).numpy()
    np.testing.assert_allclose(second, math.pi / 2 * y * np.exp(2 * y**2), rtol=1e-3)
    outside = tl.erfinv(tl.asarray([1.0, -1.0, 2.0])).numpy()
    assert outside[:2].tolist() == [math.inf, -math.inf] and np.isnan(outside[2])


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_draws_by_weight(device: str) -> None:
    before = tl.default_device()
    tl.set_default_device(device)
    tl.manual_seed(0)
    weights = tl.tensor([[1.0, 0.0, 3.0, 4.0], [0.0, 0.0, 1.0, 0.0]])
    drawn = tl.multinomial(weights, 8000, replacement=True).numpy()
    shares = np.bincount(drawn[0], minlength=4) / 8000
    np.testing.assert_allclose(shares, [1 / 8, 0, 3 / 8, 1 / 2], atol=0.03)
    assert set(drawn[1]) == {2} and drawn.dtype == np.int32
    order = tl.tensor(np.tile(np.float32([1, 2, 3, 4]), (8000, 1))).multinomial(4).numpy()
    np.testing.assert_allclose(np.bincount(order[:, 0]) / 8000, [0.1, 0.2, 0.3, 0.4], atol=0.03)
    assert (np.sort(order) == np.arange(4)).all()
    assert sorted(values(tl.multinomial(weights[0], 3))) == [0, 2, 3]
    step = tl.jit(lambda w: w.multinomial(16, True))
    assert values(step(weights[0])) != values(step(weights[0]))
    tl.set_default_device(before)
    with pytest.raises(OptionError, match="5 of 4"):
        tl.multinomial(weights, 5)
    with pytest.raises(DTypeError, match="int32"):
        tl.multinomial(tl.tensor([1, 2]), 1)
    with pytest.raises(ShapeError, match="weights"):
        tl.multinomial(tl.ones((1, 1, 1)), 1)


def test_facts_about_types() -> None:
    for name in ("float16", "float32", "float64"):
        found, wanted = tl.finfo(name), np.finfo(name)
        for fact in ("bits", "eps", "max", "min", "tiny", "resolution"):
            number = wanted.dtype.type(getattr(found, fact))
            assert number == getattr(wanted, fact), (name, fact)
    for name in ("int8", "uint8", "int16", "int32", "int64", "uint32"):
        whole, numpys = tl.iinfo(getattr(tl, name)), np.iinfo(name)
        for fact in ("bits", "max", "min"):
            assert getattr(whole, fact) == getattr(numpys, fact)
    for call in (lambda: tl.finfo(tl.int32), lambda: tl.iinfo(tl.float32)):
        with pytest.raises(DTypeError):
            call()


A = tl.tensor([[3.0, 1.0, 3.0, 5.0], [2.0, 2.0, 1.0, 0.0]])
BASE, AT, SRC = tl.tensor([1.0, 2, 3, 4]), tl.tensor([0, 0, 1, 2]), tl.tensor([5.0, 6, 7, 0])


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda: A.cummax(1).values, [[3, 3, 3, 5], [2, 2, 2, 2]]),
        (lambda: A.cummax(1).indices, [[0, 0, 2, 3], [0, 1, 1, 1]]),
        (lambda: A.cummin(0).values, [[3, 1, 3, 5], [2, 1, 1, 0]]),
        (lambda: A.index_fill(1, tl.tensor([0, -1]), 9.0), [[9, 1, 3, 9], [9, 2, 1, 9]]),
        (lambda: A.index_copy(0, tl.tensor([1]), tl.ones((1, 4))), [[3, 1, 3, 5], [1] * 4]),
        (lambda: A.masked_scatter(A > 2, tl.tensor([10.0, 20, 30, 40])),
         [[10, 1, 20, 30], [2, 2, 1, 0]]),
        (lambda: tl.arange(7).unfold(0, 3, 2), [[0, 1, 2], [2, 3, 4], [4, 5, 6]]),
        (lambda: A.unfold(0, 2, 1), [[[3, 2], [1, 2], [3, 1], [5, 0]]]),
        (lambda: tl.isin(A[0], tl.tensor([1.0, 5.0])), [False, True, False, True]),
        (lambda: BASE.scatter_reduce(0, AT, SRC, "sum"), [12, 9, 3, 4]),
        (lambda: BASE.scatter_reduce(0, AT, SRC, "prod"), [30, 14, 0, 4]),
        (lambda: BASE.scatter_reduce(0, AT, SRC, "mean"), [4, 4.5, 1.5, 4]),
        (lambda: BASE.scatter_reduce(0, AT, SRC, "amax"), [6, 7, 3, 4]),
        (lambda: BASE.scatter_reduce(0, AT, SRC, "mean", include_self=False), [5.5, 7, 0, 4]),
        (lambda: BASE.scatter_reduce(0, AT, SRC, "amin", include_self=False), [5, 7, 0, 4]),
        (lambda: BASE.clone().clamp_max_(2.0), [1, 2, 2, 2]),
        (lambda: BASE.clone().square_(), [1, 4, 9, 16]),
        (lambda: tl.zeros((2, 3)).fill_diagonal_(7), [[7, 0, 0], [0, 7, 0]]),
        (lambda: BASE.median(), 2),
        (lambda: BASE.baddbmm(tl.ones((2, 3, 2)), tl.ones((2, 2, 4)))[1, 2], [3, 4, 5, 6]),
        (lambda: BASE.new_empty(2), [0, 0]),
        (lambda: tl.Tensor.hypot(tl.tensor([3.0]), tl.tensor([4.0])), [5]),
    ],
)  # fmt: skip
def test_places_and_methods(call: Callable[[], Any], wanted: Any) -> None:
    assert values(call()) == wanted


def test_the_different_elements() -> None:
    found, inverse, counts = tl.tensor([[3, 1], [3, 2]]).unique(
        return_inverse=True, return_counts=True
    )
    assert [values(x) for x in (found, inverse, counts)] == [[1, 2, 3], [[2, 0], [2, 1]], [1, 1, 2]]
    rows = tl.tensor([[1, 2], [0, 5], [1, 2]])
    found, inverse, counts = tl.unique(rows, return_inverse=True, return_counts=True, dim=0)
    assert values(found) == [[0, 5], [1, 2]]
    assert values(inverse) == [1, 0, 1] and values(counts) == [1, 2]
    assert values(tl.unique(rows, dim=1)) == values(rows)
    with pytest.raises(IndexError, match="axis 3"):
        tl.unique(rows, dim=3)


def test_gradients_of_places() -> None:
    x = tl.tensor([3.0, 1.0, 3.0, 5.0], requires_grad=True)
    x.cummax(0).values.sum().backward()
    assert values(x.grad) == [2, 0, 1, 1]
    x.grad = None
    x.unfold(0, 2, 1).sum().backward()
    assert values(x.grad) == [1, 2, 2, 1]
    source = tl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x.masked_scatter(x > 2, source).sum().backward()
    assert values(source.grad) == [1, 1, 1]


def test_the_bounds_of_whole_numbers() -> None:
    for drawn in (tl.randint(2, (50,)), tl.randint(0, 2, (50,)), tl.randint(2, size=(50,))):
        assert drawn.shape == (50,) and set(values(drawn)) == {0, 1}


def test_numbers_drawn_in_place() -> None:
    tl.manual_seed(0)
    drawn = tl.zeros((4000,)).exponential_(2.0).numpy()
    assert drawn.min() > 0 and abs(drawn.mean() - 0.5) < 0.05
    assert set(values(tl.zeros((100,), "int32").random_(2, 4))) == {2, 3}


def test_what_does_not_go() -> None:
    for call, error in (
        (lambda: A.unfold(1, 5, 1), OptionError), (lambda: A.masked_scatter(A, A), DTypeError),
        (lambda: A.index_copy(0, tl.tensor([0]), A), ShapeError),
        (lambda: BASE.scatter_reduce(0, AT, SRC, "add"), OptionError),
    ):  # fmt: skip
        with pytest.raises(error):
            call()


@pytest.mark.parametrize("compiled", [False, True])
def test_rows_written_where_a_mask_is_true(compiled: bool) -> None:
    def written(x: tl.Tensor, mask: tl.Tensor, value: tl.Tensor) -> tl.Tensor:
        x = x.clone()
        x[mask] = value
        return x

    run = tl.jit(written) if compiled else written
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    for mask, value in (
        (np.array([True, False, True]), [[10.0, 20.0], [30.0, 40.0]]),
        (np.array([True, False, True]), [[10.0], [30.0]]), (np.array([True, True, False]), [7.0]),
        (np.array([False, True, True]), [[7.0, 8.0]]), (x > 2, [5.0, 6.0, 7.0]), (x > 2, [9.0]),
        (x > 9, np.zeros(0)),
    ):  # fmt: skip
        wanted = x.copy()
        wanted[mask] = np.float32(value)
        given = tl.tensor(np.float32(value))
        np.testing.assert_array_equal(run(tl.tensor(x), tl.tensor(mask), given).numpy(), wanted)
    with pytest.raises(ShapeError, match="mask"):
        run(tl.tensor(x), tl.tensor(x > 2), tl.ones((3, 2)))


def test_einsum_of_a_list() -> None:
    a, b = tl.randn(2, 3), tl.randn(3, 4)
    wanted = (a @ b).numpy()
    np.testing.assert_allclose(tl.einsum("ij,jk->ik", [a, b]).numpy(), wanted, rtol=1e-6)


def test_a_generator_of_ones_own() -> None:
    draws: list[Callable[[tl.Generator], tl.Tensor]] = [
        lambda g: tl.rand(4, generator=g),
        lambda g: tl.randn(4, generator=g),
        lambda g: tl.randint(9, (8,), generator=g),
        lambda g: tl.randperm(8, generator=g),
        lambda g: tl.bernoulli(tl.full((16,), 0.5), generator=g),
        lambda g: tl.ones(8).multinomial(8, generator=g),
        lambda g: tl.ones(8).multinomial(8, replacement=True, generator=g),
    ]
    for draw in draws:
        tl.manual_seed(0)
        first, second = tl.Generator().manual_seed(7), tl.Generator("cpu").manual_seed(7)
        assert values(draw(first)) == values(draw(second)) != values(draw(first))
        assert values(draw(second.manual_seed(8))) != values(draw(first.manual_seed(7)))
        found = values(tl.rand(3))
        tl.manual_seed(0)
        assert found == values(tl.rand(3))  # of which generators take none
    assert (
        first.initial_seed() == 7 and first.seed() == first.initial_seed() != tl.Generator().seed()
    )
    with pytest.raises(tl.TracingError, match="manual_seed"):
        tl.jit(lambda x: x + tl.rand(4, generator=first))(tl.ones(4))


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_what_is_not_a_number_stays_so(device: str) -> None:
    """PyTorch's values: NaN is not near 0, and a negative part has no logarithm."""
    tl.set_default_device(device)
    x = tl.asarray([-1.0, -0.5, 0.0, 0.25, 1.5, np.inf, -np.inf, np.nan])
    soft = [-0.5, 0, 0, 0, 1, np.inf, -np.inf, np.nan]
    hard = [-1, 0, 0, 0, 1.5, np.inf, -np.inf, np.nan]
    np.testing.assert_array_equal(tl.functional.softshrink(x).numpy(), soft)
    np.testing.assert_array_equal(tl.functional.hardshrink(x).numpy(), hard)
    targets = tl.asarray([-1.0, 0.0, 0.5, np.nan])
    loss = tl.functional.kl_div(tl.zeros((4,)), targets, reduction="none").numpy()
    np.testing.assert_allclose(loss, [np.nan, 0, 0.5 * np.log(0.5), np.nan], rtol=1e-6)
    tl.set_default_device(None)


@pytest.mark.parametrize("device", ["numpy", "wasm"])
def test_digamma_at_its_poles_and_ends(device: str) -> None:
    tl.set_default_device(device)
    x = tl.asarray([0.0, -1.0, -2.0, -1.5, np.inf, -np.inf, np.nan])
    expected = [-np.inf, np.nan, np.nan, 0.7031566, np.inf, np.nan, np.nan]
    np.testing.assert_allclose(tl.functions.digamma(x).numpy(), expected, rtol=1e-5)
    tl.set_default_device(None)


@pytest.mark.parametrize("loss", [tl.functional.huber_loss, tl.functional.smooth_l1_loss])
def test_infinite_differences_have_the_gradient_of_the_line(loss: Callable[..., Any]) -> None:
    x = tl.asarray([np.inf, -np.inf, 0.5, 3.0], requires_grad=True)
    loss(x, tl.zeros((4,)), reduction="sum").backward()
    assert tl.asarray(x.grad).tolist() == [1.0, -1.0, 0.5, 1.0]
