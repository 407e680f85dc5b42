"""Elements of a picture at computed coordinates, also between pixels, over any number of axes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from .. import functions as f
from ..core import dtype as dt
from ..core.shape import size_of
from ..errors import OptionError
from ..tensor import Tensor

_CUBIC_A = -0.75
MAX_CORNERS = 64
"""The most elements that one value may combine, over all axes."""

Taps = list[tuple[Tensor, Tensor | None]]
"""Along one axis: integer coordinates, not yet clamped, and their weights (None: 1)."""


def nearest_tap(at: Tensor) -> Taps:
    """The nearest coordinate; ties go to the even one."""
    return [(f.round(at), None)]


def linear_taps(at: Tensor) -> Taps:
    """The two nearest coordinates."""
    low = f.floor(at)
    share = at - low
    return [(low, 1.0 - share), (low + 1.0, share)]


def cubic_taps(at: Tensor) -> Taps:
    """The four nearest coordinates, by cubic convolution (Keys 1981)."""
    low, a = f.floor(at), _CUBIC_A
    share = at - low

    def near(x: Tensor) -> Tensor:
        return ((a + 2) * x - (a + 3)) * x * x + 1.0

    def far(x: Tensor) -> Tensor:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    weights = (far(share + 1.0), near(share), near(1.0 - share), far(2.0 - share))
    return [(low + float(step), weight) for step, weight in zip(range(-1, 3), weights, strict=True)]


def reflected(at: Tensor, size: int, by_centres: bool) -> Tensor:
    """Coordinates reflected at the ends of an axis: at its first and last elements, or (not
    by_centres) half an element beyond them."""
    low, high = (0.0, size - 1.0) if by_centres else (-0.5, size - 0.5)
    if high <= low:
        return f.zeros_like(at)
    distance = abs(at - low)
    turns = f.floor(distance * (1.0 / (high - low)))
    rest = distance - turns * (high - low)
    even = f.equal(turns - f.floor(turns * 0.5) * 2.0, 0.0)
    return f.where(even, rest + low, high - rest)


def gathered(
    x: Tensor, taps: Sequence[Taps], padding: str = "zeros", by_centres: bool = True
) -> Tensor:
    """The weighted sum of x (n, c, *spatial) at the taps, one list per axis, each (n, points).

    padding: the value beyond an axis: "zeros", "border" (the last element) or "reflection". Returns
    (n, c, points). Raises OptionError for more than MAX_CORNERS elements in a value.
    """
    n, channels, sizes = x.shape[0], x.shape[1], x.shape[2:]
    corners = size_of(len(axis) for axis in taps)
    if corners > MAX_CORNERS:
        raise OptionError(
            f"one value combines {corners} elements over {len(sizes)} axes, which is too many"
        )
    flat = f.reshape(x, (n, channels, size_of(sizes)))
    total: Tensor | None = None
    for corner in itertools.product(*taps):
        index: Tensor | None = None
        weight: Tensor | None = None
        inside: Tensor | None = None
        for size, (at, share) in zip(sizes, corner, strict=True):
            if padding == "zeros":
                within = f.logical_and(at >= 0, at <= size - 1)
                inside = within if inside is None else f.logical_and(inside, within)
            elif padding == "reflection":
                at = reflected(at, size, by_centres)
            number = f.where(f.isnan(at), 0.0, at)  # NaN has no value as an integer
            coordinate = f.clip(number, 0, size - 1).astype(dt.int32)
            index = coordinate if index is None else index * size + coordinate
            if share is not None:
                weight = share if weight is None else weight * share
        assert index is not None
        shape = (n, channels, index.shape[-1])
        part = f.take_along_axis(flat, f.broadcast_to(f.expand_dims(index, 1), shape), 2)
        if inside is not None:
            part = f.where(f.expand_dims(inside, 1), part, f.zeros((), part.dtype))
        if weight is not None:
            part = part * f.expand_dims(weight, 1)
        total = part if total is None else total + part
    assert total is not None
    return total
