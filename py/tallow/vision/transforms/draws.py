"""Where the parameters of random transforms come from: numbers of the host, one for each call, or
tensors of the device, one for each image of a batch.

The methods mean the same in both, so that a transform draws in one way.
"""

from __future__ import annotations

import math
from random import Random
from typing import Protocol

from ... import functions as f
from ...core import context
from ...core import dtype as dt
from ...errors import TracingError
from ...random import fresh_bytes
from ...tensor import Tensor
from .images import Number


class Draws(Protocol):
    """What both kinds of draws can do."""

    def uniform(self, low: float, high: float) -> Number:
        """A number between."""

    def integer(self, low: int, high: int) -> Number:
        """A whole number from low on and below high."""

    def chance(self, p: float) -> bool | Tensor:
        """True with the probability p."""

    def rounded(self, value: Number) -> Number:
        """The nearest whole number."""


class HostDraws:
    """Numbers of the host, which begin again after `tl.manual_seed`. Raises TracingError under
    `@tl.jit`, where each call would draw the same."""

    def __init__(self) -> None:
        if context.draws.get() is not None:
            raise TracingError(
                "a random transform draws its numbers outside of @tl.jit; within, use "
                "transforms.PerSample(transform), which draws on the device"
            )
        self.random = Random(fresh_bytes(8))

    def uniform(self, low: float, high: float) -> float:
        """A number between."""
        return self.random.uniform(low, high)

    def integer(self, low: int, high: int) -> int:
        """A whole number from low on and below high."""
        return self.random.randrange(low, high)

    def chance(self, p: float) -> bool:
        """True with the probability p."""
        return self.random.random() < p

    def rounded(self, value: Number) -> int:
        """The nearest whole number."""
        return round(float(value))


class DeviceDraws:
    """Tensors (n,) that the device draws, in each call of a compiled function anew.

    n: how many images there are.
    """

    def __init__(self, n: int) -> None:
        self.n = n

    def uniform(self, low: float, high: float) -> Tensor:
        """Numbers between."""
        return f.rand(self.n) * (high - low) + low

    def integer(self, low: int, high: int) -> Tensor:
        """Whole numbers from low on and below high."""
        drawn = f.floor(f.rand(self.n) * (high - low)).astype(dt.int32)
        return f.minimum(drawn, high - low - 1) + low

    def chance(self, p: float) -> Tensor:
        """True with the probability p."""
        return f.rand(self.n) < p

    def rounded(self, value: Number) -> Tensor:
        """The nearest whole numbers."""
        return f.round(value)  # type: ignore[arg-type]


_TRIES = 10


def part_of(
    draws: HostDraws | DeviceDraws,
    size: tuple[int, int],
    scale: tuple[float, float],
    ratio: tuple[float, float],
) -> tuple[Number, Number, Number, Number, bool | Tensor]:
    """A part of an area (h, w) with a share of it in `scale` and width / height in `ratio`, whose
    logarithm is drawn evenly: its height, its width, room for its top and its left, and whether one
    of ten tries fits."""
    h, w = size
    lines = math.log(ratio[0]), math.log(ratio[1])
    if isinstance(draws, HostDraws):
        for _ in range(_TRIES):
            area = h * w * draws.uniform(*scale)
            aspect = math.exp(draws.uniform(*lines))
            height, width = round(math.sqrt(area / aspect)), round(math.sqrt(area * aspect))
            if 0 < height <= h and 0 < width <= w:
                return height, width, h - height, w - width, True
        return h, w, 0, 0, False
    areas = f.rand(_TRIES, draws.n) * ((scale[1] - scale[0]) * h * w) + scale[0] * h * w
    aspects = f.exp(f.rand(_TRIES, draws.n) * (lines[1] - lines[0]) + lines[0])
    heights, widths = f.round(f.sqrt(areas / aspects)), f.round(f.sqrt(areas * aspects))
    fits = f.logical_and(
        f.logical_and(heights > 0, heights <= h), f.logical_and(widths > 0, widths <= w)
    )
    first = f.expand_dims(f.argmax(fits.astype(dt.int32), axis=0), 0)
    tall, wide, found = (
        f.squeeze(f.take_along_axis(each, first, 0), 0)
        for each in (heights, widths, fits.astype(dt.float32))
    )
    return tall, wide, h - tall, w - wide, found > 0.5


def place(draws: HostDraws | DeviceDraws, room: Number) -> Number:
    """A whole number from 0 to `room`, both included, each as likely."""
    if isinstance(draws, HostDraws):
        return draws.integer(0, int(room) + 1)
    return f.minimum(f.floor(f.rand(draws.n) * (room + 1.0)), room)
