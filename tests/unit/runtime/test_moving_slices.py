"""Slices in loops: one plan serves all starts, and every turn gets its own elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.errors import IndexRangeError
from tallow.nn import functional

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(3)
X = RNG.standard_normal((96, 6)).astype(np.float32)
LABELS = RNG.integers(0, 4, 96)


def held(values: Any) -> tl.Tensor:
    return (tl.asarray(values) * 1).realize()


def test_batches_of_a_loop_share_a_plan(compiled: list[int]) -> None:
    x, w = held(X), held(np.ones((6, 2), np.float32))
    compiled.clear()
    for at in range(0, 96, 4):
        np.testing.assert_allclose(
            (x[at : at + 4] @ w).numpy(), X[at : at + 4] @ np.ones((6, 2)), rtol=1e-5, atol=1e-5
        )
    assert len(compiled) == 2  # the first one's, and that of all others


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_a_network_learns_from_slices(compiled: list[int], dtype: str) -> None:
    x, labels = tl.tensor(X), tl.tensor(LABELS.astype(dtype))
    w = tl.tensor(np.zeros((6, 4), np.float32), requires_grad=True)
    expected = np.zeros((6, 4))
    for at in range(0, 96, 8):
        rows, answers = X[at : at + 8], LABELS[at : at + 8]
        loss = functional.cross_entropy(x[at : at + 8] @ w, labels[at : at + 8].to(tl.int64))
        loss.backward()
        with tl.no_grad():
            assert w.grad is not None
            w -= 0.5 * w.grad
            w.grad.zero_()
        scores = np.exp(rows @ expected)
        shares = scores / scores.sum(1, keepdims=True)
        picked = shares[np.arange(8), answers]
        assert loss.item() == pytest.approx(-np.log(picked).mean(), rel=1e-4)
        shares[np.arange(8), answers] -= 1
        expected -= 0.5 * rows.T @ shares / 8
    np.testing.assert_allclose(w.detach().numpy(), expected, rtol=1e-3, atol=1e-5)
    assert len(compiled) <= 5


def test_rows_and_parts_of_rows(compiled: list[int]) -> None:
    x = held(X)
    compiled.clear()
    for row in range(20):
        for column in range(4):
            found = tl.exp(x[row, column : column + 2]) + x[row + 5, 1:3]
            wanted = np.exp(X[row, column : column + 2]) + X[row + 5, 1:3]
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)
    assert len(compiled) <= 4


def test_a_slice_of_a_slice() -> None:
    x, numbers = held(X), tl.asarray(np.arange(96, dtype=np.int32))
    for at in range(0, 60, 3):
        part = x[at : at + 10]
        np.testing.assert_array_equal(
            (part[at % 7 : at % 7 + 2] + 1).numpy(), X[at:][at % 7 :][:2] + 1
        )
        some = numbers[at : at + 10][at % 5 : at % 5 + 3]
        np.testing.assert_array_equal(
            tl.take(x, some, axis=0).numpy(), X[at + at % 5 : at + at % 5 + 3]
        )


def test_many_slices_of_one_graph(compiled: list[int]) -> None:
    x = held(X)
    compiled.clear()
    for turn in range(12):
        rows = [(turn * 7 + 5 * number) % 96 for number in range(24)]
        found = tl.stack([x[row] * 2 for row in rows])
        np.testing.assert_array_equal(found.numpy(), X[rows] * 2)
    assert len(compiled) <= 3


def test_gradients_of_what_is_sliced() -> None:
    for at in range(0, 40, 4):
        x = tl.tensor(X, requires_grad=True)
        (x[at : at + 4] ** 2).sum().backward()
        expected = np.zeros_like(X)
        expected[at : at + 4] = 2 * X[at : at + 4]
        assert x.grad is not None
        np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_an_index_out_of_range_is_found_in_its_turn(dtype: str) -> None:
    values = (np.arange(40) % 6).astype(dtype)
    values[33] = 9
    indices, x = tl.asarray(values), held(X[:6])
    for at in range(0, 40, 4):
        if at == 32:
            with pytest.raises(IndexRangeError, match="9"):
                tl.take(x, indices[at : at + 4], axis=0).numpy()
        else:
            found = tl.take(x, indices[at : at + 4], axis=0)
            np.testing.assert_array_equal(found.numpy(), X[values[at : at + 4]])


def test_what_a_loop_changes_is_read_anew() -> None:
    x, expected = held(X), X.copy()
    for at in range(0, 48, 2):
        x[at : at + 2] = x[at + 1 : at + 3] * 2
        expected[at : at + 2] = expected[at + 1 : at + 3] * 2
        np.testing.assert_allclose(x[at : at + 4].numpy(), expected[at : at + 4], rtol=1e-6)
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-6)
