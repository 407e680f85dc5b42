"""The arithmetic of elementwise ops that takes more than a line. Bits are those of float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtype as dt
from ..errors import DTypeError
from ..scalar import (
    NAN,
    Scalar,
    absolute,
    bitcast,
    bits,
    cast,
    clamp,
    equal,
    exp,
    log,
    minimum,
    multiply_high,
    number,
    polynomial,
    round_,
    select,
    sign,
    sqrt,
    unsigned,
)


def _check_single(x: Scalar) -> None:
    """Raises DTypeError for a type whose digits or bits the formula does not have."""
    if x.dtype.size != 4:
        raise DTypeError(f"the formula is one of float32, not of {x.dtype.name}")


def by_power_of_2(x: Scalar, n: Scalar) -> Scalar:
    """x * 2 ** n, of int32 n from -252 to 254: in two steps, as 2 ** n alone may be no float32."""
    half = n >> 1
    for power in (half, n - half):
        x = x * bitcast(power + 127 << 23, x.dtype)
    return x


def exp2(x: Scalar) -> Scalar:
    """2 ** x, by a polynomial in what x has beyond a whole number."""
    _check_single(x)
    held = clamp(x, -150, 129).named("held")
    n = round_(held).named("n")
    series = polynomial(
        (1.5353361922e-4, 1.3398874414e-3, 9.6184373576e-3, 5.5503324711e-2, 2.4022647914e-1,
         6.9314720286e-1, 1.0),
        held - n,
    )  # fmt: skip
    return by_power_of_2(series, cast(n, dt.int32).named("power"))


def expm1(x: Scalar) -> Scalar:
    """exp(x) - 1 where that keeps the digits of x, else a polynomial."""
    tail = polynomial(
        (1.9855325270e-4, 1.4098192598e-3, 8.3342922871e-3, 4.1661727450e-2, 1.6666646382e-1,
         5.0000027691e-1),
        x,
    )  # fmt: skip
    series = (x * (1 + x * tail)).named("series")  # which keeps the sign of 0
    return select(absolute(x) < 0.7, series, exp(x) - 1)


def log1p(x: Scalar) -> Scalar:
    """log(1 + x) where 1 + x keeps most digits of x, else the polynomial of Cephes' logf."""
    square = (x * x).named("square")
    tail = polynomial(
        (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
         -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
        x,
    )  # fmt: skip
    series = (x - (0.5 * square - x * square * tail)).named("series")
    return select((x > -0.29) & (x < 0.41), series, log(1 + x))


# From 10000 on the square root of x * x + 1, or of x * x - 1, is x.
_FAR, _LOG_2 = 10000, 0.69314718


def asinh(x: Scalar) -> Scalar:
    """log(|x| + sqrt(x * x + 1)) with the sign of x, without losing small results."""
    size = absolute(x).named("size")
    held = minimum(size, _FAR).named("held")
    near = log1p((held + held * held / (1 + sqrt(held * held + 1))).named("excess"))
    return sign(x) * select(size > _FAR, (log(size) + _LOG_2).named("far"), near.named("near"))


def acosh(x: Scalar) -> Scalar:
    """log(x + sqrt(x * x - 1)); there is no value below 1."""
    above = (clamp(x, 1, _FAR) - 1).named("above")
    near = log1p((above + sqrt(above * above + 2 * above)).named("excess")).named("near")
    result = select(x > _FAR, (log(x) + _LOG_2).named("far"), near)
    return select(x < 1, NAN, result)


# erf as x P(x^2) / Q(x^2), the float32 rational that XLA and Eigen use; beyond 4 it is 1.
ERF_P = (
    -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
    -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02,
)  # fmt: skip
ERF_Q = (
    -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
    -1.42647390514189e-02,
)  # fmt: skip


def erf(x: Scalar) -> Scalar:
    """The error function."""
    _check_single(x)
    held = clamp(x, -4, 4).named("held")
    square = (held * held).named("square")
    p, q = polynomial(ERF_P, square).named("p"), polynomial(ERF_Q, square).named("q")
    return clamp(held * p / q, -1, 1)


def shift_left(x: Scalar, by: Scalar) -> Scalar:
    """By the width of the type or more, and by negative numbers, every bit moves out."""
    amount, last = _two_shifts(x, by)
    return x << amount << last


def shift_right(x: Scalar, by: Scalar) -> Scalar:
    """By the width of the type or more, and by negative numbers, all but the sign moves out."""
    amount, last = _two_shifts(x, by)
    return x >> amount >> last


def _two_shifts(x: Scalar, by: Scalar) -> tuple[Scalar, Scalar]:
    """Each less than the width, which is what primitives take."""
    most = 8 * x.dtype.size - 1
    if by.primitive == "number" and 0 <= by.value <= most:
        return number(by.value, unsigned(x.dtype)), number(0, unsigned(x.dtype))
    amount = cast(by, unsigned(x.dtype)).named("amount")
    one, none = number(1, amount.dtype), number(0, amount.dtype)
    return minimum(amount, most), select(amount > most, one, none)


# Philox 4x32-10 of Salmon, Moraes, Dror and Shaw 2011, "Parallel Random Numbers: As Easy as 1, 2,
# 3": what counters are multiplied by in a round, and what the key grows by.
_FACTORS = 0xD2511F53, 0xCD9E8D57
_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10


def philox_rounds(
    counter: tuple[Any, ...], key: tuple[Any, ...], high: Callable[[Any, int], Any]
) -> tuple[Any, ...]:
    """Four random words from the four of a counter and the two of a key, numbers of any kind.

    high: the upper word of a product.
    """
    for _ in range(_ROUNDS):
        a, b, c, d = counter
        first, second = _FACTORS
        counter = high(c, second) ^ b ^ key[0], c * second, high(a, first) ^ d ^ key[1], a * first
        key = tuple(word + step for word, step in zip(key, _STEPS, strict=True))
    return counter


def philox(index: Scalar, low: Scalar, high: Scalar, draw: Scalar) -> Scalar:
    """Each four words are those of one counter."""
    if index.dtype.size != 4:
        raise DTypeError(f"the generator computes with uint32, not {index.dtype.name}")
    none = number(0, index.dtype)
    counter = (index >> 2, draw, none, none)
    a, b, c, d = philox_rounds(counter, (low, high), multiply_high)
    odd = equal(index & 1, 1)
    return select(equal(index & 2, 0), select(odd, b, a), select(odd, d, c))


def to_half(x: Scalar) -> Scalar:
    """Ten bits of the mantissa, halves to even; a carry goes on into the exponent. Below the
    smallest normal number, the multiples of 2 ** -24: the distance of neighbours from 0.5 on."""
    _check_single(x)
    size = (bits(x) & 0x7FFFFFFF).named("size")
    even = (size >> 13 & 1).named("even")
    normal = ((size + 0xFFF + even) & 0xFFFFE000).named("normal")
    steps = (bits(absolute(x) + 0.5) - 0x3F000000).named("steps")
    small = bits(cast(steps, x.dtype) * 5.9604645e-08).named("small")
    rounded = select(size < 0x38800000, small, normal).named("rounded")
    held = select(rounded > 0x477FE000, 0x7F800000, rounded).named("held")
    kept = select(size > 0x7F800000, size, held)
    return bitcast(kept | (bits(x) & 0x80000000), x.dtype)
