"""Curves in characters of Braille, each of which has two by four dots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Points = Sequence[tuple[float, float]]
"""Pairs (x, y), with x growing."""

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of a character's dots, by row and column (Unicode, block U+2800)."""


class Plot(NamedTuple):
    """Rows of characters, each with the number of the curve that it shows, the later one where two
    meet, or -1; and the least and the greatest y."""

    rows: list[list[tuple[str, int]]]
    low: float
    high: float


def plot(curves: Sequence[Points], width: int, height: int) -> Plot:
    """Curves in one picture of width × height characters. Points whose y is not finite are left
    out; neighbours are joined by lines."""
    clean = [[(x, y) for x, y in curve if math.isfinite(y)] for curve in curves]
    points = [point for curve in clean for point in curve]
    bits = [[0] * width for _ in range(height)]
    owners = [[-1] * width for _ in range(height)]
    if not points:
        return Plot([[(" ", -1)] * width for _ in range(height)], math.nan, math.nan)
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    low, high = min(y for _, y in points), max(y for _, y in points)

    def dot(x: float, y: float) -> tuple[int, int]:
        across = (x - left) / ((right - left) or 1) * (2 * width - 1)
        down = (high - y) / ((high - low) or 1) * (4 * height - 1)
        return round(across), round(down)

    for number, curve in enumerate(clean):
        dots = [dot(*point) for point in curve]
        for begin, end in zip(dots, dots[1:] or dots, strict=False):
            for across, down in _line(begin, end):
                row, column = down // 4, across // 2
                bits[row][column] |= _DOTS[down % 4][across % 2]
                owners[row][column] = number
    rows = [
        [(chr(0x2800 + b) if b else " ", owner) for b, owner in zip(*each, strict=True)]
        for each in zip(bits, owners, strict=True)
    ]
    return Plot(rows, low, high)


def _line(begin: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int]]:
    """The dots from one to another."""
    (x0, y0), (x1, y1) = begin, end
    count = max(abs(x1 - x0), abs(y1 - y0), 1)
    return [
        (round(x0 + (x1 - x0) * n / count), round(y0 + (y1 - y0) * n / count))
        for n in range(count + 1)
    ]
