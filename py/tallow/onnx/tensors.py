"""TensorProto to HostArray, sizes checked before anything is allocated."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

from .. import dtype as dt
from ..dtype import DType
from ..errors import OnnxFormatError, OnnxUnsupportedError
from ..hostarray import HostArray
from ..shape import size_of
from .external import ExternalFiles
from .proto import text


@dataclass(frozen=True, slots=True)
class Stored:
    """How ONNX stores a type: bytes of an element in a file, the field for plain numbers, and
    the letter of those numbers in Python's `array`."""

    dtype: DType
    size: int
    field: str
    code: str


STORED = {
    1: Stored(dt.float32, 4, "float_data", "f"),
    2: Stored(dt.uint8, 1, "int32_data", "B"),
    3: Stored(dt.int8, 1, "int32_data", "b"),
    4: Stored(dt.uint16, 2, "int32_data", "H"),
    5: Stored(dt.int16, 2, "int32_data", "h"),
    6: Stored(dt.int32, 4, "int32_data", "i"),
    7: Stored(dt.int64, 8, "int64_data", "q"),
    9: Stored(dt.bool_, 1, "int32_data", "B"),
    10: Stored(dt.float16, 2, "int32_data", "H"),
    11: Stored(dt.float64, 8, "double_data", "d"),
    12: Stored(dt.uint32, 4, "uint64_data", "I"),
    13: Stored(dt.uint64, 8, "uint64_data", "Q"),
}
"""By TensorProto.DataType."""

_BFLOAT16 = 16
_BFLOAT16_STORED = Stored(dt.float32, 2, "int32_data", "H")  # widened: it is float32's upper half

_OTHERS = {
    0: "undefined", 8: "string", 14: "complex64", 15: "complex128", 16: "bfloat16",
    17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4",
    22: "int4", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
}  # fmt: skip

_AS_BOOL = bytes([0, *[1] * 255])


def type_name(number: int) -> str:
    """ONNX's element type in words."""
    if number in STORED:
        return STORED[number].dtype.name
    return _OTHERS.get(number, f"type number {number}")


def dtype_of(number: int) -> DType | None:
    """The DType of an ONNX element type; None if Tallow has none."""
    stored = STORED.get(number)
    return stored.dtype if stored else None


def type_called(number: int) -> DType:
    """The DType of an ONNX element type; OnnxUnsupportedError if Tallow has none."""
    dtype = dtype_of(number)
    if dtype is None:
        raise OnnxUnsupportedError(f"the type {type_name(number)}")
    return dtype


def read(tensor: Any, what: str, external: ExternalFiles) -> HostArray:
    """The elements of a TensorProto, without a copy where they lie as raw little-endian bytes.

    what: names the tensor in messages. Raises OnnxFormatError where shape and data do not fit,
    OnnxUnsupportedError for a type that Tallow does not have. bfloat16 becomes float32.
    """
    shape = tuple(tensor.dims)
    if any(dim < 0 for dim in shape):
        raise OnnxFormatError(f"{what} has a negative dimension: {shape}")
    number = tensor.data_type
    stored = _BFLOAT16_STORED if number == _BFLOAT16 else STORED.get(number)
    if stored is None:
        raise OnnxUnsupportedError(f"{what} is of type {type_name(number)}")
    name = type_name(number)
    count = size_of(shape)
    needed = count * stored.size
    if tensor.data_location == 1:
        entries = {text(entry.key): text(entry.value) for entry in tensor.external_data}
        raw: Any = external.read(entries, needed, f"{what}, {name} {shape},")
    elif tensor.HasField("raw_data"):
        raw = tensor.raw_data
        if len(raw) != needed:
            raise OnnxFormatError(
                f"{what}: {name} {shape} needs {needed:,} bytes, the file holds {len(raw):,}"
            )
    else:
        values = getattr(tensor, stored.field)
        if len(values) != count:
            raise OnnxFormatError(
                f"{what}: {name} {shape} needs {count:,} elements ({needed:,} bytes), "
                f"the file holds {len(values):,} ({len(values) * stored.size:,} bytes)"
            )
        try:
            raw = array(stored.code, values)
        except (OverflowError, TypeError, ValueError) as error:
            raise OnnxFormatError(f"{what}: a value does not fit {name}: {error}") from error
    return _host(raw, shape, stored)


def _host(raw: Any, shape: tuple[int, ...], stored: Stored) -> HostArray:
    view = memoryview(raw).cast("B") if raw else memoryview(b"")
    if stored is _BFLOAT16_STORED:
        wide = bytearray(2 * len(view))
        wide[2::4] = view[0::2]
        wide[3::4] = view[1::2]
        view = memoryview(wide)
    elif stored.dtype == dt.bool_:
        view = memoryview(bytes(view).translate(_AS_BOOL))
    return HostArray(view, shape, stored.dtype)
