"""Turns a TensorProto into a HostArray; checks sizes before allocating."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....core import dtype as dt
from ....core.codes import packed_bytes
from ....core.dtype import DType
from ....core.hostarray import HostArray, StringArray
from ....core.shape import MAX_AXES, size_of
from ....errors import OnnxFormatError, OnnxUnsupportedError
from .external import ExternalFiles, StreamedRange
from .proto import text

if TYPE_CHECKING:
    from ....arrays import Array
    from .proto import onnx_ml_pb2 as onnx


@dataclass(frozen=True, slots=True)
class Stored:
    """How ONNX stores a type: the field for numbers, and their type code in Python's `array`. For
    elements smaller than a byte, each number packs several."""

    dtype: DType
    field: str
    code: str


STORED = {
    1: Stored(dt.float32, "float_data", "f"),
    2: Stored(dt.uint8, "int32_data", "B"),
    3: Stored(dt.int8, "int32_data", "b"),
    4: Stored(dt.uint16, "int32_data", "H"),
    5: Stored(dt.int16, "int32_data", "h"),
    6: Stored(dt.int32, "int32_data", "i"),
    7: Stored(dt.int64, "int64_data", "q"),
    9: Stored(dt.bool_, "int32_data", "B"),
    10: Stored(dt.float16, "int32_data", "H"),
    11: Stored(dt.float64, "double_data", "d"),
    12: Stored(dt.uint32, "uint64_data", "I"),
    13: Stored(dt.uint64, "uint64_data", "Q"),
    16: Stored(dt.bfloat16, "int32_data", "H"),
    17: Stored(dt.float8_e4m3fn, "int32_data", "B"),
    18: Stored(dt.float8_e4m3fnuz, "int32_data", "B"),
    19: Stored(dt.float8_e5m2, "int32_data", "B"),
    20: Stored(dt.float8_e5m2fnuz, "int32_data", "B"),
    21: Stored(dt.uint4, "int32_data", "B"),
    22: Stored(dt.int4, "int32_data", "B"),
    23: Stored(dt.float4_e2m1fn, "int32_data", "B"),
    24: Stored(dt.float8_e8m0fnu, "int32_data", "B"),
    25: Stored(dt.uint2, "int32_data", "B"),
    26: Stored(dt.int2, "int32_data", "B"),
}
"""By TensorProto.DataType."""

_NUMBERS = {"float_data": 4, "int32_data": 5, "int64_data": 7, "double_data": 10, "uint64_data": 11}
"""The numbers of these fields."""

STRING = 8
_OTHERS = {0: "undefined", STRING: "string", 14: "complex64", 15: "complex128"}

_AS_BOOL = bytes([0, *[1] * 255])


def type_name(number: int) -> str:
    """The name of an ONNX element type."""
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


def read(
    tensor: onnx.TensorProto, what: str, external: ExternalFiles, taken: Mapping[Any, Any] = {}
) -> HostArray | StringArray:
    """The elements of a TensorProto, without a copy if they are raw little-endian bytes.

    what: names the tensor in messages. taken: the fields that the tensor lacks (wire.py). Raises
    OnnxFormatError if shape and data do not fit, OnnxUnsupportedError for a type that Tallow lacks.
    """
    shape = tuple(tensor.dims)
    if any(dim < 0 for dim in shape):
        raise OnnxFormatError(f"{what} has a negative dimension: {shape}")
    if len(shape) > MAX_AXES:
        raise OnnxFormatError(f"{what} has {len(shape)} axes; at most {MAX_AXES} are supported")
    number = tensor.data_type
    if number == STRING:
        return _strings(tensor, shape, what)
    stored = STORED.get(number)
    if stored is None:
        raise OnnxUnsupportedError(f"{what} is of type {type_name(number)}")
    name = type_name(number)
    count = size_of(shape)
    needed = packed_bytes(stored.dtype, count)
    if tensor.data_location == 1:
        entries = {text(entry.key): text(entry.value) for entry in tensor.external_data}
        raw: Any = external.read(entries, needed, f"{what}, {name} {shape},")
        if isinstance(raw, StreamedRange):
            if stored.dtype == dt.bool_:  # its bytes must be normalized
                raise OnnxUnsupportedError(f"{what} is of type bool, which can't be streamed")
            return raw.file.array(raw.offset, shape, stored.dtype)
    elif 9 in taken or tensor.HasField("raw_data"):
        raw = taken.get(9, tensor.raw_data)
        if len(raw) != needed:
            raise OnnxFormatError(
                f"{what}: {name} {shape} needs {needed:,} bytes, but the file has {len(raw):,}"
            )
    else:
        numbers: Array | array[float] | None = taken.get(_NUMBERS[stored.field])
        size = stored.dtype.size
        values = getattr(tensor, stored.field) if numbers is None else numbers
        if len(values) * size != needed:
            raise OnnxFormatError(
                f"{what}: {name} {shape} needs {needed // size:,} elements ({needed:,} bytes), "
                f"but the file has {len(values):,} ({len(values) * size:,} bytes)"
            )
        try:
            if numbers is None or isinstance(numbers, array):
                raw = array(stored.code, values)
            else:
                raw = _narrowed(numbers, stored)
        except (OverflowError, TypeError, ValueError) as error:
            raise OnnxFormatError(f"{what}: a value does not fit {name}: {error}") from error
    return _host(raw, shape, stored)


def _narrowed(numbers: Array, stored: Stored) -> memoryview:
    """The bytes of an array in the type of stored elements; OverflowError for a number that does
    not fit."""
    if numbers.dtype == stored.code:
        return memoryview(numbers)
    size = array(stored.code).itemsize
    low = -(1 << 8 * size - 1) if stored.code.islower() else 0
    high = low + (1 << 8 * size) - 1
    for number in (numbers.min().item(), numbers.max().item()):
        if not low <= number <= high:
            raise OverflowError(f"{number} is not in {low} to {high}")
    return memoryview(numbers.astype(stored.code))


def _host(
    raw: bytes | memoryview | array[float], shape: tuple[int, ...], stored: Stored
) -> HostArray:
    view = memoryview(raw).cast("B") if len(raw) else memoryview(b"")
    if stored.dtype == dt.bool_:
        view = memoryview(bytes(view).translate(_AS_BOOL))
    return HostArray(view, shape, stored.dtype)


def _strings(tensor: onnx.TensorProto, shape: tuple[int, ...], what: str) -> StringArray:
    if len(tensor.string_data) != size_of(shape):
        raise OnnxFormatError(
            f"{what}: string {shape} needs {size_of(shape):,} strings, "
            f"but the file has {len(tensor.string_data):,}"
        )
    try:
        return StringArray(tuple(item.decode() for item in tensor.string_data), shape)
    except UnicodeDecodeError as error:
        raise OnnxFormatError(f"{what}: a string in it is not UTF-8 ({error})") from error
