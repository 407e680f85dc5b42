"""NaN in orders, as NumPy and PyTorch have it, and arguments that are refused, on each device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl

nan, inf = np.nan, np.inf
X = np.array([[1, nan, 3, nan], [4, 2, 1, 3], [nan, nan, nan, nan]], np.float32)
LINE = np.array([3, nan, 1], np.float32)
RUN = np.array([1, nan, 3, 2], np.float32)
TWICE = np.array([nan, 1, nan, 1], np.float32)
VALUES = np.array([2, nan, 1, nan, 1], np.float32)
A = tl.asarray

CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "median of all": (lambda: A(X).median(), nan),
    "median of numbers": (lambda: A(X[1]).median(), 2),
    "median": (lambda: tl.median(A(X), 1).values, [nan, 2, nan]),
    "places of medians": (lambda: tl.median(A(X), 1).indices, [1, 1, 0]),
    "median along the first axis": (lambda: tl.median(A(X[:2]), 0).values, [1, nan, 1, nan]),
    "median, kept": (lambda: tl.median(A(X), 1, True).values, [[nan], [2], [nan]]),
    "median of integers": (lambda: tl.median(A(np.array([5, 1, 4]))), 4),
    "nanmedian of all": (lambda: tl.nanmedian(A(X)), 2),
    "nanmedian": (lambda: A(X).nanmedian(1).values, [1, 2, nan]),
    "places of nanmedians": (lambda: tl.nanmedian(A(X[:2]), 1).indices, [0, 1]),
    "cummax": (lambda: tl.cummax(A(RUN), 0).values, [1, nan, nan, nan]),
    "places of cummax": (lambda: tl.cummax(A(RUN), 0).indices, [0, 1, 1, 1]),
    "cummin": (lambda: tl.cummin(A(RUN), 0).values, [1, nan, nan, nan]),
    "two NaN in cummax": (lambda: tl.cummax(A(TWICE), 0).indices, [0, 0, 2, 2]),
    "cummax of integers": (lambda: tl.cummax(A(np.array([1, 3, 2])), 0).values, [1, 3, 3]),
    "unique": (lambda: tl.unique(A(VALUES)), [1, 2, nan, nan]),
    "unique, inverse": (lambda: tl.unique(A(VALUES), return_inverse=True)[1], [1, 2, 0, 3, 0]),
    "unique, counts": (lambda: tl.unique(A(VALUES), return_counts=True)[1], [2, 1, 1, 1]),
    "searchsorted": (lambda: tl.searchsorted(A(LINE[[2, 0]]), A(X[0])), [0, 2, 1, 2]),
    "searchsorted, right": (
        lambda: tl.searchsorted(A(LINE[[2, 0]]), A(X[0]), right=True), [1, 2, 2, 2]),
    "searchsorted among NaN": (
        lambda: tl.searchsorted(A(LINE[[2, 0, 1]]), A(np.float32([nan, inf, 0]))), [2, 2, 0]),
    "searchsorted among NaN, right": (
        lambda: tl.searchsorted(A(LINE[[2, 0, 1]]), A(np.float32([nan, inf])), right=True), [3, 2]),
    "bucketize": (lambda: tl.bucketize(A(np.float32([nan, -inf, 2])), A(LINE[[2, 0]])), [2, 0, 1]),
    "quantile": (lambda: tl.quantile(A(X), .5, 1), [nan, 2.5, nan]),
    "quantiles": (lambda: tl.quantile(A(X), A(np.float32([0, .5, 1])), 1),
                  [[nan, 1, nan], [nan, 2.5, nan], [nan, 4, nan]]),
    "quantile of infinities": (lambda: tl.quantile(A(np.float32([1, inf, inf])), .5), inf),
    "nanquantiles": (lambda: tl.nanquantile(A(X), A(np.float32([0, .5, 1])), dim=1),
                     [[1, 1, nan], [2, 2.5, nan], [3, 4, nan]]),
    "nanquantile of all": (lambda: tl.nanquantile(A(X), .3), 1.5),
    "nanquantile, kept": (lambda: A(X).nanquantile(.5, 1, True), [[2], [2.5], [nan]]),
    "quantile of a computed part": (lambda: tl.quantile(A(X[1]), A(np.float32([2])) - .5), [nan]),
    "mode": (lambda: tl.mode(A(np.array([[1, 2, 2, 1, 3], [5, 4, 3, 2, 1]]))).values, [1, 1]),
    "places of modes": (lambda: A(np.array([[1, 2, 2, 1, 3], [5, 4, 3, 2, 1]])).mode().indices,
                        [3, 4]),
    "mode of columns": (lambda: tl.mode(A(np.float32([[7, 2], [7, 3], [8, 3]])), 0).values,
                        [7, 3]),
    "max": (lambda: tl.amax(A(X), 1), [nan, 4, nan]),
    "amin": (lambda: tl.amin(A(X), 1), [nan, 1, nan]),
    "argmax": (lambda: A(LINE).argmax(), 1),
    "argmin": (lambda: A(LINE).argmin(), 1),
    "sort": (lambda: A(LINE).sort().values, [1, 3, nan]),
    "sort, descending": (lambda: A(LINE).sort(descending=True).values, [nan, 3, 1]),
    "argsort": (lambda: A(RUN).argsort(), [0, 3, 2, 1]),
    "topk": (lambda: A(LINE).topk(2).values, [nan, 3]),
    "smallest": (lambda: A(LINE).topk(2, largest=False).values, [1, 3]),
    "kthvalue": (lambda: tl.kthvalue(A(LINE), 3).values, nan),
    "maximum": (lambda: tl.maximum(A(LINE), A(RUN[[1, 2, 3]])), [nan, nan, 2]),
    "clip": (lambda: tl.clip(A(LINE), 0, 2), [2, nan, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_nan_has_a_place(device: str, name: str) -> None:
    build, wanted = CASES[name]
    np.testing.assert_allclose(build().numpy(), np.asarray(wanted), rtol=1e-6)


REFUSED: dict[str, tuple[Callable[[], Any], type[tl.TallowError], str]] = {
    "quantile above 1": (lambda: tl.quantile(A(RUN), 1.5), tl.OptionError, "1.5 is not from 0"),
    "quantile below 0": (lambda: A(RUN).quantile(-.1), tl.OptionError, "not from 0 to 1"),
    "quantile of NaN": (lambda: tl.nanquantile(A(RUN), nan), tl.OptionError, "not from 0 to 1"),
    "quantiles": (lambda: tl.quantile(A(RUN), A([.5, 2.])), tl.OptionError, "2.0 is not from 0"),
    "bincount": (lambda: tl.bincount(A([1, -1])), tl.OptionError, "there is -1"),
    "bincount of fractions": (lambda: tl.bincount(A([1., 2])), tl.DTypeError, "takes integers"),
    "bincount, minlength": (lambda: tl.bincount(A([1]), minlength=-1), tl.OptionError, "minlength"),
    "weights of bincount": (lambda: tl.bincount(A([1, 2]), A([1.])), tl.ShapeError, "weights"),
    "repeats": (lambda: A([1, 2]).repeat_interleave(-1), tl.OptionError, "-1 times"),
    "counts": (lambda: A([1, 2]).repeat_interleave(A([1, -2])), tl.OptionError, "-2 times"),
    "number of counts": (lambda: A([1, 2]).repeat_interleave(A([1, 2, 3])), tl.ShapeError, "2 ele"),
    "type of counts": (lambda: A([1, 2]).repeat_interleave(A([1., 2])), tl.ShapeError, "float32"),
    "mode of nothing": (lambda: tl.mode(A(np.zeros((2, 0)))), tl.ShapeError, "is empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_are_refused(name: str) -> None:
    build, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        build()


def test_counts_of_repeats(device: str) -> None:
    x = A(np.arange(6, dtype=np.float32).reshape(2, 3))
    found = tl.repeat_interleave(x, A([2, 0, 1]), 1)
    assert found.tolist() == [[0, 0, 2], [3, 3, 5]]
    assert x.repeat_interleave(A([2]), 0).tolist() == [[0, 1, 2]] * 2 + [[3, 4, 5]] * 2
    x.requires_grad_()
    x.repeat_interleave(A([3, 1]), 0).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[3, 3, 3], [1, 1, 1]]
    assert tl.bincount(A([1, 3, 1]), A([0.5, 2.0, 1.0])).tolist() == [0, 1.5, 0, 2]


def test_covariances(device: str) -> None:
    x = np.array([[1, 2, 4], [3, 1, 0]], np.float32)
    np.testing.assert_allclose(tl.cov(A(x)).numpy(), np.cov(x), rtol=1e-5)
    np.testing.assert_allclose(A(x[0]).cov(correction=0).item(), np.cov(x[0], ddof=0), rtol=1e-5)
    times, shares = np.array([1, 2, 1]), np.float32([0.5, 1, 2])
    found = tl.cov(A(x), fweights=A(times), aweights=A(shares)).numpy()
    np.testing.assert_allclose(found, np.cov(x, fweights=times, aweights=shares), rtol=1e-5)


def test_linspace_has_a_type(device: str) -> None:
    most = 2147483647
    for found, wanted in (
        (tl.linspace(-most, most, 4, dtype=tl.int32), [-most, -715827882, 715827882, most]),
        (tl.linspace(0, 10, 4, dtype="int64"), [0, 3, 6, 10]),
        (tl.linspace(0.5, -3.5, 5, dtype="int32"), [0, 0, -1, -2, -3]),
        (tl.linspace(3, 5, 1, dtype="uint8"), [3]),
        (tl.linspace(0, 1, 5, dtype="float16"), [0, 0.25, 0.5, 0.75, 1]),
        (tl.linspace(0, 1, 0, dtype="int32"), []),
    ):
        assert found.tolist() == wanted
    fine = tl.linspace(0, 1, 11, dtype="float64").to("numpy")
    assert fine.dtype == tl.float64 and fine.tolist() == [n / 10 for n in range(11)]
