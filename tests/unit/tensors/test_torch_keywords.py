"""Names that the array API and PyTorch both have: functions mean the standard's, methods
PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

import tallow as tl
from tallow.errors import OptionError

X = np.array([[3.0, 1.0, 2.0], [5.0, 9.0, 7.26]], np.float32)
T = tl.asarray(X)


def test_sorting() -> None:
    np.testing.assert_array_equal(tl.sort(T, axis=0).numpy(), np.sort(X, 0))
    values, places = T.sort(dim=1, descending=True)
    np.testing.assert_array_equal(values.numpy(), -np.sort(-X, 1))
    np.testing.assert_array_equal(places.numpy(), np.argsort(-X, 1))
    for found in (tl.argsort(T, dim=0), tl.argsort(T, 0, stable=True), T.argsort(0)):
        np.testing.assert_array_equal(found.numpy(), np.argsort(X, 0))


def test_variances() -> None:
    for name in ("var", "std"):
        ours, numpys = getattr(tl, name), getattr(np, name)
        for found, wanted in (
            (ours(T), numpys(X)),
            (ours(T, axis=1, keepdims=True), numpys(X, 1, keepdims=True)),
            (ours(T, correction=1), numpys(X, ddof=1)),
            (getattr(T, name)(dim=1), numpys(X, 1, ddof=1)),
            (getattr(T, name)(axis=1, keepdims=True), numpys(X, 1, ddof=1, keepdims=True)),
            (getattr(T, name)(dim=0, unbiased=False), numpys(X, 0)),
            (getattr(T, name)(unbiased=True), numpys(X, ddof=1)),
            (getattr(T, name)(dim=0, correction=0), numpys(X, 0)),
        ):
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)


def test_names_of_arguments() -> None:
    assert [each.shape for each in tl.split(T, 2, dim=1)] == [(2, 2), (2, 1)]
    assert [each.shape for each in tl.split(T, [1, 2], axis=1)] == [(2, 1), (2, 2)]
    np.testing.assert_array_equal(tl.flip(T, dims=(0, 1)).numpy(), X[::-1, ::-1])
    np.testing.assert_array_equal(tl.concat([T, T], dim=1).numpy(), np.concatenate([X, X], 1))
    np.testing.assert_array_equal(tl.linspace(0, end=1, steps=5).numpy(), np.linspace(0, 1, 5))
    np.testing.assert_allclose(tl.round(T, decimals=1).numpy(), np.round(X, 1), rtol=1e-6)
    np.testing.assert_allclose(T.round(decimals=1).numpy(), np.round(X, 1), rtol=1e-6)
    np.testing.assert_array_equal(tl.round(T).numpy(), np.round(X))
    with pytest.raises(OptionError, match="linspace"):
        tl.linspace(0, 1)
