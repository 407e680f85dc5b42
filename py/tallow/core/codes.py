"""The formats of coded types (dtype.py): what a code means, and how elements are packed in bytes.

Sources: bfloat16 is the upper half of a float32; float8 e4m3fn and e5m2 are of Micikevicius et al.
2022, "FP8 Formats for Deep Learning", their fnuz forms of Noune et al. 2022, "8-bit Numerical
Formats for Deep Neural Networks"; float4 e2m1 and float8 e8m0 of the OCP Microscaling Formats
specification 1.0. ONNX packs elements of less than a byte from the low bits on.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from . import dtype as dt
from .dtype import DType


@dataclass(frozen=True, slots=True)
class Format:
    """A sign, `exponent` bits, `mantissa` bits; numbers below 2 ** (1 - bias) are subnormal.

    beyond: what is too large becomes, in a cast: "inf", "nan" or "largest". unsigned_zero: there
    is no -0, its code is that of NaN.
    """

    exponent: int
    mantissa: int
    bias: int
    largest: float
    beyond: str
    unsigned_zero: bool = False

    @property
    def least_normal(self) -> float:
        """The smallest positive normal number."""
        return 2.0 ** (1 - self.bias)


FORMATS = {
    dt.bfloat16: Format(8, 7, 127, 255 * 2.0**120, "inf"),
    dt.float8_e4m3fn: Format(4, 3, 7, 448.0, "nan"),
    dt.float8_e4m3fnuz: Format(4, 3, 8, 240.0, "nan", True),
    dt.float8_e5m2: Format(5, 2, 15, 57344.0, "inf"),
    dt.float8_e5m2fnuz: Format(5, 2, 16, 57344.0, "nan", True),
    dt.float4_e2m1fn: Format(2, 1, 1, 6.0, "largest"),
}
"""All but e8m0, which is an exponent alone: 2 ** (code - 127), 255 for NaN."""


@cache
def values_of(dtype: DType) -> tuple[float, ...]:
    """What each code of a type of up to 8 bits means."""
    count = 1 << dtype.bits
    if dtype.kind == "u":
        return tuple(range(count))
    if dtype.kind == "i":
        return tuple(code - count if code >= count // 2 else code for code in range(count))
    if dtype == dt.float8_e8m0fnu:
        return (*(2.0 ** (code - 127) for code in range(255)), math.nan)
    form = FORMATS[dtype]
    half = [_positive(form, code) for code in range(count // 2)]
    values = half + [-value for value in half]
    if form.unsigned_zero:
        values[count // 2] = math.nan
    return tuple(values)


def _positive(form: Format, code: int) -> float:
    exponent, mantissa = code >> form.mantissa, code & (1 << form.mantissa) - 1
    if not exponent:
        return mantissa * form.least_normal / (1 << form.mantissa)
    value = (1 + mantissa / (1 << form.mantissa)) * 2.0 ** (exponent - form.bias)
    if value <= form.largest:
        return value
    return math.inf if form.beyond == "inf" and not mantissa else math.nan


def decoded(words: Iterable[int], dtype: DType) -> list[Any]:
    """Codes, one by one, as Python numbers."""
    if dtype == dt.bfloat16:
        wide = [struct.pack("<I", code << 16) for code in words]
        return [item[0] for item in struct.iter_unpack("<f", b"".join(wide))]
    values = values_of(dtype)
    return [values[code] for code in words]


def encoded(value: float, dtype: DType) -> int:
    """The code of a Python number: the nearest, halves to even; integers wrap round."""
    if dtype.is_integer:
        return int(value) & (1 << dtype.bits) - 1
    if dtype == dt.float8_e8m0fnu:
        return _exponent(float(value))
    form, number = FORMATS[dtype], float(value)
    sign = int(math.copysign(1, number) < 0) << dtype.bits - 1
    if dtype == dt.bfloat16:
        return _upper_half(number)
    top = 1 << dtype.bits - 1
    if math.isnan(number):
        if form.unsigned_zero or form.beyond == "largest":  # float4 has none, and gives -0
            return top
        return sign | top - 1 - (form.beyond == "inf")
    code = _nearest(dtype, form, abs(number))
    return code if form.unsigned_zero and code in (0, top) else sign | code


@cache
def _finite(dtype: DType) -> list[float]:
    """The values of the codes from 0 up to that of the largest finite number."""
    half = values_of(dtype)[: 1 << dtype.bits - 1]
    return [value for value in half if math.isfinite(value)]


def _nearest(dtype: DType, form: Format, size: float) -> int:
    """The code of a number that is not negative, infinite ones included."""
    values = _finite(dtype)
    at = bisect_left(values, size)
    last = len(values) - 1
    if at > last:
        step = values[last] - values[last - 1]
        over = (size - values[last]) / step
        if form.beyond == "largest" or over < 0.5 or (over == 0.5 and last % 2 == 0):
            return last
        if form.unsigned_zero:
            return 1 << dtype.bits - 1
        return last + 1  # infinity, or the one NaN that follows
    if at == 0 or values[at] == size:
        return at
    below, above = size - values[at - 1], values[at] - size
    return at if above < below or (above == below and at % 2 == 0) else at - 1


def _upper_half(number: float) -> int:
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", number))
    except OverflowError:
        return 0x7F80 if number > 0 else 0xFF80
    if math.isnan(number):
        return int(bits >> 16 | 0x40)
    return int(bits + 0x7FFF + (bits >> 16 & 1) >> 16)


def _exponent(number: float) -> int:
    if math.isnan(number) or number < 0 or math.isinf(number):
        return 255
    if number < 1.5 * 2.0**-127:
        return 0
    fraction, exponent = math.frexp(number)  # fraction from 0.5 up to 1
    return min(exponent - 1 + (fraction >= 0.75) + 127, 255)


# ---- bytes ------------------------------------------------------------------------------------


def packed_bytes(dtype: DType, count: int) -> int:
    """The bytes that hold a number of elements."""
    return -(-count * dtype.bits // 8)


def unpack(data: memoryview, dtype: DType, count: int) -> memoryview:
    """Packed data as words, one an element."""
    if not dtype.narrow_bits:
        return data
    per_byte, mask = 8 // dtype.bits, (1 << dtype.bits) - 1
    words, packed = bytearray(per_byte * len(data)), bytes(data)
    for index in range(per_byte):
        table = bytes(code >> index * dtype.bits & mask for code in range(256))
        words[index::per_byte] = packed.translate(table)
    return memoryview(words)[:count]


def pack(words: memoryview, dtype: DType) -> memoryview:
    """Words, one an element, of which only the low bits count, as packed data."""
    if not dtype.narrow_bits:
        return words
    per_byte, mask, count = 8 // dtype.bits, (1 << dtype.bits) - 1, len(words)
    full = bytes(words) + bytes(-count % per_byte)
    total = 0
    for index in range(per_byte):
        table = bytes((code & mask) << index * dtype.bits for code in range(256))
        total |= int.from_bytes(full[index::per_byte].translate(table), "little")
    return memoryview(total.to_bytes(len(full) // per_byte, "little"))
