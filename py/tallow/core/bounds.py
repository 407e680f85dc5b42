"""Bounds: the range of the elements of a result, from the ranges of its operands.

A record of ops/ may say so in its field `bounds`, a function of this kind:

    bounds(operands, attrs, *ranges) -> (lowest, highest), or None where it can't tell

operands: shape and type of each operand. ranges: of the elements of each operand. The results
are those of exact arithmetic: compile/ranges.py sees whether a type holds them. An op that says
nothing may give anything that its type holds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .dtype import DType
from .shape import Shape

Specs = Sequence[tuple[Shape, DType]]
Attrs = Mapping[str, Any]
Range = tuple[float, float]  # whole numbers of any size, or floating ones
Bounds = Callable[..., Range | None]


def corners(function: Callable[..., float]) -> Bounds:
    """Of an op whose extreme results come from extreme operands."""

    def bounds(operands: Specs, attrs: Attrs, *ranges: Range) -> Range | None:
        found = [function(*ends) for ends in itertools.product(*ranges)]
        if any(x != x for x in found):  # infinity less infinity
            return None
        return min(found), max(found)

    return bounds


def hull(operands: Specs, attrs: Attrs, *ranges: Range) -> Range | None:
    """Of an op whose results are elements of its operands, or its attribute `value`."""
    ends = [end for found in ranges for end in found]
    value = attrs.get("value")
    if value is not None:
        ends.append(value)
    return min(ends), max(ends)


def first(operands: Specs, attrs: Attrs, taken: Range, *others: Range) -> Range | None:
    """Of an op whose results are elements of its first operand."""
    return taken


def within(low: float, high: float) -> Bounds:
    """Of an op whose results are between two numbers."""
    return lambda operands, attrs, *ranges: (low, high)


def magnitude(found: Range) -> float:
    """The largest absolute value."""
    return max(abs(found[0]), abs(found[1]))


def absolute(operands: Specs, attrs: Attrs, x: Range) -> Range | None:
    """Of the absolute value."""
    return 0, magnitude(x)


def rounded(operands: Specs, attrs: Attrs, x: Range) -> Range | None:
    """Of a function that moves no element by more than 1."""
    return x[0] - 1, x[1] + 1


def quotient(operands: Specs, attrs: Attrs, x: Range, y: Range) -> Range | None:
    """Of whole numbers, in whichever way it is rounded."""
    most = magnitude(x)
    return (0 if min(*x, *y) >= 0 else -most), most


def modulus(operands: Specs, attrs: Attrs, x: Range, y: Range) -> Range | None:
    """Of a remainder with the divisor's sign, which is 0 where that is 0."""
    return min(y[0], 0), max(y[1], 0)


def _bits(ranges: tuple[Range, ...]) -> int:
    return max(int(end).bit_length() for found in ranges for end in found)


def bitwise(operands: Specs, attrs: Attrs, *ranges: Range) -> Range | None:
    """Of `and`, `or` and `xor`: as many bits as the operands have."""
    most = (1 << _bits(ranges)) - 1
    return (0 if min(low for low, _ in ranges) >= 0 else -most - 1), most


def left_shift(x: float, by: float) -> float:
    """A whole number shifted by a number of bits; 64 and more are as 64."""
    return 0 if by < 0 else int(x) << min(int(by), 64)


def towards_zero(operands: Specs, attrs: Attrs, x: Range, *others: Range) -> Range | None:
    """Of a right shift: 0 or -1 in the end."""
    return min(x[0], 0), max(x[1], 0)


def converted(operands: Specs, attrs: Attrs, x: Range) -> Range | None:
    """Of a cast: what has a fraction loses it on the way to whole numbers."""
    if attrs["dtype"].is_floating or operands[0][1].is_integer:
        return x
    if math.isinf(x[0]) or math.isinf(x[1]):
        return None
    return math.trunc(x[0]), math.trunc(x[1])


def same_bits(operands: Specs, attrs: Attrs, x: Range) -> Range | None:
    """Of a bitcast: whole numbers from 0 on are the same, signed or not, where both hold them."""
    whole = operands[0][1].is_integer and attrs["dtype"].is_integer
    return x if whole and x[0] >= 0 else None


def _folded(operands: Specs, attrs: Attrs) -> int:
    """How many elements an op with `axes` folds into one."""
    ((shape, _),) = operands
    return math.prod(shape[axis] for axis in attrs["axes"])


def total(operands: Specs, attrs: Attrs, x: Range) -> Range | None:
    """Of a sum."""
    count = _folded(operands, attrs)
    return (x[0] * count, x[1] * count) if operands[0][1].is_integer else None


def product(operands: Specs, attrs: Attrs, x: Range) -> Range | None:
    """Of a product along axes; None if it grows too large to tell."""
    most, count = magnitude(x), _folded(operands, attrs)
    if not operands[0][1].is_integer or (most > 1 and count > 64):
        return None
    most = max(most, 1) ** count
    return (0 if x[0] >= 0 else -most), most


def position(operands: Specs, attrs: Attrs, x: Range) -> Range | None:
    """Of an op that gives a position along its axes."""
    return 0, max(_folded(operands, attrs) - 1, 0)


def products_added(operands: Specs, attrs: Attrs, a: Range, b: Range) -> Range | None:
    """Of a matrix product of whole numbers."""
    (shape, dtype), _ = operands
    if not dtype.is_integer:
        return None
    ends = [x * y * shape[-1] for x in a for y in b]
    return min(ends), max(ends)
