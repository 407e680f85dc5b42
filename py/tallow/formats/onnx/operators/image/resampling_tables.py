"""The source indices and weights of each element of a resized axis, as plain Python lists.

Coordinates follow the ONNX standard (operator Resize). They are rounded to float32 where
onnxruntime rounds them, since the last bit may decide which of two neighbours is nearest.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass

TRANSFORMATIONS = (
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
    "tf_half_pixel_for_nn", "tf_crop_and_resize",
)  # fmt: skip

NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")

_HALF_TOLERANCE = 1e-6
"""A coordinate this close to the middle between two elements counts as the middle, because float32
rounds it off."""


def single(value: float) -> float:
    """The number rounded to float32."""
    return array("f", [value])[0]


@dataclass(frozen=True, slots=True)
class Axis:
    """A resized axis: the lengths before and after, the factor (a float32), the part that is kept
    (start and end, for tf_crop_and_resize), and the coordinate transformation."""

    before: int
    after: int
    scale: float
    unrounded: float
    """The length after resizing, not rounded down."""
    transformation: str
    roi: tuple[float, float] = (0.0, 1.0)

    @property
    def changes(self) -> bool:
        """Whether the result differs from a copy."""
        cropped = self.transformation == "tf_crop_and_resize" and self.roi != (0.0, 1.0)
        return self.before != self.after or self.scale != 1.0 or cropped

    def coordinates(self) -> list[float]:
        """The fractional source coordinate of each element of the result."""
        return array("f", map(self._rule(), range(self.after))).tolist()

    def _rule(self) -> Callable[[int], float]:
        last, scale, kind = self.before - 1, self.scale, self.transformation
        if kind == "asymmetric":
            if self.unrounded == self.after:  # more precise than the rounded factor
                return lambda at: at * self.before / self.after
            return lambda at: at / scale
        if kind == "tf_half_pixel_for_nn":
            return lambda at: single(at + 0.5) / scale
        if kind == "align_corners":
            if self.unrounded == 1:
                return lambda at: 0.0
            return lambda at: at * last / (self.unrounded - 1)
        if kind == "tf_crop_and_resize":
            start, end = self.roi
            if self.after == 1:
                return lambda at: 0.5 * (start + end) * last
            return lambda at: start * last + at * (end - start) * last / (self.after - 1)
        if kind == "pytorch_half_pixel" and self.after == 1:
            return lambda at: 0.0
        if kind == "half_pixel_symmetric":
            offset = single(self.before / 2 * (1 - single(self.after / single(self.unrounded))))
            return lambda at: offset + (at + 0.5) / scale - 0.5
        return lambda at: single(single(at + 0.5) / scale) - 0.5

    def outside(self) -> list[bool]:
        """Where tf_crop_and_resize reads beyond the axis and takes the extrapolation value."""
        return [not 0 <= at <= self.before - 1 for at in self.coordinates()]


def nearest(axis: Axis, mode: str) -> list[int]:
    """The source index of each element of the result."""
    return [_clamped(_rounded(at, mode), axis.before) for at in axis.coordinates()]


def _rounded(at: float, mode: str) -> int:
    if mode == "floor":
        return math.floor(at)
    if mode == "ceil":
        return math.ceil(at)
    if mode == "round_prefer_ceil":
        return math.floor(at + 0.5 + _HALF_TOLERANCE)
    return math.ceil(at - 0.5 - _HALF_TOLERANCE)


def _clamped(index: int, length: int) -> int:
    return min(max(index, 0), length - 1)


@dataclass(frozen=True, slots=True)
class Taps:
    """For each element of the result, `count` source indices (row by row) and their weights."""

    count: int
    indices: list[int]
    weights: list[float]


def linear(distance: float) -> float:
    """The hat function of linear interpolation."""
    return max(0.0, 1.0 - abs(distance))


def cubic(a: float) -> Callable[[float], float]:
    """The kernel of cubic convolution (Keys 1981)."""

    def kernel(distance: float) -> float:
        x = abs(distance)
        if x <= 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a if x < 2 else 0.0

    return kernel


def interpolated(
    axis: Axis,
    kernel: Callable[[float], float],
    reach: int,
    antialias: bool = False,
    exclude_outside: bool = False,
) -> Taps:
    """The elements within `reach` of each coordinate, weighted by the kernel.

    antialias: if the axis shrinks, the kernel is widened accordingly. exclude_outside: elements
    beyond the axis have no weight; otherwise they repeat its first or last element.
    """
    narrow = min(axis.scale, 1.0) if antialias else 1.0
    count = 2 * math.ceil(reach / narrow)
    indices, weights = [], []
    for at in axis.coordinates():
        first = math.floor(at) - count // 2 + 1
        row = [kernel((index - at) * narrow) for index in range(first, first + count)]
        if exclude_outside:
            inside = range(-first, axis.before - first)
            row = [weight if tap in inside else 0.0 for tap, weight in enumerate(row)]
        total = math.fsum(row) if antialias or exclude_outside else 1.0
        indices += [_clamped(index, axis.before) for index in range(first, first + count)]
        weights += [weight / total if total else 0.0 for weight in row]
    return Taps(count, indices, weights)


def longest(axis: Axis, reach: int, antialias: bool) -> int:
    """The number of entries in the tables of `interpolated`."""
    narrow = min(axis.scale, 1.0) if antialias else 1.0
    return math.ceil(axis.after * 2 * (reach / narrow + 1))
