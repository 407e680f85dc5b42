"""A bare compiled step on what the Train view learns from; bench/train.py runs this in Pyodide."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tallow as tl
from tallow import functional as F  # noqa: N812 - the customary name
from tallow.data import DataLoader
from tallow_page.train.data import Data
from tallow_page.train.data_idx import data_of
from tallow_page.train.layers import PRESETS, DataFacts, network
from tallow_page.train.learning import Prepared, optimizer_of
from tallow_page.train.texts import text_data

ASKED = 20
"""The loss is read each time this many steps are taken, so the device has no more ahead of it."""


def pictures() -> Data:
    """MNIST, whose files are in the current folder, compressed."""
    files = {path.stem: gzip.decompress(path.read_bytes()) for path in Path().glob("*-ubyte.gz")}
    return data_of("mnist", files)


def text() -> Data:
    """The file text.txt."""
    return text_data("text", Path("text.txt").read_text("utf-8"))


class Bare:
    """Takes steps over batches in a new order, again and again."""

    def __init__(self, data: Data, rows: str, batch: int, given: dict[str, Any]) -> None:
        """rows: the name of the network's table of layers. given: what the view says of the
        optimiser."""
        tl.manual_seed(0)
        table = PRESETS[data.kind][rows](len(data.classes))
        model = Prepared(network(table, DataFacts.of(data)), data, [])
        optimizer = optimizer_of(model, given)

        @tl.jit
        def step(x: tl.Tensor, y: tl.Tensor) -> tl.Tensor:
            scores = model(x)
            if scores.ndim > 2:  # of a text: a class at each place
                scores, y = scores.reshape((-1, scores.shape[-1])), y.reshape((-1,))
            loss = F.cross_entropy(scores, y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        self._step = step
        self._loader = DataLoader(data.train, batch, shuffle=True, drop_last=True)
        self._batches = self._endless()

    def _endless(self) -> Iterator[Any]:
        while True:
            yield from self._loader

    async def take(self, count: int) -> float:
        """Takes `count` steps. Returns how many seconds they took."""
        began = time.perf_counter()
        for number in range(count):
            loss = self._step(*next(self._batches))
            if number % ASKED == 0:
                await loss.numpy_async()
        await loss.numpy_async()
        return time.perf_counter() - began


async def bare(what: str, rows: str, batch: int, given: dict[str, Any]) -> None:
    """Makes `made`, whose steps `took` times. what: "mnist" or "text". The others: as in `Bare`."""
    global made
    made = Bare({"mnist": pictures, "text": text}[what](), rows, batch, given)
    await made.take(2)  # compiles


async def took(count: int) -> float:
    """How many seconds `count` steps of `made` took."""
    return await made.take(count)


made: Bare
