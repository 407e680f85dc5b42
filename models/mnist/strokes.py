"""Digits drawn with a round brush, as with a mouse: paths, rendering, MNIST's preparation.

They test the trained network independently of MNIST. Training sees none of these paths (train.py
draws its own ones with the same brush). They are also useful for drawing digits on the page. Needs
only NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]
Array = NDArray[np.float64]

CANVAS = 112  # pixels; finer changes little after the reduction to 20x20
SIDE = 28
BOX = 20


class Stroke(NamedTuple):
    """Points (x to the right, y down, both 0 to 1), joined by straight lines or a smooth curve."""

    points: tuple[Point, ...]
    smooth: bool = False


def _line(*points: Point) -> Stroke:
    return Stroke(points)


def _curve(*points: Point) -> Stroke:
    return Stroke(points, smooth=True)


_LOOP_OF_NINE = _curve(
    (0.82, 0.22), (0.55, 0.0), (0.22, 0.12), (0.2, 0.38), (0.5, 0.5), (0.8, 0.32), (0.82, 0.22)
)

# A few ways of writing each digit; each way is a list of strokes.
DIGITS: tuple[tuple[tuple[Stroke, ...], ...], ...] = (
    (
        (
            _curve(
                (0.5, 0.0), (0.2, 0.2), (0.12, 0.5), (0.22, 0.82), (0.5, 1.0), (0.78, 0.82),
                (0.88, 0.5), (0.8, 0.18), (0.5, 0.0),
            ),
        ),
        (
            _curve(
                (0.55, 0.02), (0.15, 0.25), (0.05, 0.6), (0.4, 1.0), (0.85, 0.8), (0.95, 0.4),
                (0.5, 0.0),
            ),
        ),
    ),
    (
        (_line((0.5, 0.0), (0.5, 1.0)),),
        (_line((0.3, 0.25), (0.55, 0.0), (0.55, 1.0)),),
        (_line((0.6, 0.0), (0.42, 1.0)),),
    ),
    (
        (
            _curve((0.12, 0.25), (0.3, 0.03), (0.68, 0.03), (0.85, 0.25), (0.65, 0.55), (0.1, 1.0)),
            _line((0.1, 1.0), (0.92, 1.0)),
        ),
        (
            _curve((0.15, 0.2), (0.45, 0.0), (0.8, 0.15), (0.75, 0.45), (0.3, 0.9)),
            _curve((0.3, 0.9), (0.1, 0.95), (0.2, 0.78), (0.5, 0.92), (0.95, 0.95)),
        ),
    ),
    (
        (
            _curve((0.15, 0.1), (0.5, 0.0), (0.82, 0.2), (0.7, 0.42), (0.4, 0.48)),
            _curve((0.4, 0.48), (0.78, 0.55), (0.88, 0.78), (0.55, 1.0), (0.12, 0.9)),
        ),
        (
            _line((0.15, 0.02), (0.85, 0.02), (0.45, 0.4)),
            _curve((0.45, 0.4), (0.8, 0.5), (0.85, 0.8), (0.5, 1.0), (0.12, 0.88)),
        ),
    ),
    (
        (_line((0.25, 0.0), (0.15, 0.55), (0.9, 0.55)), _line((0.7, 0.05), (0.68, 1.0))),
        (_line((0.68, 1.0), (0.68, 0.0), (0.08, 0.68), (0.95, 0.68)),),
    ),
    (
        (
            _line((0.85, 0.0), (0.28, 0.0), (0.22, 0.45)),
            _curve((0.22, 0.45), (0.55, 0.36), (0.86, 0.55), (0.82, 0.85), (0.5, 1.0), (0.12, 0.9)),
        ),
        (
            _curve((0.25, 0.05), (0.2, 0.42), (0.55, 0.38), (0.85, 0.65), (0.6, 0.97), (0.1, 0.9)),
            _line((0.25, 0.05), (0.9, 0.03)),
        ),
    ),
    (
        (
            _curve(
                (0.72, 0.02), (0.36, 0.25), (0.17, 0.62), (0.28, 0.94), (0.6, 1.0), (0.82, 0.8),
                (0.68, 0.56), (0.4, 0.58), (0.2, 0.75),
            ),
        ),
        (
            _curve(
                (0.45, 0.0), (0.2, 0.4), (0.2, 0.8), (0.5, 1.0), (0.8, 0.82), (0.65, 0.58),
                (0.25, 0.7),
            ),
        ),
    ),
    (
        (_line((0.1, 0.03), (0.9, 0.0), (0.42, 1.0)),),
        (_line((0.12, 0.02), (0.88, 0.02), (0.4, 1.0)), _line((0.35, 0.5), (0.85, 0.5))),
    ),
    (
        (
            _curve(
                (0.75, 0.12), (0.45, 0.0), (0.2, 0.18), (0.35, 0.42), (0.68, 0.58), (0.8, 0.82),
                (0.5, 1.0), (0.2, 0.82), (0.35, 0.58), (0.7, 0.38), (0.75, 0.12),
            ),
        ),
        (
            _curve((0.5, 0.46), (0.2, 0.26), (0.5, 0.0), (0.8, 0.24), (0.5, 0.46)),
            _curve((0.5, 0.46), (0.14, 0.75), (0.5, 1.0), (0.86, 0.75), (0.5, 0.46)),
        ),
    ),
    (
        (_LOOP_OF_NINE, _line((0.82, 0.22), (0.76, 1.0))),
        (_LOOP_OF_NINE, _curve((0.82, 0.22), (0.82, 0.6), (0.7, 0.95), (0.3, 0.98))),
    ),
)  # fmt: skip


def polyline(stroke: Stroke, pieces: int = 6) -> Array:
    """The stroke as (n, 2) points; a smooth one is a Catmull-Rom spline through its points."""
    p = np.array(stroke.points, np.float64)
    if not stroke.smooth:
        return p
    p = np.concatenate([2 * p[:1] - p[1:2], p, 2 * p[-1:] - p[-2:-1]])
    t = (np.arange(pieces) / pieces)[:, None]
    parts = []
    for i in range(1, len(p) - 2):
        a, b, c, d = p[i - 1 : i + 3]
        cubic = -a + 3 * b - 3 * c + d
        square = 2 * a - 5 * b + 4 * c - d
        parts.append(b + 0.5 * t * ((c - a) + t * (square + t * cubic)))
    return np.concatenate([*parts, p[-2:-1]])


def draw(lines: Sequence[Array], brush: float) -> NDArray[np.uint8]:
    """Draws polylines in pixels with a round brush: ink (CANVAS, CANVAS), 0 to 255."""
    y, x = np.mgrid[:CANVAS, :CANVAS] + 0.5
    nearest = np.full((CANVAS, CANVAS), np.inf)
    for line in lines:
        for (ax, ay), (bx, by) in pairwise(line):
            dx, dy = bx - ax, by - ay
            along = ((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, 1e-9)
            along = np.clip(along, 0.0, 1.0)
            distance = np.hypot(x - ax - along * dx, y - ay - along * dy)
            nearest = np.minimum(nearest, distance)
    return np.round(np.clip(brush / 2 - nearest + 0.5, 0, 1) * 255).astype(np.uint8)


def prepare(ink: NDArray[np.uint8]) -> NDArray[np.float32]:
    """MNIST's preparation, like web/prepare/digit.js: ink to (28, 28), 0 to 1."""
    rows, columns = (np.flatnonzero((ink >= 16).any(axis)) for axis in (1, 0))
    cut = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] / 255
    scale = BOX / max(cut.shape)
    height, width = (max(1, int(n * scale + 0.5)) for n in cut.shape)
    small = _coverage(cut.shape[0], height) @ cut @ _coverage(cut.shape[1], width).T
    mass = small.sum()
    top = _start((small.sum(1) @ (np.arange(height) + 0.5)) / mass, height)
    left = _start((small.sum(0) @ (np.arange(width) + 0.5)) / mass, width)
    picture = np.zeros((SIDE, SIDE), np.float32)
    picture[top : top + height, left : left + width] = small
    return picture


def _coverage(before: int, after: int) -> Array:
    """(after, before): the share by area of each old pixel in each new one."""
    edges = np.arange(after + 1) * (before / after)
    old = np.arange(before)
    overlap = np.minimum(edges[1:, None], old + 1) - np.maximum(edges[:-1, None], old)
    share: Array = np.clip(overlap, 0, None) * (after / before)
    return share


def _start(mass: float, length: int) -> int:
    return int(np.clip(np.ceil(SIDE / 2 - mass), 0, SIDE - length))


def drawn_digits(
    brush: float, repeats: int = 20, seed: int = 0
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """(digit, prepared picture) for every way of writing, with a shaky hand.

    brush: the width as a share of the path's height. The page's brush is .10 for a large digit and
    .35 for a very small one.
    """
    random = np.random.default_rng(seed)
    for digit, ways in enumerate(DIGITS):
        for strokes in ways:
            for _ in range(repeats):
                yield digit, prepare(shaky(strokes, brush, random))


def shaky(
    strokes: Sequence[Stroke], brush: float, random: np.random.Generator
) -> NDArray[np.uint8]:
    """Ink (CANVAS, CANVAS) of a digit, randomly rotated, slanted and wobbly."""
    height = 0.72 * CANVAS / (1 + brush)
    angle, shear = random.uniform(-0.16, 0.16), random.uniform(-0.25, 0.25)
    wide = random.uniform(0.6, 1.0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    slant = np.array([[wide, -shear], [0.0, 1.0]])
    lines = []
    for stroke in strokes:
        wobble = random.normal(0, 0.018, (len(stroke.points), 2))
        moved = np.array(stroke.points) + wobble
        path = polyline(Stroke(tuple((float(x), float(y)) for x, y in moved), stroke.smooth))
        lines.append((path - 0.5) @ slant.T @ turn.T * height + CANVAS / 2)
    return draw(lines, brush * height)
