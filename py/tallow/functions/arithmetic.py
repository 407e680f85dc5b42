"""Elementwise functions composed of others: PyTorch's arithmetic, clamping, comparison within a
tolerance."""

from __future__ import annotations

import math

from ..errors import OptionError
from ..tensor import Scalar, Tensor, asarray
from . import elementwise, reduction
from .factors import factor_first


def clamp(
    input: Tensor, min: Scalar | Tensor | None = None, max: Scalar | Tensor | None = None
) -> Tensor:
    """Clamps the elements to min and max.

    input: numbers, of any shape.
    min, max: the bounds, numbers or tensors that broadcast; None bounds nothing.
    Returns: the clamped elements, of the common type and shape of input and the bounds.
    Raises: OptionError if both bounds are None; ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.clamp`.
    """
    if min is None and max is None:
        raise OptionError("clamp: needs min, max, or both")
    return elementwise.clip(input, min, max)


@factor_first("alpha", 2)
def sub(input: Tensor, other: Tensor | Scalar, *, alpha: Scalar = 1) -> Tensor:
    """Subtracts a multiple of other: input - alpha * other.

    input: numbers, of any shape.
    other: a number or a tensor that broadcasts with input.
    alpha: a number by which other is multiplied first.
    Returns: the differences, of the broadcast shape and the promoted type.
    Raises: ShapeError for shapes that do not broadcast; DTypeError for booleans.
    Source: PyTorch's documentation, `torch.sub`.
    """
    return asarray(input) - (other if alpha == 1 else asarray(other) * alpha)


def div(input: Tensor, other: Tensor | Scalar, *, rounding_mode: str | None = None) -> Tensor:
    """Divides input by other, and rounds the quotients if rounding_mode says so.

    input: the dividends, of any shape.
    other: the divisors, a number or a tensor that broadcasts with input.
    rounding_mode: None keeps fractions; "floor" rounds down; "trunc" rounds towards 0.
    Returns: the quotients, of the broadcast shape; without rounding those of integers are float32,
      with "trunc" the type is that of input.
    Raises: OptionError for another rounding_mode; ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.div`.
    """
    input = asarray(input)
    if rounding_mode is None:
        return input / other
    if rounding_mode == "floor":
        return input // other
    if rounding_mode != "trunc":
        raise OptionError(f"div: rounding_mode {rounding_mode!r} is not None, 'floor' or 'trunc'")
    quotient = input / other
    return elementwise.trunc(quotient).astype(input.dtype)


def rsqrt(input: Tensor) -> Tensor:
    """Computes 1 / sqrt(input).

    input: numbers, of any shape; integers count as float32.
    Returns: the reciprocals of the square roots, of the shape of input.
    Source: PyTorch's documentation, `torch.rsqrt`.
    """
    return 1 / elementwise.sqrt(input)


def log2(input: Tensor) -> Tensor:
    """Computes the logarithm to the base of 2.

    input: numbers, of any shape; integers count as float32.
    Returns: the logarithms, of the shape of input.
    Source: Python array API standard 2024.12, `log2`.
    """
    return elementwise.log(input) * (1 / math.log(2))


def log10(input: Tensor) -> Tensor:
    """Computes the logarithm to the base of 10.

    input: numbers, of any shape; integers count as float32.
    Returns: the logarithms, of the shape of input.
    Source: Python array API standard 2024.12, `log10`.
    """
    return elementwise.log(input) * (1 / math.log(10))


def isfinite(input: Tensor) -> Tensor:
    """Tells where elements are neither infinite nor NaN.

    input: numbers or booleans, of any shape.
    Returns: booleans, of the shape of input.
    Source: Python array API standard 2024.12, `isfinite`.
    """
    if not input.dtype.is_floating:
        return elementwise.equal(input, input)
    return ~(elementwise.isnan(input) | elementwise.isinf(input))


def lerp(input: Tensor, end: Tensor, weight: Tensor | Scalar) -> Tensor:
    """Interpolates linearly: input + weight * (end - input).

    input, end: the numbers at weight 0 and at weight 1, of shapes that broadcast.
    weight: a number or a tensor that broadcasts with them.
    Returns: the interpolated numbers, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.lerp`.
    """
    return input + (end - input) * weight


@factor_first("value", 3)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scalar = 1) -> Tensor:
    """Adds a product: input + value * tensor1 * tensor2.

    input: numbers, of any shape.
    tensor1, tensor2: the factors, which broadcast with input.
    value: a number by which the product is multiplied.
    Returns: the sums, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.addcmul`.
    """
    return input + tensor1 * tensor2 * value


@factor_first("value", 3)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scalar = 1) -> Tensor:
    """Adds a quotient: input + value * tensor1 / tensor2.

    input: numbers, of any shape.
    tensor1, tensor2: the dividends and the divisors, which broadcast with input.
    value: a number by which the quotient is multiplied.
    Returns: the sums, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.addcdiv`.
    """
    return input + tensor1 / tensor2 * value


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Tells whether `isclose` is true of all elements; reads them.

    input, other: numbers, of shapes that broadcast.
    rtol: the relative tolerance, by which |other| is multiplied.
    atol: the absolute tolerance.
    equal_nan: whether two NaN count as equal.
    Returns: True or False.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.allclose`.
    """
    return bool(reduction.all(isclose(input, other, rtol, atol, equal_nan)))


def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Tells where elements are equal, or finite and differ by at most atol + rtol * |other|.

    input, other: numbers, of shapes that broadcast.
    rtol: the relative tolerance, by which |other| is multiplied.
    atol: the absolute tolerance.
    equal_nan: whether two NaN count as equal.
    Returns: booleans, of the broadcast shape.
    Raises: ShapeError for shapes that do not broadcast.
    Source: PyTorch's documentation, `torch.isclose`.
    """
    near = abs(input - other) <= atol + rtol * abs(other)
    found: Tensor = (input == other) | (near & isfinite(input) & isfinite(other))
    if equal_nan and input.dtype.is_floating:
        found = found | (elementwise.isnan(input) & elementwise.isnan(other))
    return found
