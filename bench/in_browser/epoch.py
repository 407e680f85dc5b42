"""Trains the classical LeNet-5 on pictures of ten classes; bench/epoch.py runs this, in Pyodide and
on desktop Python."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tallow as tl
from tallow import nn, optim

BATCH = 64
ASKED = 50
"""After so many steps the loss is read, so that a GPU never has more than these ahead of it."""

TESTED = 500  # pictures at a time

NAMES = (
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte",
)  # fmt: skip

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Recipe:
    """epochs: how often the training pictures are seen. peak: the highest learning rate of SGD with
    Nesterov's momentum, whose rate makes one cycle. mirrored: whether each picture is mirrored, or
    not, at random."""

    epochs: int
    peak: float
    weight_decay: float = 0.0
    mirrored: bool = False


RECIPES = {
    "mnist": Recipe(epochs=1, peak=0.15),
    "fashion": Recipe(epochs=20, peak=0.1, weight_decay=5e-4, mirrored=True),
}


class Training:
    """A LeNet-5 that is being trained; each step is one plan."""

    def __init__(self, recipe: Recipe, pictures: Bytes, labels: Bytes, seed: int) -> None:
        """pictures: (n, 28, 28). labels: (n,)."""
        tl.manual_seed(seed)
        self._random = np.random.default_rng(seed)
        self._mirrored = recipe.mirrored
        self._pictures, self._labels = pictures, labels.astype(np.int32)
        network = tl.zoo.LeNet5(padding=2)
        optimizer = optim.SGD(
            network.parameters(),
            recipe.peak,
            momentum=0.9,
            nesterov=True,
            weight_decay=recipe.weight_decay,
        )
        steps = len(pictures) // BATCH * recipe.epochs
        self._schedule = optim.lr_scheduler.OneCycleLR(optimizer, recipe.peak, steps, pct_start=0.2)
        some = pictures[:5000].astype(np.float32)
        mean, deviation = float(some.mean()), float(some.std())

        def scores(x: tl.Tensor) -> tl.Tensor:
            found: tl.Tensor = network((x.astype("float32") - mean) / deviation)
            return found

        @tl.jit
        def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
            loss = nn.functional.cross_entropy(scores(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        @tl.jit
        def classes(x: tl.Tensor) -> tl.Tensor:
            found: tl.Tensor = tl.argmax(scores(x), axis=1)
            return found

        self._step, self._classes = step, classes

    async def epoch(self) -> dict[str, float]:
        """One pass over the training pictures. Gives its seconds, until the device is done; those
        of its first step, with compilation; and the mean of the losses that were read."""
        losses = []
        began = time.perf_counter()
        first = 0.0
        for number, (x, y) in enumerate(self._batches()):
            loss = self._step(x, y)
            self._schedule.step()
            if number % ASKED == 0:
                losses.append(float(await loss.numpy_async()))
                first = first or time.perf_counter() - began
        await loss.numpy_async()
        seconds = time.perf_counter() - began
        return {"seconds": seconds, "first": first, "loss": sum(losses) / len(losses)}

    async def right(self, pictures: Bytes, labels: Bytes) -> float:
        """The share of the pictures that is recognized; their number is a multiple of TESTED."""
        count = 0
        for start in range(0, len(pictures), TESTED):
            part = slice(start, start + TESTED)
            found = await self._classes(pictures[part, None]).numpy_async()
            count += int((found == labels[part]).sum())
        return count / len(pictures)

    def _batches(self) -> Iterator[tuple[Bytes, NDArray[np.int32]]]:
        """An epoch in a new order. What is left, less than a batch, is not used this time."""
        order = self._random.permutation(len(self._pictures))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            pictures = self._pictures[chosen]
            if self._mirrored:
                turned = self._random.random((BATCH, 1, 1)) < 0.5
                pictures = np.where(turned, pictures[:, :, ::-1], pictures)
            yield pictures[:, None], self._labels[chosen]


def elements(path: Path) -> Bytes:
    """What an idx file holds, compressed or not: pictures (n, 28, 28) or labels (n,)."""
    compressed = path.with_name(f"{path.name}.gz")
    data = gzip.decompress(compressed.read_bytes()) if compressed.exists() else path.read_bytes()
    shape = np.frombuffer(data, ">i4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


async def train(
    name: str, seed: int, epochs: int | None = None, folder: str = "."
) -> list[dict[str, Any]]:
    """Follows a recipe, and prints and returns a row for each epoch. epochs: instead of the
    recipe's. folder: of the four files."""
    recipe = RECIPES[name]
    recipe = replace(recipe, epochs=epochs or recipe.epochs)
    pictures, labels, test, answers = (elements(Path(folder, each)) for each in NAMES)
    training = Training(recipe, pictures, labels, seed)
    rows = []
    for number in range(recipe.epochs):
        row: dict[str, Any] = {"seed": seed, "epoch": number + 1, **await training.epoch()}
        row["accuracy"] = await training.right(test, answers)
        print(
            f"seed {seed}  epoch {row['epoch']:2}  loss {row['loss']:.4f}  {row['seconds']:.1f} s "
            f"(first step {row['first']:.2f} s)  {100 * row['accuracy']:.2f} % right",
            flush=True,
        )
        rows.append(row)
    return rows
