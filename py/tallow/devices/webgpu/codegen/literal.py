"""WGSL's spelling of types and numbers."""

from __future__ import annotations

import math
import struct

from ....core.dtype import DType, device_type

SCALARS = {"bool": "bool", "int32": "i32", "uint32": "u32", "float32": "f32"}
"""The types that WGSL computes, by the names of core/dtype.py."""

_VEC4 = {"f32": "vec4f", "i32": "vec4i", "u32": "vec4u", "bool": "vec4<bool>"}

# WGSL refuses constants that are not finite, so these are read from memory as bits.
PRIVATE_BITS = {
    "nan_bits": "0x7fc00000u",
    "inf_bits": "0x7f800000u",
    "minus_inf_bits": "0xff800000u",
}


def type_of(dtype: DType, width: int = 1) -> str:
    """The WGSL type of one element, or of four side by side."""
    scalar = SCALARS[device_type(dtype).name]
    return _VEC4[scalar] if width == 4 else scalar


def suffix_of(dtype: DType, width: int) -> str:
    """What keeps the helper functions for different types apart."""
    scalar = SCALARS[device_type(dtype).name]
    return f"{scalar}x4" if width == 4 else scalar


_GREATEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
"""Of the finite float32."""


def number(value: float, dtype: DType) -> str:
    """A Python number, exactly, as a WGSL expression."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "u":
        return f"{int(value)}u"
    if dtype.kind == "i":
        if value == -(2**31):
            return "(-2147483647i - 1i)"
        return f"({int(value)}i)" if value < 0 else f"{int(value)}i"
    if math.isnan(value):
        return "bitcast<f32>(nan_bits)"
    rounded = _single(value)
    if math.isinf(rounded):
        return f"bitcast<f32>({'minus_' if value < 0 else ''}inf_bits)"
    # Nine digits tell every float32 from its neighbours; compilers refuse what is more than the
    # greatest, though it would be rounded to that.
    texts = (f"{rounded:.{digits}g}" for digits in range(1, 18))
    text = next(t for t in texts if abs(float(t)) <= _GREATEST and _single(float(t)) == rounded)
    return f"({text}f)" if text.startswith("-") else f"{text}f"


def _single(value: float) -> float:
    """The float32 next to a number; infinite beyond the last one."""
    try:
        single: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return single


def splat(text: str, dtype: DType, width: int) -> str:
    """One value as `width` equal ones."""
    return f"{type_of(dtype, 4)}({text})" if width == 4 else text


def magnitude(text: str, width: int) -> str:
    """The bits of a float without its sign, which are in the order of magnitudes, NaN last."""
    words = "vec4u" if width == 4 else "u32"
    return f"(bitcast<{words}>({text}) & {words}(0x7fffffffu))"


def is_nan(text: str, width: int) -> str:
    """The test whether a float is NaN, by its bits: compilers may assume that no NaN occurs."""
    words = "vec4u" if width == 4 else "u32"
    return f"({magnitude(text, width)} > {words}(0x7f800000u))"


def lowest(dtype: DType) -> str:
    """The least value of a type."""
    if dtype.kind == "f":
        return "bitcast<f32>(minus_inf_bits)"
    return "0u" if dtype.kind == "u" else "(-2147483647i - 1i)"


def highest(dtype: DType) -> str:
    """The greatest value of a type."""
    if dtype.kind == "f":
        return "bitcast<f32>(inf_bits)"
    return "4294967295u" if dtype.kind == "u" else "2147483647i"
