"""Elementwise functions of whole numbers, signs, angles and the parts of floating numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..core import dtype as dt
from ..core.dtype import DType, as_dtype, promote
from ..core.results import printed_as
from ..errors import DTypeError, ShapeError
from ..graph import seams
from ..tensor import Scalar, Tensor, asarray
from . import creation, elementwise
from .elementwise import bitcast
from .manipulation import broadcast_arrays


def signbit(input: Tensor) -> Tensor:
    """Tells where elements are negative, -0.0 among them.

    input: numbers, of any shape.
    Returns: booleans, of the shape of input.
    Source: Python array API standard 2024.12, `signbit`.
    """
    x = input
    if not x.dtype.is_floating:
        return x < 0
    return (x < 0) | ((x == 0) & (1.0 / x < 0))


def copysign(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Combines the magnitude of input with the sign of other.

    input: numbers, of any shape; integers count as float32.
    other: a number or a tensor that broadcasts with input, of which only the signs count.
    Returns: the numbers, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Python array API standard 2024.12, `copysign`.
    """
    size = elementwise.abs(elementwise.floating(input))
    return elementwise.where(signbit(elementwise.floating(asarray(other))), -size, size)


def atan2(input: Tensor, other: Tensor | Scalar) -> Tensor:
    """Gives the angle of the point (other, input) from the first axis, from -pi to pi.

    input: the second coordinates of the points; integers count as float32.
    other: the first coordinates, a number or a tensor that broadcasts with input.
    Returns: the angles, in radians, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Python array API standard 2024.12, `atan2`.
    """
    y, x = elementwise.floating(input), elementwise.floating(asarray(other))
    steep = elementwise.abs(y) > elementwise.abs(x)
    # At the origin nothing depends on the point, as in PyTorch.
    nowhere = (y == 0) & (x == 0)
    x, y = elementwise.where(nowhere, x.detach(), x), elementwise.where(nowhere, y.detach(), y)
    upper, lower = elementwise.where(steep, x, y), elementwise.where(steep, y, x)
    endless = elementwise.isinf(upper)  # so that both are
    upper = elementwise.where(endless, elementwise.sign(upper), upper)
    lower = elementwise.where(
        endless, elementwise.sign(lower), elementwise.where(lower == 0, 1.0, lower)
    )
    angle = elementwise.atan(upper / lower)
    half = elementwise.where(y > 0, asarray(math.pi / 2, y.dtype), -math.pi / 2)
    around = elementwise.where(signbit(y), asarray(-math.pi, y.dtype), math.pi)
    behind = elementwise.where(signbit(x), around, 0.0)
    return elementwise.where(steep, half - angle, angle + behind).astype(y.dtype)


def hypot(input: Tensor, other: Tensor) -> Tensor:
    """Computes sqrt(input² + other²), without overflow.

    input, other: the legs of right triangles, which broadcast; integers count as float32.
    Returns: the hypotenuses, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Python array API standard 2024.12, `hypot`.
    """
    x, y = broadcast_arrays(*(elementwise.floating(asarray(each)) for each in (input, other)))
    swapped = elementwise.abs(y) > elementwise.abs(x)
    longer, shorter = elementwise.where(swapped, y, x), elementwise.where(swapped, x, y)
    endless = elementwise.isinf(longer)
    ratio = shorter / elementwise.where(longer == 0, 1.0, longer)
    found = elementwise.abs(longer) * elementwise.sqrt(ratio * ratio + 1.0)

    def pull(gradient: Tensor, found: Tensor, x: Tensor, y: Tensor) -> list[Tensor]:
        length = elementwise.where(found == 0, 1.0, found)
        return [gradient * (x / length), gradient * (y / length)]

    found = elementwise.where(endless, math.inf, found)
    return seams.derivatives.with_gradient(found, [x, y], pull, [x, y])


def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """Computes log(exp(input) + exp(other)), without overflow.

    input, other: logarithms, which broadcast.
    Returns: the logarithms of the sums, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: Python array API standard 2024.12, `logaddexp`.
    """
    a, b = broadcast_arrays(input, other)
    least = elementwise.exp(-elementwise.abs(a - b))
    found = elementwise.maximum(a, b) + elementwise.log1p(least)

    def pull(gradient: Tensor, _: Tensor, a: Tensor, b: Tensor) -> list[Tensor]:
        apart = a - b
        return [gradient * apart.sigmoid(), gradient * (-apart).sigmoid()]

    found = elementwise.where(a == b, (a + b) * 0.5 + math.log(2), found)
    return seams.derivatives.with_gradient(found, [a, b], pull, [a, b])


def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """Computes log2(2 ** input + 2 ** other), without overflow.

    input, other: logarithms to the base of 2, which broadcast.
    Returns: the logarithms of the sums, to the base of 2, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.logaddexp2`.
    """
    return logaddexp(input * math.log(2), other * math.log(2)) * (1 / math.log(2))


def sinc(input: Tensor) -> Tensor:
    """Computes sin(pi x) / (pi x) of each element x; 1 at 0.

    input: numbers, of any shape; integers count as float32.
    Returns: the quotients, of the shape of input.
    Source: PyTorch's documentation, `torch.sinc`.
    """
    x = elementwise.floating(input) * math.pi
    # Within 1 the series, of which every derivative is right; those of the quotient cancel there.
    near = elementwise.abs(x) < 1
    held = elementwise.where(near, x, 0.0)
    square = held * held
    series = square * (-1.0 / math.factorial(19)) + 1.0 / math.factorial(17)
    for k in range(7, -1, -1):
        series = series * square + (-1) ** k / math.factorial(2 * k + 1)
    far = elementwise.where(near, 1.0, x)
    return elementwise.where(near, series, elementwise.sin(far) / far)


def deg2rad(input: Tensor) -> Tensor:
    """Converts angles in degrees to radians.

    input: numbers, of any shape; integers count as float32.
    Returns: the angles, of the shape of input.
    Source: PyTorch's documentation, `torch.deg2rad`.
    """
    return input * (math.pi / 180)


def rad2deg(input: Tensor) -> Tensor:
    """Converts angles in radians to degrees.

    input: numbers, of any shape; integers count as float32.
    Returns: the angles, of the shape of input.
    Source: PyTorch's documentation, `torch.rad2deg`.
    """
    return input * (180 / math.pi)


def frac(input: Tensor) -> Tensor:
    """Subtracts the whole part of input; what remains has the same sign.

    input: numbers, of any shape.
    Returns: the fractions, of the shape of input.
    Source: PyTorch's documentation, `torch.frac`.
    """
    return input - elementwise.trunc(input)


def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """Computes the step function: 0 for negative elements, 1 for positive ones, `values` at 0.

    input: numbers, of any shape.
    values: what stands where input is 0; it broadcasts.
    Returns: the steps, of the broadcast shape and the promoted type.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.heaviside`.
    """
    return elementwise.where(input == 0, values, (input > 0).astype(input.dtype))


def nan_to_num(
    input: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replaces NaN and infinities by numbers.

    input: numbers, of any shape.
    nan: the number for NaN.
    posinf, neginf: the numbers for infinity and for minus infinity; None is the largest and the
      least of the type.
    Returns: the numbers, of the shape of input.
    Source: PyTorch's documentation, `torch.nan_to_num`.
    """
    most = {2: 65504.0, 8: 1.7976931348623157e308}.get(input.dtype.size, 3.4028234663852886e38)
    x = elementwise.where(elementwise.isnan(input), nan, input)
    x = elementwise.where(x == math.inf, most if posinf is None else posinf, x)
    return elementwise.where(x == -math.inf, -most if neginf is None else neginf, x)


arctan2 = atan2


class Parts(NamedTuple):
    """Numbers as mantissa * 2 ** exponent."""

    mantissa: Tensor
    exponent: Tensor


_ROUNDS = {1: 13, 2: 24, 4: 47, 8: 92}
"""The divisions that two numbers of so many bytes need at most: those of neighbours in Fibonacci's
series (Lame 1844)."""


def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Computes the greatest common divisors, by Euclid's algorithm; 0 of two zeros.

    input, other: integers, which broadcast.
    Returns: the divisors, of the broadcast shape and the promoted type.
    Raises: DTypeError for floating numbers; ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.gcd`; Lame 1844, for the number of divisions.
    """
    x, y = broadcast_arrays(input, asarray(other))
    if x.dtype.is_floating or y.dtype.is_floating:
        raise DTypeError(f"gcd: takes integers, not {x.dtype.name} and {y.dtype.name}")
    kind = promote(x.dtype, y.dtype)
    x, y = elementwise.abs(x.astype(kind)), elementwise.abs(y.astype(kind))
    for _ in range(_ROUNDS[kind.size]):
        rest = elementwise.remainder(x, elementwise.where(y == 0, 1, y))
        x, y = elementwise.where(y == 0, x, y), elementwise.where(y == 0, 0, rest)
    return x.astype(kind)


def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Computes the least common multiples; 0 where one is 0.

    input, other: integers, which broadcast.
    Returns: the multiples, of the broadcast shape and the promoted type.
    Raises: DTypeError for floating numbers; ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.lcm`.
    """
    divisor = gcd(input, other)
    shared = elementwise.where(divisor == 0, 1, divisor)
    whole = elementwise.floor_divide(elementwise.abs(input), shared)
    return (whole * elementwise.abs(asarray(other))).astype(divisor.dtype)


def float_power(input: Tensor | Scalar, exponent: Tensor | Scalar) -> Tensor:
    """Computes powers in float64.

    input: the bases, a number or a tensor.
    exponent: the exponents, which broadcast with input.
    Returns: the powers, float64, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.float_power`.
    """
    return elementwise.pow(asarray(input).astype(dt.float64), asarray(exponent).astype(dt.float64))


def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """Computes input * 2 ** other.

    input: numbers, of any shape; integers count as float32.
    other: the exponents, which broadcast with input.
    Returns: the products, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.ldexp`.
    """
    x = input if input.dtype.is_floating else input.astype(dt.float32)
    n = asarray(other).astype(x.dtype)
    # In two steps, so that the power is finite wherever the product is.
    half = elementwise.floor(n * 0.5)
    return x * elementwise.exp2(half) * elementwise.exp2(n - half)


@printed_as("frexp")
def frexp(input: Tensor) -> Parts:
    """Splits numbers into mantissas and exponents: input = mantissa * 2 ** exponent.

    input: numbers, of any shape; integers count as float32.
    Returns: (mantissa, exponent), both of the shape of input: mantissas of a magnitude from 0.5 to
      1, and int32 exponents. 0 and what is not finite have the exponent 0.
    Source: PyTorch's documentation, `torch.frexp`.
    """
    x = input if input.dtype.is_floating else input.astype(dt.float32)
    size = elementwise.abs(x.detach())
    plain = (size > 0) & (size < math.inf)
    held = elementwise.where(plain, size, 1.0)
    exponent = elementwise.floor(elementwise.log(held) * (1 / math.log(2))) + 1.0
    # The logarithm may be next to a whole number, on either side of it.
    share = ldexp(held, -exponent)
    exponent = elementwise.where(
        share >= 1.0, exponent + 1.0, elementwise.where(share < 0.5, exponent - 1.0, exponent)
    )
    exponent = elementwise.where(plain, exponent, 0.0)
    return Parts(ldexp(x, -exponent), exponent.astype(dt.int32))


_BITS = {2: dt.int16, 4: dt.int32, 8: dt.int64}


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """Gives the next number that the type has, towards other.

    A GPU may take the numbers next to 0 for 0.

    input: floating numbers, of any shape.
    other: the numbers to go towards, of the same type, which broadcast with input.
    Returns: the next numbers, of the broadcast shape; NaN where either is NaN.
    Raises: DTypeError for integers, and for different types; ShapeError for shapes that do not
      broadcast.
    Source: Python array API standard 2024.12, `nextafter`.
    """
    x, y = broadcast_arrays(input, asarray(other, input.dtype) if not isinstance(other, Tensor)
                            else other)  # fmt: skip
    if not x.dtype.is_floating or x.dtype != y.dtype:
        raise DTypeError(f"nextafter: {x.dtype.name} and {y.dtype.name}")
    kind = _BITS[x.dtype.size]
    bits = bitcast(x, kind)
    away = (y > x) == (x > 0)
    moved = bitcast(elementwise.where(away, bits + 1, bits - 1).astype(kind), x.dtype)
    least = bitcast(asarray(1, kind), x.dtype)
    found = elementwise.where(x == 0, elementwise.where(y > 0, least, -least), moved)
    lost = elementwise.isnan(x) | elementwise.isnan(y)
    return elementwise.where(lost, math.nan, elementwise.where(x == y, y, found))


def fmax(input: Tensor, other: Tensor) -> Tensor:
    """Gives the larger of two elements; of a NaN and a number, the number.

    input, other: numbers, which broadcast.
    Returns: the larger elements, of the broadcast shape and the promoted type.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.fmax`.
    """
    return _number_of(input, other, elementwise.maximum(input, other))


def fmin(input: Tensor, other: Tensor) -> Tensor:
    """Gives the smaller of two elements; of a NaN and a number, the number.

    input, other: numbers, which broadcast.
    Returns: the smaller elements, of the broadcast shape and the promoted type.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.fmin`.
    """
    return _number_of(input, other, elementwise.minimum(input, other))


def _number_of(x: Tensor, y: Tensor, found: Tensor) -> Tensor:
    if not found.dtype.is_floating:
        return found
    found = elementwise.where(elementwise.isnan(asarray(y)), x, found)
    return elementwise.where(elementwise.isnan(asarray(x)), y, found)


def isposinf(input: Tensor) -> Tensor:
    """Tells where elements are plus infinity.

    input: numbers, of any shape.
    Returns: booleans, of the shape of input.
    Source: PyTorch's documentation, `torch.isposinf`.
    """
    return elementwise.equal(input, math.inf) if input.dtype.is_floating else input != input


def isneginf(input: Tensor) -> Tensor:
    """Tells where elements are minus infinity.

    input: numbers, of any shape.
    Returns: booleans, of the shape of input.
    Source: PyTorch's documentation, `torch.isneginf`.
    """
    return elementwise.equal(input, -math.inf) if input.dtype.is_floating else input != input


def isreal(input: Tensor) -> Tensor:
    """Gives True everywhere: there are no complex numbers.

    input: a tensor, of any shape.
    Returns: booleans, of the shape of input.
    Source: PyTorch's documentation, `torch.isreal`.
    """
    return creation.full_like(input, True, dtype="bool")


def rsub(input: Tensor, other: Tensor | Scalar, *, alpha: Scalar = 1) -> Tensor:
    """Subtracts from other: other - alpha * input.

    input: numbers, of any shape.
    other: a number or a tensor that broadcasts with input.
    alpha: a number by which input is multiplied first.
    Returns: the differences, of the broadcast shape and the promoted type.
    Raises: ShapeError for shapes that do not broadcast; DTypeError for booleans.
    """
    return other - (input if alpha == 1 else input * alpha)


def is_complex(input: Tensor) -> bool:
    """Gives False: there are no complex numbers.

    input: a tensor.
    Returns: False.
    Source: PyTorch's documentation, `torch.is_complex`.
    """
    return False


def is_nonzero(input: Tensor) -> bool:
    """Tells whether the only element is not 0; it is read.

    input: a tensor of one element.
    Returns: True or False.
    Raises: ShapeError for another number of elements.
    Source: PyTorch's documentation, `torch.is_nonzero`.
    """
    if input.node.size != 1:
        raise ShapeError(f"is_nonzero: {input.shape} is not a single number")
    return bool(input.item())


def promote_types(type1: DType | str, type2: DType | str) -> DType:
    """Gives the type that holds both types.

    type1, type2: types.
    Returns: the type.
    Raises: DTypeError where there is none, and for a name that is no type.
    Source: PyTorch's documentation, `torch.promote_types`.
    """
    return promote(as_dtype(type1), as_dtype(type2))
