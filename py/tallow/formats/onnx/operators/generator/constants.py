"""Values that are known when the model is loaded, and type conversions."""

from __future__ import annotations

import math

from ..... import functions as f
from .....core.codes import FORMATS
from .....core.dtype import DType, float8_e8m0fnu, float32, int64, uint32
from .....core.hostarray import HostArray, from_values
from .....errors import OnnxFormatError, OnnxUnsupportedError
from .....tensor import Tensor, asarray
from ...call import Call
from ...read.tensors import type_called
from ...registry import operator

_MAX_CONSTANT = 1 << 12
"""Ranges up to this length become constants, so that shapes can be computed from them."""


def _integers(values: list[int] | tuple[int, ...]) -> Tensor:
    return asarray(from_values(values, (len(values),), int64))


@operator("Constant")
def constant(call: Call) -> Tensor:
    """The value is in one of several attributes."""
    given = [name for name in call.node.attributes if name.startswith(("value", "sparse"))]
    if len(given) != 1:
        raise OnnxFormatError(f"it must have one value, not {len(given)}")
    name = given[0]
    if name == "value":
        return asarray(call.get(name, HostArray))
    if name == "value_int":
        return asarray(from_values([call.get(name, int)], (), int64))
    if name == "value_float":
        return asarray(from_values([call.get(name, float)], (), float32))
    if name not in ("value_ints", "value_floats"):
        raise OnnxUnsupportedError(f"its attribute {name!r} is not supported")
    values = call.get(name, tuple)
    return asarray(from_values(values, (len(values),), int64 if name == "value_ints" else float32))


@operator("ConstantOfShape", since=9)
def _constant_of_shape(call: Call, shape: Tensor) -> Tensor:
    value = call.get("value", HostArray, None)
    dims = call.known_integers(shape, "shape")
    if any(dim < 0 for dim in dims):
        raise OnnxFormatError(f"the shape {dims} has a negative dimension")
    if value is None:
        return f.zeros(dims, float32)
    return f.full(dims, value.item(), value.dtype)


@operator("Shape")
def shape(call: Call, x: Tensor) -> Tensor:
    """The shape, or (from opset 15 on) a part of it; known when a graph is built."""
    return _integers(x.shape[call.get("start", int, 0) : call.get("end", int, None)])


@operator("Size")
def _size(call: Call, x: Tensor) -> Tensor:
    return asarray(from_values([x.size], (), int64))


@operator("Range", since=11)
def _range(call: Call, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    call.ignore("stash_type")
    first, last, step = (
        call.known(x, name).item()
        for x, name in ((start, "start"), (limit, "limit"), (delta, "delta"))
    )
    steps = (last - first) / step if step else math.nan
    if not math.isfinite(steps):
        raise OnnxFormatError(f"a range from {first} to {last} in steps of {step} is invalid")
    count = max(0, math.ceil(steps))
    if count <= _MAX_CONSTANT:
        values = [first + step * i for i in range(count)]
        return asarray(from_values(values, (count,), start.dtype))
    line: Tensor = f.arange(count).astype(start.dtype) * step + first
    return line.astype(start.dtype)


@operator("EyeLike", since=9)
def _eye_like(call: Call, x: Tensor) -> Tensor:
    if x.ndim != 2:
        raise OnnxFormatError(f"its input must be a matrix, not {x.shape}")
    number = call.get("dtype", int, None)
    wanted = x.dtype if number is None else type_called(number)
    return f.eye(x.shape[0], x.shape[1], call.get("k", int, 0), wanted)


@operator("Cast")
def _cast_to(call: Call, x: Tensor) -> Tensor:
    return _cast(call, x, type_called(call.get("to", int)))


@operator("CastLike", since=15)
def _cast_like(call: Call, x: Tensor, like: Tensor) -> Tensor:
    return _cast(call, x, like.dtype)


def _cast(call: Call, x: Tensor, wanted: DType) -> Tensor:
    """saturate and round_mode apply only to 8-bit floating types."""
    saturate, mode = call.flag("saturate", True), call.choice("round_mode", "up", "down", "nearest")
    if x.dtype == wanted or wanted.bits != 8 or not wanted.is_floating:
        return x.astype(wanted)
    number = x.astype(float32)
    if wanted == float8_e8m0fnu:
        return _power_of_two(number, mode, saturate).astype(wanted)
    return (saturated(number, wanted) if saturate else number).astype(wanted)


def saturated(x: Tensor, dtype: DType) -> Tensor:
    """Numbers clamped to the range of a floating type; NaN stays."""
    largest = FORMATS[dtype].largest
    return f.where(f.isnan(x), x, f.clip(x, -largest, largest))


def _power_of_two(x: Tensor, mode: str, saturate: bool) -> Tensor:
    """Rounds up or down to a power of two, by keeping only the exponent bits."""
    bits = f.bitcast(x, uint32)
    if mode != "nearest":
        added = bits + 0x7FFFFF if mode == "up" else bits
        power = f.bitcast(f.bitwise_and(added, 0x7F800000), float32)
        # Numbers up to the smallest power, 2 ** -127, are subnormal in float32.
        x = f.where(f.logical_or(bits <= 0x400000, f.isnan(x)), x, power)
    if saturate:
        return f.where(f.isnan(x), x, f.minimum(x, 2.0**127))
    return f.where(f.equal(bits, 0), math.nan, x)
