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
    """The elements clamped to min and max; OptionError if both are None."""
    if min is None and max is None:
        raise OptionError("clamp: needs min, max, or both")
    return elementwise.clip(input, min, max)


@factor_first("alpha", 2)
def sub(input: Tensor, other: Tensor | Scalar, *, alpha: Scalar = 1) -> Tensor:
    """input - alpha * other."""
    return asarray(input) - (other if alpha == 1 else asarray(other) * alpha)


def div(input: Tensor, other: Tensor | Scalar, *, rounding_mode: str | None = None) -> Tensor:
    """input / other; rounding_mode "floor" or "trunc" rounds it down or towards 0."""
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
    """1 / sqrt(input)."""
    return 1 / elementwise.sqrt(input)


def log2(input: Tensor) -> Tensor:
    """The logarithm to the base of 2."""
    return elementwise.log(input) * (1 / math.log(2))


def log10(input: Tensor) -> Tensor:
    """The logarithm to the base of 10."""
    return elementwise.log(input) * (1 / math.log(10))


def isfinite(input: Tensor) -> Tensor:
    """Where elements are neither infinite nor NaN."""
    if not input.dtype.is_floating:
        return elementwise.equal(input, input)
    return ~(elementwise.isnan(input) | elementwise.isinf(input))


def lerp(input: Tensor, end: Tensor, weight: Tensor | Scalar) -> Tensor:
    """input + weight * (end - input)."""
    return input + (end - input) * weight


@factor_first("value", 3)
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scalar = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    return input + tensor1 * tensor2 * value


@factor_first("value", 3)
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Scalar = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    return input + tensor1 / tensor2 * value


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements differ by at most atol + rtol * |other|; reads them."""
    return bool(reduction.all(isclose(input, other, rtol, atol, equal_nan)))


def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Where elements are equal, or finite and differ by at most atol + rtol * |other|."""
    near = abs(input - other) <= atol + rtol * abs(other)
    found: Tensor = (input == other) | (near & isfinite(input) & isfinite(other))
    if equal_nan and input.dtype.is_floating:
        found = found | (elementwise.isnan(input) & elementwise.isnan(other))
    return found
