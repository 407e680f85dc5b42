"""The same training by `tl.train.Learner` and by a bare loop; bench/learner.py calls `round_of`, in
Pyodide and on desktop Python."""

from __future__ import annotations

import contextlib
import io
import time
from typing import Any

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow import nn, optim

BATCH, VALIDATED = 64, 2
"""Samples in a batch; how many batches a validation has."""


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(),
        nn.Linear(128, 10),
    )  # fmt: skip


def lenet() -> nn.Module:
    return tl.zoo.LeNet5(padding=2)


NETWORKS = {"mlp": mlp, "lenet": lenet}

Batch = tuple[tl.Tensor, tl.Tensor]


def batches(count: int, seed: int) -> list[Batch]:
    """Pictures and labels, on the device."""
    tl.manual_seed(seed)
    return [
        (tl.rand(BATCH, 1, 28, 28).realize(), tl.randint(0, 10, (BATCH,)).realize())
        for _ in range(count)
    ]


class Bare:
    """A compiled step, and a compiled measuring of what a validation measures; nothing is read
    before the end of an epoch."""

    def __init__(self, network: str) -> None:
        tl.manual_seed(0)
        model = NETWORKS[network]()
        optimizer = optim.Adam(model.parameters(), lr=1e-3)

        @tl.jit
        def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        @tl.jit
        def measure(x: tl.Tensor, y: tl.Tensor) -> tuple[tl.Tensor, tl.Tensor]:
            with tl.no_grad():
                scores = model(x)
                return F.cross_entropy(scores, y), (tl.argmax(scores, axis=1) == y).sum()

        self._step, self._measure = step, measure

    async def epoch(self, train: list[Batch], valid: list[Batch]) -> float:
        """Gives the loss of the last batch."""
        for batch in train:
            loss = self._step(*batch)
        for batch in valid:
            found = self._measure(*batch)
        for each in found:
            await each.numpy_async()
        return float(await loss.numpy_async())


class Learned:
    """A learner, with metrics and lines of progress; an epoch is a run."""

    def __init__(self, network: str) -> None:
        tl.manual_seed(0)
        model = NETWORKS[network]()
        optimizer = optim.Adam(model.parameters(), lr=1e-3)
        self._learner = tl.train.Learner(model, optimizer, F.cross_entropy, metrics=["accuracy"])

    async def epoch(self, train: list[Batch], valid: list[Batch]) -> float:
        """Gives the mean loss of the epoch."""
        with contextlib.redirect_stdout(io.StringIO()):
            (record,) = await self._learner.fit_async(train, valid, epochs=1)
        return float(record["train_loss"])


made: dict[str, tuple[list[Batch], list[Batch], list[Bare | Learned]]] = {}


async def round_of(network: str, count: int) -> dict[str, Any]:
    """An epoch of `count` batches by each, the other one first each time. Gives the seconds of
    each, and what they returned."""
    if network not in made:
        made[network] = (
            batches(count, 1), batches(VALIDATED, 2), [Bare(network), Learned(network)]
        )  # fmt: skip
    train, valid, both = made[network]
    both.reverse()
    row: dict[str, Any] = {}
    for each in both:
        began = time.perf_counter()
        loss = await each.epoch(train[:count], valid)
        row[type(each).__name__] = {"seconds": time.perf_counter() - began, "loss": loss}
    return row
