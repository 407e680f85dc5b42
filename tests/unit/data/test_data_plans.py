"""Batches of a loader: how they are computed, with which plans, and what stays on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tallow as tl
from tallow.data import ConcatDataset, DataLoader, Dataset, TensorDataset, random_split
from tallow.runtime.buffer import Live
from tallow.runtime.device import backend


class Rows(Dataset[Any]):
    """Rows as most datasets of one's own give them."""

    def __init__(self, x: tl.Tensor, y: tl.Tensor, function: Callable[[Any], Any] = lambda x: x):
        self.x, self.y, self.function = x, y, function

    def __len__(self) -> int:
        return len(self.x) - 2

    def __getitem__(self, index: int) -> Any:
        return self.function(self.x[index]), self.y[index]


class Windows(Rows):
    def __getitem__(self, index: int) -> Any:
        return self.x[index : index + 2].mean(0), self.y[index + 1]


def on_device() -> tuple[tl.Tensor, tl.Tensor]:
    x = np.random.default_rng(0).normal(size=(128, 3)).astype(np.float32)
    return tl.asarray(x).realize(), tl.asarray(np.arange(128) % 2).realize()


DATASETS: dict[str, Callable[[], Any]] = {
    "tensors": lambda: TensorDataset(*on_device()),
    "tensors of the host": lambda: TensorDataset(tl.rand(128, 3), tl.asarray(np.arange(128) % 2)),
    "part": lambda: random_split(TensorDataset(*on_device()), [0.5, 0.5])[0],
    "rows": lambda: Rows(*on_device()),
    "changed rows": lambda: Rows(*on_device(), lambda x: x / 2 + 1),
    "windows": lambda: Windows(*on_device()),
    "two": lambda: ConcatDataset([Rows(*on_device()), Rows(*on_device())]),
    "two, changed": lambda: ConcatDataset(
        [Rows(*on_device(), lambda x: x / 2)] * 2 + [Rows(*on_device(), lambda x: x / 2)]
    ),
    "arrays": lambda: [(np.ones(3, np.float32) * n, n % 2) for n in range(64)],
}


@pytest.mark.parametrize("name", DATASETS)
def test_a_step_is_compiled_once_and_memory_does_not_grow(
    device: str, name: str, compiled: list[int]
) -> None:
    model = tl.nn.Linear(3, 2)
    optimizer = tl.optim.SGD(model.parameters(), lr=0.1)

    @tl.jit
    def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
        loss = tl.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    def epoch() -> tuple[int, Live]:
        for x, y in loader:
            assert x.node.is_buffer and y.node.is_buffer and x.device == device
            loss = step(x, y)
        loss.item()
        del x, y, loss
        return len(compiled), tl.live_buffers()

    loader = DataLoader(DATASETS[name](), batch_size=8, shuffle=True, drop_last=True)
    epoch()
    _, first = epoch()
    plans, last = epoch()
    assert step.plans == 1
    assert plans <= 16  # of dozens of batches: two for each set of parts that one was drawn from
    assert last == first


def test_a_batch_is_one_gather_for_each_tensor(compiled: list[int]) -> None:
    backend("numpy").memory.programs.clear()
    next(iter(DataLoader(TensorDataset(*on_device()), 32, shuffle=True)))
    assert compiled == [6]  # two tensors, their indices, two gathers
