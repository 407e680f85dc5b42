"""PyTorch's names for arithmetic of whole numbers, of the parts of floating ones, and facts; see
torch_math.py."""

from __future__ import annotations

import math
from typing import NamedTuple

from .. import dtype as dt
from ..dtype import DType, as_dtype, promote
from ..errors import DTypeError, ShapeError
from ..tensor import Scalar, Tensor, asarray
from . import creation, elementwise
from .elementwise import bitcast
from .manipulation import broadcast_arrays


class Parts(NamedTuple):
    """Numbers as mantissa * 2 ** exponent."""

    mantissa: Tensor
    exponent: Tensor


def _where(condition: Tensor, x: Tensor | Scalar, y: Tensor | Scalar) -> Tensor:
    return elementwise.where(condition, x, y)


# ---- whole numbers -------------------------------------------------------------------------------

_ROUNDS = {1: 13, 2: 24, 4: 47, 8: 92}
"""The divisions that two numbers of so many bytes need at most: those of neighbours in Fibonacci's
series (Lame 1844)."""


def gcd(input: Tensor, other: Tensor) -> Tensor:
    """The greatest common divisors, by Euclid's algorithm; 0 of two zeros. Raises DTypeError for
    floating numbers."""
    x, y = broadcast_arrays(input, asarray(other))
    if x.dtype.is_floating or y.dtype.is_floating:
        raise DTypeError(f"gcd: takes integers, not {x.dtype.name} and {y.dtype.name}")
    kind = promote(x.dtype, y.dtype)
    x, y = elementwise.abs(x.astype(kind)), elementwise.abs(y.astype(kind))
    for _ in range(_ROUNDS[kind.size]):
        rest = elementwise.remainder(x, _where(y == 0, 1, y))
        x, y = _where(y == 0, x, y), _where(y == 0, 0, rest)
    return x.astype(kind)


def lcm(input: Tensor, other: Tensor) -> Tensor:
    """The least common multiples; 0 where one is 0. Raises DTypeError for floating numbers."""
    divisor = gcd(input, other)
    shared = _where(divisor == 0, 1, divisor)
    whole = elementwise.floor_divide(elementwise.abs(input), shared)
    return (whole * elementwise.abs(asarray(other))).astype(divisor.dtype)


# ---- floating numbers ----------------------------------------------------------------------------


def sgn(input: Tensor) -> Tensor:
    """-1, 0 or 1, as `sign`: there are no complex numbers."""
    return elementwise.sign(input)


def float_power(input: Tensor | Scalar, exponent: Tensor | Scalar) -> Tensor:
    """Powers, computed in float64."""
    return elementwise.pow(asarray(input).astype(dt.float64), asarray(exponent).astype(dt.float64))


def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """input * 2 ** other."""
    x = input if input.dtype.is_floating else input.astype(dt.float32)
    n = asarray(other).astype(x.dtype)
    # In two steps, so that the power is finite wherever the product is.
    half = elementwise.floor(n * 0.5)
    return x * _power_of_two(half) * _power_of_two(n - half)


def _power_of_two(n: Tensor) -> Tensor:
    """2 ** n of whole numbers, exactly where that is a normal float32."""
    if n.dtype != dt.float32:
        return elementwise.pow(asarray(2.0, n.dtype), n)
    held = elementwise.clip(n.detach(), -126.0, 127.0)
    exact = bitcast((held.astype(dt.int32) + 127) << 23, dt.float32)
    plain = elementwise.exp(n * math.log(2))
    return _where(held == n.detach(), exact + (plain - plain.detach()), plain)


def frexp(input: Tensor) -> Parts:
    """Mantissas, of a size from 0.5 to 1, and exponents, int32, of which numbers consist. 0 and
    what is not finite have the exponent 0."""
    x = input if input.dtype.is_floating else input.astype(dt.float32)
    size = elementwise.abs(x.detach())
    plain = (size > 0) & (size < math.inf)
    held = _where(plain, size, 1.0)
    exponent = elementwise.floor(elementwise.log(held) * (1 / math.log(2))) + 1.0
    # The logarithm may be next to a whole number, on either side of it.
    share = ldexp(held, -exponent)
    exponent = _where(share >= 1.0, exponent + 1.0, _where(share < 0.5, exponent - 1.0, exponent))
    exponent = _where(plain, exponent, 0.0)
    return Parts(ldexp(x, -exponent), exponent.astype(dt.int32))


_BITS = {2: dt.int16, 4: dt.int32, 8: dt.int64}


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The next number that the type has, towards other. Raises DTypeError for integers. A GPU may
    take the numbers next to 0 for 0."""
    x, y = broadcast_arrays(input, asarray(other, input.dtype) if not isinstance(other, Tensor)
                            else other)  # fmt: skip
    if not x.dtype.is_floating or x.dtype != y.dtype:
        raise DTypeError(f"nextafter: {x.dtype.name} and {y.dtype.name}")
    kind = _BITS[x.dtype.size]
    bits = bitcast(x, kind)
    away = (y > x) == (x > 0)
    moved = bitcast(_where(away, bits + 1, bits - 1).astype(kind), x.dtype)
    least = bitcast(asarray(1, kind), x.dtype)
    found = _where(x == 0, _where(y > 0, least, -least), moved)
    lost = elementwise.isnan(x) | elementwise.isnan(y)
    return _where(lost, math.nan, _where(x == y, y, found))


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """The larger of two elements; of a NaN and a number, the number."""
    return _number_of(input, other, elementwise.maximum(input, other))


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """The smaller of two elements; of a NaN and a number, the number."""
    return _number_of(input, other, elementwise.minimum(input, other))


def _number_of(x: Tensor, y: Tensor, found: Tensor) -> Tensor:
    if not found.dtype.is_floating:
        return found
    found = _where(elementwise.isnan(asarray(y)), x, found)
    return _where(elementwise.isnan(asarray(x)), y, found)


def isposinf(input: Tensor) -> Tensor:
    """Where elements are infinite."""
    return elementwise.equal(input, math.inf) if input.dtype.is_floating else input != input


def isneginf(input: Tensor) -> Tensor:
    """Where elements are minus infinity."""
    return elementwise.equal(input, -math.inf) if input.dtype.is_floating else input != input


def isreal(input: Tensor) -> Tensor:
    """True everywhere: there are no complex numbers."""
    return creation.full_like(input, True, dtype="bool")


def rsub(input: Tensor, other: Tensor | Scalar, *, alpha: Scalar = 1) -> Tensor:
    """other - alpha * input."""
    return other - (input if alpha == 1 else input * alpha)


# ---- facts ---------------------------------------------------------------------------------------


def is_complex(input: Tensor) -> bool:
    """False: there are no complex numbers."""
    return False


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not 0; it is read. Raises ShapeError for another number of
    elements."""
    if input.node.size != 1:
        raise ShapeError(f"is_nonzero: {input.shape} is not a single number")
    return bool(input.item())


def promote_types(type1: DType | str, type2: DType | str) -> DType:
    """The type that holds both. Raises DTypeError where there is none."""
    return promote(as_dtype(type1), as_dtype(type2))
