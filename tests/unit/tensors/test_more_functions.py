"""What functions of numbers, lines and places refuse, and what parity cases do not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.functions import special

X = tl.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: tl.gcd(X, X), tl.DTypeError),
        (lambda: tl.nextafter(X.int(), X), tl.DTypeError),
        (lambda: tl.is_nonzero(X), tl.ShapeError),
        (lambda: tl.polygamma(-1, X), tl.OptionError),
        (lambda: tl.mvlgamma(X, 0), tl.OptionError),
        (lambda: tl.histc(X, 0), tl.OptionError),
        (lambda: tl.histogram(X, 0), tl.OptionError),
        (lambda: tl.histc(X, 3, 2, 1), tl.OptionError),
        (lambda: tl.gradient(X, edge_order=3), tl.OptionError),
        (lambda: tl.gradient(X, spacing=[1.0]), tl.ShapeError),
        (lambda: tl.gradient(X, spacing=[tl.ones(3)], dim=1), tl.ShapeError),
        (lambda: tl.gradient(X[:1]), tl.ShapeError),
        (lambda: tl.pdist(X[0]), tl.ShapeError),
        (lambda: tl.vander(X), tl.ShapeError),
        (lambda: tl.hann_window(-1), tl.OptionError),
        (lambda: tl.hsplit(X, 3), tl.ShapeError),
        (lambda: tl.vsplit(X[0], 2), tl.ShapeError),
        (lambda: tl.dsplit(X, 2), tl.ShapeError),
        (lambda: tl.as_strided(X, (2,), (1, 1)), tl.ShapeError),
        (lambda: tl.as_strided(X, (3, 4), (4, 2)), tl.IndexRangeError),
        (lambda: tl.as_strided(X, (2,), (1,)).zero_(), tl.OptionError),
        (lambda: tl.block_diag(X[None]), tl.ShapeError),
        (lambda: tl.cartesian_prod(X, X), tl.ShapeError),
        (lambda: tl.combinations(X), tl.ShapeError),
        (lambda: tl.combinations(X[0], -1), tl.OptionError),
        (lambda: tl.diag_embed(X, 0, 1, 1), tl.ShapeError),
        (lambda: tl.index_reduce(X, 0, tl.asarray([1]), X, "amax"), tl.ShapeError),
        (lambda: X.put(tl.asarray([1, 2]), X), tl.ShapeError),
        (lambda: tl.select_scatter(X, X, 0, 1), tl.ShapeError),
        (lambda: tl.slice_scatter(X, X, 0, 1), tl.ShapeError),
        (lambda: tl.diagonal_scatter(X, X), tl.ShapeError),
        (lambda: tl.ones(2, requires_grad=True).unsqueeze_(0), tl.GradientError),
        (lambda: (X * 1.0).eq_(tl.ones(5, 3, 4)), tl.ShapeError),
    ],
)
def test_what_is_refused(call: Callable[[], Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        result = call()
        result.numpy()


def test_a_strided_tensor_follows_the_one_it_was_taken_from() -> None:
    x = X * 1.0
    strided = x.as_strided((2, 2), (1, 4))
    x.zero_()
    with pytest.raises(tl.OptionError, match="clone"):
        strided.add_(1.0)
    copy = strided.clone()
    assert copy.add_(1.0).shape == (2, 2)


def test_operators_in_place_change_the_object() -> None:
    x = tl.asarray([1, 2, 3])
    same = x
    x &= 2
    x |= 4
    x ^= 1
    x <<= 1
    x >>= 1
    assert x is same and same.tolist() == [5, 7, 7]
    y = tl.asarray([1.0, 2.0])
    other = y
    y **= 3
    assert y is other and other.tolist() == [1, 8]


def test_another_shape_in_place() -> None:
    x = X * 2.0
    same = x
    assert x.unsqueeze_(0) is same and same.shape == (1, 3, 4)
    assert x.squeeze_(0).t_().shape == (4, 3)
    x[0] = 7.0
    assert same.tolist()[0] == [7, 7, 7]
    with tl.no_grad():
        leaf = tl.ones(2, 3, requires_grad=True)
        leaf.transpose_(0, 1)
    assert leaf.shape == (3, 2) and leaf.requires_grad


def test_numbers_at_their_ends() -> None:
    inf, nan = float("inf"), float("nan")
    mantissa, exponent = tl.frexp(tl.asarray([0.0, 1.0, -8.0, 0.49999997, inf, 3e38, 1.2e-38]))
    wanted = np.frexp(np.array([0.0, 1.0, -8.0, 0.49999997, inf, 3e38, 1.2e-38], np.float32))
    np.testing.assert_array_equal(mantissa.numpy(), wanted[0])
    np.testing.assert_array_equal(exponent.numpy(), wanted[1])
    ends = tl.nextafter(tl.asarray([1.0, 0.0, 1.0, nan, 3.4028233e38]), tl.asarray([2.0, -1.0, 1.0,
                        1.0, inf]))  # fmt: skip
    expected = np.nextafter(
        np.array([1.0, 0.0, 1.0, nan, 3.4028233e38], np.float32),
        np.array([2.0, -1.0, 1.0, 1.0, inf], np.float32),
    )
    np.testing.assert_array_equal(ends.numpy(), expected)
    wide = tl.nextafter(tl.asarray([1.0, -1.0], "float64"), tl.asarray([2.0, 2.0], "float64"))
    np.testing.assert_array_equal(wide.numpy(), np.nextafter([1.0, -1.0], [2.0, 2.0]))
    parts = tl.frexp(tl.asarray([1e300, -3.0], "float64"))
    np.testing.assert_array_equal(parts.mantissa.numpy(), np.frexp([1e300, -3.0])[0])
    assert tl.ldexp(tl.asarray([1.0]), tl.asarray([-140.0])).item() == pytest.approx(2.0**-140)
    for kind in ("int8", "int16", "int32", "int64", "uint8"):
        top = np.iinfo(kind).max
        pairs = np.array([[top, 0, 12, 55], [top - 1, 0, 18, 34]]).astype(kind)
        found = tl.gcd(tl.asarray(pairs[0]), tl.asarray(pairs[1]))
        assert found.tolist() == np.gcd(*pairs).tolist() and found.dtype.name == kind
    assert tl.lcm(tl.asarray([0, -4]), tl.asarray([3, 6])).tolist() == [0, 12]


def test_running_logarithms_of_sums_with_infinities() -> None:
    x = tl.asarray([-float("inf"), -float("inf"), 0.0, -900.0, 800.0], requires_grad=True)
    found = tl.logcumsumexp(x, 0)
    assert found.tolist() == [-float("inf"), -float("inf"), 0, 0, 800]
    found[-1].backward()
    assert x.grad is not None and x.grad.tolist() == [0, 0, 0, 0, 1]


def test_special_functions_at_their_ends() -> None:
    inf = float("inf")
    assert special.ndtri(tl.asarray([0.0, 1.0, 0.5])).tolist() == [-inf, inf, 0]
    assert special.entr(tl.asarray([0.0, -1.0])).tolist() == [0, -inf]
    assert special.xlog1py(tl.asarray([0.0]), tl.asarray([-1.0])).tolist() == [0]
    assert tl.igamma(tl.asarray([2.0, 2.0]), tl.asarray([0.0, inf])).tolist() == [0, 1]
    assert tl.igammac(tl.asarray([2.0, 2.0]), tl.asarray([0.0, inf])).tolist() == [1, 0]
    assert np.isnan(tl.igamma(tl.asarray(-1.0), 1.0).item())
    names = {each.__name__ for each in special.SPECIAL}
    assert {"zeta", "i1e", "log_ndtr", "gammainc"} <= names


def test_numbers_beside_those_that_are_none() -> None:
    nan = float("nan")
    x, y = tl.asarray([1.0, nan, nan, 3.0]), tl.asarray([2.0, 5.0, nan, nan])
    np.testing.assert_array_equal(tl.fmax(x, y).numpy(), [2, 5, nan, 3])
    np.testing.assert_array_equal(tl.fmin(x, y).numpy(), [1, 5, nan, 3])


def test_draws_in_place_and_of_counts() -> None:
    tl.manual_seed(2)
    x = tl.ones(20_000)
    assert x.geometric_(0.25).mean().item() == pytest.approx(4, abs=0.12)
    assert x.log_normal_(0.0, 0.5).mean().item() == pytest.approx(np.exp(0.125), abs=0.02)
    assert x.cauchy_(1.0, 0.5).median().item() == pytest.approx(1, abs=0.03)
    assert tl.poisson(tl.full((20_000,), 3.5)).mean().item() == pytest.approx(3.5, abs=0.06)
    some = tl.binomial(tl.full((20_000,), 12.0), tl.asarray(0.25))
    assert some.mean().item() == pytest.approx(3, abs=0.06)
    one, two = (tl.poisson(tl.ones(5) * 9, tl.Generator().manual_seed(4)) for _ in range(2))
    assert one.tolist() == two.tolist()


def test_nothing_is_cut_and_joined() -> None:
    assert tl.block_diag().shape == (1, 0) and tl.combinations(tl.ones(1)).shape == (0, 2)
    assert tl.pdist(tl.ones(1, 3)).shape == (0,)
    found, inverse, counts = tl.unique_consecutive(tl.ones(0), True, True)
    assert (found.shape, inverse.shape, counts.shape) == ((0,), (0,), (0,))
    assert tl.vander(tl.ones(3), 0).shape == (3, 0)
    assert tl.short == tl.int16
