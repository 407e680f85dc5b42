"""The classical LeNet-5 learns MNIST in one epoch. How long that takes is for `bench --epoch`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from bench import epoch as bench_epoch
from bench.in_browser import epoch

import tallow as tl


@pytest.fixture
def wasm() -> Iterator[None]:
    """WebAssembly as the default device."""
    before = tl.default_device()
    tl.set_default_device("wasm")
    yield
    tl.set_default_device(before)


@pytest.mark.usefixtures("wasm")
def test_one_epoch_reaches_98_percent(run_async: Callable[..., Any]) -> None:
    (row,) = run_async(epoch.train("mnist", 0, folder=str(bench_epoch.FOLDERS["mnist"])))
    assert row["accuracy"] >= 0.98


def test_an_epoch_sees_every_picture_once_in_a_new_order() -> None:
    pictures = np.zeros((640, 28, 28), np.uint8)
    pictures[:, 0, 0] = np.arange(640) % 256
    pictures[:, 0, 1] = np.arange(640) // 256
    labels = (np.arange(640) % 10).astype(np.uint8)
    training = epoch.Training(epoch.Recipe(epochs=1, peak=0.1), pictures, labels, 0)
    orders = []
    for _ in range(2):
        batches = list(training._batches())
        assert all(x.shape == (64, 1, 28, 28) for x, _ in batches)
        marks = np.concatenate([x[:, 0, 0, :2] for x, _ in batches]).astype(int)
        seen = marks[:, 0] + 256 * marks[:, 1]
        np.testing.assert_array_equal(np.concatenate([y for _, y in batches]), seen % 10)
        np.testing.assert_array_equal(np.sort(seen), np.arange(640))
        orders.append(seen)
    assert not np.array_equal(*orders)


def test_mirrored_pictures_are_about_half() -> None:
    pictures = np.zeros((6400, 28, 28), np.uint8)
    pictures[:, :, :14] = 255
    recipe = epoch.Recipe(epochs=1, peak=0.1, mirrored=True)
    training = epoch.Training(recipe, pictures, np.zeros(6400, np.uint8), 0)
    left = np.concatenate([x[:, 0, 5, 0] for x, _ in training._batches()])
    right = np.concatenate([x[:, 0, 5, -1] for x, _ in training._batches()])
    for side in (left, right):
        assert set(np.unique(side)) == {0, 255}
        assert 0.45 < (side == 255).mean() < 0.55
