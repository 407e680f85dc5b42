"""What a network of characters writes: while it learns, and when it is asked to go on."""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import AsyncGenerator, Sequence
from random import Random
from typing import Any

import tallow as tl
from tallow import nn
from tallow.core import dtype as dt
from tallow.core.drivers import run_async
from tallow.core.hostarray import HostArray
from tallow.grad_mode import no_grad
from tallow.graph import constant
from tallow.runtime.jit import Jitted
from tallow.tensor import Tensor, reading

__all__ = ["Samples", "Writer", "drawn"]

_TEMPERATURE = 0.8
_TOGETHER = 8
"""Characters between two reports."""
_LENGTH = 160
"""Characters of a sample."""
_SHARE = 0.03
"""The share of the time that samples take of a run, about."""
_APART = 5.0
"""Seconds between two samples, at least."""


class Writer:
    """Goes on with a text by a network that scores the next character at each place.

    model: (1, context) integers to scores (1, context, classes), each place seeing those before it
    alone. classes: its characters, in the order of the scores. context: characters that it sees.
    """

    def __init__(
        self, model: nn.Module, classes: Sequence[str], context: int, device: str | None = None
    ) -> None:
        self._model, self._classes, self._context = model, classes, context
        self._numbers = {character: number for number, character in enumerate(classes)}
        self._next = Jitted(self._scores, frozenset(), device)

    def _scores(self, window: Tensor, place: Tensor) -> Tensor:
        """The scores (classes,) of what follows a place of a window (1, context)."""
        with no_grad():
            scores: Tensor = self._model(window)
            at = tl.slice_at(scores, (0, place, 0), (1, 1, len(self._classes)))
            return tl.reshape(at.astype("float32"), (-1,))

    async def write(self, begin: str, count: int, random: Random) -> AsyncGenerator[str, None]:
        """The text with so many characters more, each time that some of them are there.

        begin: characters that the network does not know are left out; the first of its characters
        stands for an empty text.
        """
        known = [self._numbers[each] for each in begin if each in self._numbers]
        numbers = known or [self._numbers.get("\n", 0)]
        first = 0 if known else 1
        was_training = self._model.training
        try:
            for written in range(1, count + 1):
                self._model.eval()
                numbers.append(drawn(await self._read(numbers), random))
                self._model.train(was_training)
                if written % _TOGETHER == 0 or written == count:
                    yield "".join(self._classes[number] for number in numbers[first:])
        finally:
            self._model.train(was_training)

    async def _read(self, numbers: Sequence[int]) -> Sequence[float]:
        window = array("q", numbers[-self._context :])
        place = len(window) - 1
        window.extend([0] * (self._context - len(window)))  # which no place before them sees
        data = HostArray(memoryview(window), (1, self._context), dt.int64)
        scores = self._next(Tensor(constant(data)), tl.asarray(place))
        (read,) = await run_async(reading([scores]))
        found: list[float] = read.tolist()
        return found


def drawn(scores: Sequence[float], random: Random) -> int:
    """A class, drawn by the softmax of scores over a temperature of 0.8; any one where no score is
    finite."""
    most = max((each for each in scores if math.isfinite(each)), default=0.0)
    weights = [
        math.exp((each - most) / _TEMPERATURE) if math.isfinite(each) else 0.0 for each in scores
    ]
    return random.choices(range(len(scores)), weights if any(weights) else None)[0]


class Samples:
    """What a network writes while it learns: a sample now and then, so that all of them take a
    small share of the run's time."""

    def __init__(self, writer: Writer, clock: Any = time.monotonic) -> None:
        self._writer, self._clock = writer, clock
        self._random = Random(0)
        self._next = clock() + _APART

    @property
    def due(self) -> bool:
        """Whether it is time for a sample."""
        return bool(self._clock() >= self._next)

    async def write(self) -> AsyncGenerator[str, None]:
        """A sample, each time that some more of it is there."""
        began = self._clock()
        async for text in self._writer.write("", _LENGTH, self._random):
            yield text
        now = self._clock()
        self._next = now + max(_APART, (now - began) * (1 - _SHARE) / _SHARE)
