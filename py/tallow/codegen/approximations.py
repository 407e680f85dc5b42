"""Functions of float32 as expressions of simpler primitives, for targets that lack them.

Ranges are reduced and polynomials chosen as in Moshier's Cephes library (single/*f.c), but for what
takes float64. The errors are one to three units in the last place where a docstring says nothing
else. Each holds for every operand: NaN, infinities, zeros of either sign, subnormal numbers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from .. import scalar
from ..core import dtype as dt
from ..ops.formulas import by_power_of_2
from ..scalar import (
    INFINITY,
    NAN,
    Scalar,
    absolute,
    bitcast,
    bits,
    cast,
    clamp,
    equal,
    floor,
    fma,
    is_inf,
    is_nan,
    loop,
    number,
    polynomial,
    round_,
    select,
    sqrt,
)

_LOG_2 = math.log(2)
_LOG_2_HIGH, _LOG_2_LOW = 0.693359375, -2.12194440e-4


def _with_sign(size: Scalar, x: Scalar) -> Scalar:
    """A number that is not negative, with the sign bit of x."""
    return bitcast(bits(size) | bits(x) & 0x80000000, size.dtype)


def exp(x: Scalar, halvings: int = 0) -> Scalar:
    """2 ** n times the exponential of the rest, which is within log(2) / 2. halvings: of a result
    that may itself be too large."""
    held = clamp(x, -104, 90)
    n = round_(held * (1 / _LOG_2))
    # Of log(2), 15 bits, whose products with n are exact. The other bits become a factor: compilers
    # for GPUs would add both parts again if both were subtracted.
    result = exp_near_0(fma(n, -0.693145751953125, held))
    result = fma(result, n * -1.42860682030941723e-6, result)
    power = cast(n, dt.int32) - halvings if halvings else cast(n, dt.int32)
    return by_power_of_2(result, power)


def exp_near_0(x: Scalar) -> Scalar:
    """The exponential of what is within log(2) / 2."""
    series = polynomial(
        (1.3814348667e-3, 8.3688374633e-3, 4.1668399761e-2, 1.6666519637e-1, 4.9999993381e-1), x
    )
    return fma(series, x * x, x) + 1


def log(x: Scalar) -> Scalar:
    """Of a mantissa between the roots of 1/2 and 2, and of its power of 2."""
    small = x < 2**-126
    scaled = bitcast(select(small, x * 2.0**23, x), dt.int32)
    exponent = scaled - 0x3F3504F3 >> 23
    f = bitcast(scaled - (exponent << 23), dt.float32) - 1
    power = cast(exponent - select(small, number(23, dt.int32), 0), dt.float32)
    square = f * f
    series = polynomial(
        (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
         -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
        f,
    )  # fmt: skip
    tail = fma(power, _LOG_2_LOW, f * square * series) - 0.5 * square
    result = fma(power, _LOG_2_HIGH, f + tail)
    result = select(equal(x, 0), -INFINITY, select(x < 0, NAN, result))
    return select(is_nan(x) | equal(x, INFINITY), x, result)


# ---- trigonometry -----------------------------------------------------------------------------


_TWO_OVER_PI = (0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561)
"""256 binary digits of 2 / pi."""

_HIGH = 0x1921FB5 / 2**24
"""25 bits of pi / 2, whose products with up to 2 ** 28 quarter turns are exact in float64."""


def _quadrant(x: Scalar) -> tuple[Scalar, Scalar]:
    """The number of the quadrant, from 0 to 3, and the rest, within pi / 4. In float64; of large
    angles a loop of one turn takes whole quarter turns first, which the others pay nothing for."""
    wide, turned = loop(
        (cast(x, dt.float64), number(0, dt.int64)),
        lambda angle, _: (absolute(angle) > 2.0**28) & ~is_inf(angle),
        lambda angle, _: _far_angle(angle),
    )
    n = round_(wide * (2 / math.pi))
    rest = fma(n, _HIGH - math.pi / 2 - 6.123233995736766e-17, fma(n, -_HIGH, wide))
    quadrant = cast(cast(n, dt.int64) + turned & 3, dt.int32)
    return quadrant, cast(clamp(rest, -math.pi / 4, math.pi / 4), x.dtype)


def _far_angle(x: Scalar) -> tuple[Scalar, Scalar]:
    """The rest of a float32 as a float64, and its quarter turns: the mantissa times those of the
    digits of 2 / pi whose products are no multiples of 4 (Payne and Hanek 1983). Of the product, 62
    bits are behind the point."""
    exact = bitcast(x, dt.int64)
    size = (exact >> 29 & 0x7FFFFF) + 0x800000
    mantissa = select(x < 0, -size, size)
    place = bitcast((exact >> 52 & 0x7FF) - (1023 + 25), dt.uint64)
    words = [number(word, dt.uint64) for word in _TWO_OVER_PI]
    first, second, third = (
        select(place > 63, after, word) for word, after in itertools.pairwise(words)
    )
    left = place & 63
    right = 63 - left
    high, low = first << left | second >> 1 >> right, second << left | third >> 1 >> right
    turns = mantissa * bitcast(high, dt.int64)
    turns = turns + (mantissa * bitcast(low >> 32, dt.int64) >> 32)
    quarters = turns + 2**61 >> 62
    rest = cast(turns - (quarters << 62), dt.float64)
    return rest * (math.pi / 2**63), quarters


def _sine(x: Scalar, square: Scalar) -> Scalar:
    series = polynomial((-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1), square)
    return fma(series * square, x, x)


def _cosine(square: Scalar) -> Scalar:
    series = polynomial((2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2), square)
    return fma(series * square, square, 1 - 0.5 * square)


def _turned(x: Scalar, quarters: int) -> Scalar:
    """The sine of an angle and a number of quarter turns."""
    quadrant, rest = _quadrant(x)
    turned = quadrant + quarters
    square = rest * rest
    value = select(equal(turned & 1, 0), _sine(rest, square), _cosine(square))
    result = select(equal(turned & 2, 0), value, -value)
    return select(is_inf(x), NAN, result)


def sin(x: Scalar) -> Scalar:
    """The sine, by a polynomial in an eighth of a turn."""
    return _turned(x, 0)


def cos(x: Scalar) -> Scalar:
    """The cosine, which is the sine a quarter turn on."""
    return _turned(x, 1)


def tan(x: Scalar) -> Scalar:
    """The tangent: of an odd number of quarter turns that of the rest's complement, opposite."""
    quadrant, rest = _quadrant(x)
    square = rest * rest
    sine, cosine = _sine(rest, square), _cosine(square)
    odd = equal(quadrant & 1, 1)
    value = select(odd, -cosine, sine) / select(odd, sine, cosine)
    return select(is_inf(x), NAN, value)


def asin(x: Scalar) -> Scalar:
    """Beyond 1/2 from half the angle."""
    size = absolute(x)
    far = size > 0.5
    square = select(far, 0.5 * (1 - size), size * size)
    root = select(far, sqrt(square), size)
    angle = _arc(root, square)
    return _with_sign(select(far, math.pi / 2 - 2 * angle, angle), x)


def _arc(x: Scalar, square: Scalar) -> Scalar:
    series = polynomial(
        (4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2, 1.6666752422e-1),
        square,
    )
    return fma(series * square, x, x)


def acos(x: Scalar) -> Scalar:
    """Beyond 1/2 from half the angle, of the other side if x is negative."""
    size = absolute(x)
    square = 0.5 * (1 - size)
    twice = 2 * _arc(sqrt(square), square)
    far = select(x < 0, math.pi - twice, twice)
    return select(size > 0.5, far, math.pi / 2 - _arc(x, x * x))


def atan(x: Scalar) -> Scalar:
    """Of |x|, of its reciprocal's opposite, or of what remains after an eighth of a turn."""
    size = absolute(x)
    far, middle = size > 2.414213562373095, size > 0.4142135623730950
    near = select(middle, (size - 1) / (size + 1), size)
    rest = select(far, -1 / size, near)
    start = select(
        far, number(math.pi / 2, x.dtype), select(middle, number(math.pi / 4, x.dtype), 0)
    )
    square = rest * rest
    series = polynomial(
        (8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1), square
    )
    return _with_sign(start + fma(series * square, rest, rest), x)


# ---- hyperbolic functions ---------------------------------------------------------------------


def sinh(x: Scalar) -> Scalar:
    """The hyperbolic sine."""
    size, square = absolute(x), x * x
    power = exp(size, 1)
    series = polynomial((2.03721912945e-4, 8.33028376239e-3, 1.66667160211e-1), square)
    far = _with_sign(power - 0.25 / power, x)
    return select(size > 1, far, fma(series * square, x, x))


def cosh(x: Scalar) -> Scalar:
    """The hyperbolic cosine."""
    power = exp(absolute(x), 1)
    return power + 0.25 / power


def tanh(x: Scalar) -> Scalar:
    """The hyperbolic tangent."""
    size, square = absolute(x), x * x
    series = polynomial(
        (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1,
         -3.33332819422e-1),
        square,
    )  # fmt: skip
    far = 1 - 2 / (scalar.exp(2 * size) + 1)
    return _with_sign(select(size > 0.625, far, fma(series * square, size, size)), x)


def atanh(x: Scalar) -> Scalar:
    """The inverse of tanh."""
    square = x * x
    series = polynomial(
        (1.81740078349e-1, 8.24370301058e-2, 1.46691431730e-1, 1.99782164500e-1, 3.33337300303e-1),
        square,
    )
    far = 0.5 * log((1 + x) / (1 - x))
    return select(absolute(x) < 0.5, fma(series * square, x, x), far)


# ---- powers, in float64: a product of float32 would lose the digits before its point -----------


def _exp_double(x: Scalar) -> Scalar:
    """The exponential of a float64 to some twelve digits."""
    held = clamp(x, -745, 709)
    n = round_(held * (1 / _LOG_2))
    rest = fma(n, -1.90821492927058770002e-10, fma(n, -6.93147180369123816490e-01, held))
    series = polynomial([1 / math.factorial(k) for k in range(12, -1, -1)], rest)
    power = cast(n, dt.int64)
    half = power >> 1  # in two steps: 2 ** n alone may be no float64
    return series * _double_power_of_2(half) * _double_power_of_2(power - half)


def _double_power_of_2(n: Scalar) -> Scalar:
    return bitcast(n + 1023 << 52, dt.float64)


def _log_double(x: Scalar) -> Scalar:
    """The logarithm of a positive float32 as a float64, to some twelve digits: of a mantissa
    between the roots of 1/2 and 2, from the series of the inverse hyperbolic tangent."""
    wide = bitcast(cast(x, dt.float64), dt.int64)
    exponent = wide - 0x3FE6A09E667F3BCD >> 52
    mantissa = bitcast(wide - (exponent << 52), dt.float64)
    s = (mantissa - 1) / (mantissa + 1)
    series = polynomial([2 / k for k in range(19, 0, -2)], s * s)
    return fma(cast(exponent, dt.float64), _LOG_2, s * series)


def pow_(x: Scalar, y: Scalar) -> Scalar:
    """exp(y log |x|), with the special values of C."""
    size = absolute(x)
    whole = equal(floor(y), y)
    odd = whole & ~equal(floor(y * 0.5) * 2, y) & (absolute(y) < 2**24)
    negative = bits(x) >= 0x80000000
    ends = equal(size, 0) | is_inf(x) | is_inf(y)
    endless = select((size > 1) ^ (y > 0), number(0, x.dtype), INFINITY)
    exponent = cast(y, dt.float64) * _log_double(select(ends, number(1, x.dtype), size))
    power = select(ends, endless, cast(_exp_double(exponent), x.dtype))
    signed = select(odd & negative, -power, power)
    undefined = negative & ~whole & ~ends
    result = select(undefined | is_nan(x) | is_nan(y), NAN, signed)
    one = equal(x, 1) | equal(y, 0) | (equal(size, 1) & is_inf(y))
    return select(one, number(1, x.dtype), result)


FUNCTIONS: dict[str, Callable[..., Scalar]] = {
    "exp": exp, "log": log, "sin": sin, "cos": cos, "tan": tan, "asin": asin, "acos": acos,
    "atan": atan, "sinh": sinh, "cosh": cosh, "tanh": tanh, "atanh": atanh, "pow": pow_,
}  # fmt: skip
"""By the primitive that each computes."""
