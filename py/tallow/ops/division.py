"""Whole quotients and remainders. Of integers, both are 0 where the divisor is 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import bounds
from ..scalar import (
    Scalar,
    bitcast,
    bits,
    cast,
    count_leading_zeros,
    equal,
    loop,
    maximum,
    minimum,
    quotient,
    select,
)
from ..scalar import remainder as rest_of
from .kinds import Elementwise

if TYPE_CHECKING:
    from ..arrays import Array, NumPy


def _trunc_divide(np: NumPy, x: Array, y: Array) -> Array:
    quotient = np.floor_divide(x, y)
    inexact = np.not_equal(np.multiply(quotient, y), x)
    below = np.logical_and(inexact, np.not_equal(np.less(x, 0), np.less(y, 0)))
    below = np.logical_and(below, np.not_equal(y, 0))
    return np.where(below, quotient + 1, quotient)


trunc_divide = Elementwise(
    "trunc_divide",
    _trunc_divide,
    lambda x, y: select(equal(y, 0), 0, quotient(x, y).named("quotient")),
    2,
    accepts="iu",
    onnx="Div",
    bounds=bounds.quotient,
    overflows=True,
)
"""Integer division that rounds towards zero, as ONNX's Div and C do."""


def _floored(x: Scalar, y: Scalar) -> Scalar:
    """One is taken off where signs differ and a remainder is left."""
    whole = quotient(x, y).named("whole")
    below = ((x < 0) ^ (y < 0)) & ~equal(whole * y, x)
    return select(equal(y, 0), 0, whole - cast(below, x.dtype))


floor_divide = Elementwise(
    "floor_divide",
    lambda np, x, y: np.floor_divide(x, y),
    _floored,
    2,
    accepts="iu",
    bounds=bounds.quotient,
    overflows=True,
)


def _signed_remainder(x: Scalar, y: Scalar) -> Scalar:
    rest = rest_of(x, y).named("rest")
    other_sign = ~equal(rest, 0) & ((rest < 0) ^ (y < 0))
    return select(equal(y, 0), 0, select(other_sign, rest + y, rest))


remainder = Elementwise(
    "remainder",
    lambda np, x, y: np.remainder(x, y),
    _signed_remainder,
    2,
    accepts="iu",
    bounds=bounds.modulus,
)
"""The remainder with the divisor's sign (Python's %)."""


def _fmod(x: Scalar, y: Scalar) -> Scalar:
    """Long division of the mantissas, some bits of the quotient at a time: exact, unlike a quotient
    that is rounded. A subnormal number counts as one of the smallest exponent without a leading
    bit."""
    width = 8 * x.dtype.size
    fraction = 52 if width == 64 else 23  # bits of a mantissa, without the leading one
    spare = width - 1 - fraction  # bits by which a rest can be shifted
    hidden, sign = 1 << fraction, 1 << width - 1
    infinity = sign - hidden
    a, b = (bits(x) & sign - 1).named("a"), (bits(y) & sign - 1).named("b")
    exponent = maximum(b >> fraction, 1).named("exponent")
    divisor = maximum(select(b < hidden, b, b & hidden - 1 | hidden), 1).named("divisor")
    dividend = select(a < hidden, a, a & hidden - 1 | hidden)

    def turn(rest: Scalar, left: Scalar) -> tuple[Scalar, Scalar]:
        step = minimum(left, spare).named("step")
        return rest_of(rest << step, divisor), left - step

    rest, _ = loop(
        (
            rest_of(dividend, divisor).named("rest"),
            (maximum(a >> fraction, exponent) - exponent).named("left"),
        ),
        lambda rest, left: left > 0,
        turn,
    )
    shift = minimum(count_leading_zeros(rest) - spare, exponent - 1).named("shift")
    joined = (rest << shift) + (exponent - shift - 1 << fraction)
    size = select(a < b, a, select(equal(rest, 0), 0, joined)).named("size")
    undefined = (a >= infinity) | (b > infinity) | equal(b, 0)
    result = select(undefined, infinity | hidden >> 1, size | bits(x) & sign)
    return bitcast(result, x.dtype)


fmod = Elementwise(
    "fmod",
    lambda np, x, y: np.fmod(x, y),
    _fmod,
    2,
    accepts="f",
    discontinuous=True,
)
"""The remainder of floating numbers with the dividend's sign (C's fmod), which is exact."""
