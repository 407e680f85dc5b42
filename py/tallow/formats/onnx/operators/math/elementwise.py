"""Elementwise arithmetic, comparison, logic and bit operators."""

from __future__ import annotations

from functools import reduce

from ..... import functions as f
from .....core import dtype as dt
from .....errors import OnnxFormatError
from .....functions.elementwise import whole_power
from .....tensor import Tensor
from ...call import Call
from ...read.tensors import type_called
from ...registry import operator, plain

# ONNX name: the name in tallow.functions, and the operator set that introduced the operator.
_OF_ONE = {
    "Abs": ("abs", 1), "Acos": ("acos", 7), "Acosh": ("acosh", 9), "Asin": ("asin", 7),
    "Asinh": ("asinh", 9), "Atan": ("atan", 7), "Atanh": ("atanh", 9),
    "BitwiseNot": ("bitwise_invert", 18), "Ceil": ("ceil", 1),
    "Cos": ("cos", 7), "Cosh": ("cosh", 9), "Exp": ("exp", 1),
    "Floor": ("floor", 1), "IsNaN": ("isnan", 9), "Log": ("log", 1), "Neg": ("negative", 1),
    "Not": ("logical_not", 1), "Reciprocal": ("reciprocal", 1), "Round": ("round", 11),
    "Sign": ("sign", 9), "Sin": ("sin", 7), "Sinh": ("sinh", 9), "Sqrt": ("sqrt", 1),
    "Tan": ("tan", 7), "Tanh": ("tanh", 1),
}  # fmt: skip
_OF_TWO = {
    "Add": ("add", 1), "And": ("logical_and", 1), "BitwiseAnd": ("bitwise_and", 18),
    "BitwiseOr": ("bitwise_or", 18), "BitwiseXor": ("bitwise_xor", 18), "Equal": ("equal", 1),
    "Greater": ("greater", 1), "GreaterOrEqual": ("greater_equal", 12), "Less": ("less", 1),
    "LessOrEqual": ("less_equal", 12), "Mul": ("multiply", 1), "Or": ("logical_or", 1),
    "Sub": ("subtract", 1), "Xor": ("logical_xor", 1),
}  # fmt: skip

_OF_THREE = {"Where": ("where", 9)}

for _inputs, _table in enumerate((_OF_ONE, _OF_TWO, _OF_THREE), start=1):
    for _name, (_function, _since) in _table.items():
        plain(_name, getattr(f, _function), _inputs, _since)


@operator("Div")
def _div(call: Call, x: Tensor, y: Tensor) -> Tensor:
    return f.trunc_divide(x, y) if x.dtype.is_integer else f.divide(x, y)


@operator("Mod", since=10)
def mod(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """fmod: with the sign of x; otherwise with that of y (for floating numbers since opset 28)."""
    fmod = call.flag("fmod")
    if not fmod:
        return f.remainder(x, y)
    if not x.dtype.is_integer:
        return f.fmod(x, y)
    rest = f.remainder(x, y)
    opposed = f.logical_and(f.not_equal(rest < 0, x < 0), f.not_equal(rest, 0))
    return f.where(opposed, rest - y, rest)


@operator("Pow")
def pow(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """The result has the type of the base, whatever the type of the exponent."""
    if x.dtype.is_integer and y.dtype.is_integer:
        return whole_power(x, y)
    if x.dtype.is_integer:  # in float64, which float64.py leaves to NumPy
        return f.pow(x.astype(dt.float64), y.astype(dt.float64)).astype(x.dtype)
    if y.node.is_scalar_constant and y.ndim <= x.ndim:
        exponent = y.node.attrs["data"].item()
        return (f.sqrt(x) if exponent == 0.5 else f.pow(x, exponent)).astype(x.dtype)
    return f.pow(x, y.astype(x.dtype))


@operator("Erf", since=9)
def erf(call: Call, x: Tensor) -> Tensor:
    """For integers, truncated to their type: -1, 0 or 1, as float32 rounds erf(4) up to 1."""
    if x.dtype.is_floating:
        return f.erf(x)
    positive = (x >= 4).astype(x.dtype)
    return positive if x.dtype.kind == "u" else positive - (x <= -4).astype(x.dtype)


@operator("IsInf", since=10)
def _isinf(call: Call, x: Tensor) -> Tensor:
    positive, negative = call.flag("detect_positive", True), call.flag("detect_negative", True)
    if positive and negative:
        return f.isinf(x)
    if not positive and not negative:
        return f.zeros(x.shape, "bool")
    return f.logical_and(f.isinf(x), x > 0 if positive else x < 0)


@operator("BitShift", since=11)
def _bit_shift(call: Call, x: Tensor, y: Tensor) -> Tensor:
    direction = call.get("direction", str)
    if direction not in ("LEFT", "RIGHT"):
        raise OnnxFormatError(f"direction {direction!r} is neither LEFT nor RIGHT")
    width = 8 * x.dtype.size
    inside = f.logical_and(y >= 0, y < width)  # beyond, every bit of x is shifted out
    bits = f.where(inside, y, f.full((), width - 1, y.dtype))
    if direction == "LEFT":
        return f.where(inside, f.bitwise_left_shift(x, bits), f.zeros((), x.dtype))
    shifted = f.bitwise_right_shift(x, bits)
    return shifted if x.dtype.kind == "i" else f.where(inside, shifted, f.zeros((), x.dtype))


@operator("Max")
def _maximum(call: Call, x: Tensor, *others: Tensor) -> Tensor:
    return reduce(f.maximum, others, x)


@operator("Min")
def _minimum(call: Call, x: Tensor, *others: Tensor) -> Tensor:
    return reduce(f.minimum, others, x)


@operator("Sum")
def _sum_of(call: Call, x: Tensor, *others: Tensor) -> Tensor:
    return reduce(f.add, others, x)


@operator("Mean")
def _mean_of(call: Call, x: Tensor, *others: Tensor) -> Tensor:
    return reduce(f.add, others, x) * (1.0 / (1 + len(others)))


_MAX_FLOAT32 = 3.4028234663852886e38


@operator("Clip")
def clip(call: Call, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    """The bounds are inputs since opset 11. Before, they are attributes that default to the range
    of float32."""
    if call.opset < 11:
        end = None if x.dtype == dt.float16 else _MAX_FLOAT32  # float16 can't reach it
        low_end = None if end is None else -end
        return f.clip(x, call.get("min", float, low_end), call.get("max", float, end))
    for name, bound in (("min", low), ("max", high)):
        if bound is not None and bound.size != 1:
            raise OnnxFormatError(f"{name} must be one number, but its shape is {bound.shape}")
    bounds = [None if bound is None else f.reshape(bound, ()) for bound in (low, high)]
    return f.clip(x, *bounds)


@operator("BitCast", since=26)
def _bit_cast(call: Call, x: Tensor) -> Tensor:
    return f.bitcast(x, type_called(call.get("to", int)))


@operator("Identity")
def _identity(call: Call, x: Tensor) -> Tensor:
    return x


@operator("PRelu")
def _prelu(call: Call, x: Tensor, slope: Tensor) -> Tensor:
    return f.where(x >= 0, x, x * f.broadcast_to(slope, x.shape))
