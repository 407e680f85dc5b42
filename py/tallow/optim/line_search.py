"""A line search: how far to go along a direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np

Vector: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_LESS = 1e-4  # of the slope, by which the loss must fall
_FLATTER = 0.9  # of the slope, to which it must flatten


@dataclass
class _Point:
    """A distance, and the loss, gradient and slope there."""

    t: float
    loss: float
    gradient: Vector
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, Vector]],
    t: float,
    direction: Vector,
    loss: float,
    gradient: Vector,
    slope: float,
    most: int = 25,
) -> tuple[float, Vector, float, int]:
    """A distance t at which the loss has fallen enough and is flat enough: the strong conditions of
    Wolfe, by bracketing and zooming (Nocedal and Wright 2006, algorithms 3.5 and 3.6), with cubic
    interpolation.

    evaluate(t) gives loss and gradient at t. t: the first guess. loss, gradient, slope: at 0. most:
    evaluations after the first. Gives the loss and the gradient there, t, and the evaluations.
    """
    size = float(abs(direction).max())

    def at(t: float) -> _Point:
        new_loss, new_gradient = evaluate(t)
        return _Point(t, new_loss, new_gradient, float(new_gradient @ direction))

    def too_high(point: _Point) -> bool:
        return point.loss > loss + _LESS * point.t * slope

    def flat(point: _Point) -> bool:
        return abs(point.slope) <= -_FLATTER * slope

    origin = before = _Point(0.0, loss, gradient, slope)
    here = at(t)
    turns, found = 0, None
    pair = (origin, here)  # if nothing is found in so many turns
    while turns < most:
        if too_high(here) or (turns > 1 and here.loss >= before.loss):
            pair = (before, here)
            break
        if flat(here):
            found = here
            break
        if here.slope >= 0:
            pair = (before, here)
            break
        least, farthest = here.t + 0.01 * (here.t - before.t), here.t * 10
        next_t = _cubic(before, here, least, farthest)
        before, here = here, at(next_t)
        turns += 1
        pair = (origin, here)
    low, high = pair if pair[0].loss <= pair[1].loss else pair[::-1]
    stuck = False
    while found is None and turns < most and abs(high.t - low.t) * size >= 1e-9:
        least, farthest = min(low.t, high.t), max(low.t, high.t)
        t = _cubic(low, high, least, farthest)
        # Twice too near to an end makes no progress: go a tenth of the way from it.
        margin = 0.1 * (farthest - least)
        if min(farthest - t, t - least) < margin:
            if stuck or t >= farthest or t <= least:
                nearer_end = abs(t - farthest) < abs(t - least)
                t = farthest - margin if nearer_end else least + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        here = at(t)
        turns += 1
        if too_high(here) or here.loss >= low.loss:
            high = here
        else:
            if flat(here):
                found = here
            elif here.slope * (high.t - low.t) >= 0:
                high = low
            low = here
    best = low if found is None else found
    return best.loss, best.gradient, best.t, turns + 1


def _cubic(a: _Point, b: _Point, least: float, most: float) -> float:
    """Where the cubic through two points with these slopes has its minimum, within bounds; between
    them if it has none (Nocedal and Wright, 3.59)."""
    if a.t > b.t:
        a, b = b, a
    if a.t == b.t:
        return (least + most) / 2
    d = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d * d - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2
    root = math.sqrt(square)
    divisor = b.slope - a.slope + 2 * root
    if divisor == 0:
        return (least + most) / 2
    t = b.t - (b.t - a.t) * (b.slope + root - d) / divisor
    return min(max(t, least), most)
