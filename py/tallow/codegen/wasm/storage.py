"""Elements in the memory of WebAssembly: as they are on the host, a bool in a byte.

A float16 is computed as f32, from and to which it is converted by its bits.
"""

from __future__ import annotations

from collections.abc import Callable

from ... import dtype as dt
from ...dtype import DType
from ...ops.formulas import to_half
from ...scalar import Scalar, absolute, bitcast, bits, cast, number, operand, select
from .arithmetic import Arithmetic
from .assembler import Function
from .values import UnsupportedError, kind_of

_NARROW = {
    "bool": "load8_u", "uint8": "load8_u", "int8": "load8_s", "uint16": "load16_u",
    "int16": "load16_s", "float16": "load16_u",
}  # fmt: skip


def has_lanes(dtype: DType) -> bool:
    """Whether four elements can be loaded and stored as a vector."""
    return dtype.size == 4


def load(function: Function, dtype: DType, offset: int = 0, width: int = 1) -> None:
    """Replaces the address on the stack with the element there, or with four of them."""
    if width == 4:
        if not has_lanes(dtype):
            raise UnsupportedError(f"vectors of {dtype.name} in memory")
        function.emit("v128.load", offset)
    elif dtype.size >= 4:
        function.emit(f"{kind_of(dtype)}.load", offset)
    else:
        function.emit(f"i32.{_NARROW[dtype.name]}", offset)
        if dtype == dt.bool_:  # some write other bytes than 1 for true
            function.emit("i32.const", 0)
            function.emit("i32.ne")
        if dtype == dt.float16:
            _through(function, _widened, dt.uint32)


def store(function: Function, dtype: DType, offset: int = 0, width: int = 1) -> None:
    """Stores what is on the stack at the address below it."""
    if width == 4:
        if not has_lanes(dtype):
            raise UnsupportedError(f"vectors of {dtype.name} in memory")
        function.emit("v128.store", offset)
    elif dtype.size >= 4:
        function.emit(f"{kind_of(dtype)}.store", offset)
    else:
        if dtype == dt.float16:
            _through(function, _narrowed, dt.float32)
        function.emit(f"i32.store{8 * dtype.size}", offset)


def _through(function: Function, convert: Callable[[Scalar], Scalar], dtype: DType) -> None:
    """Applies a function of a scalar to what is on the stack."""
    local = function.local(kind_of(dtype))
    function.emit("local.set", local)
    expression = convert(operand(0, dtype))
    Arithmetic(function).push(expression, [lambda: function.emit("local.get", local)])


def _widened(half: Scalar) -> Scalar:
    """The float32 that is equal to a float16, given by its bits."""
    size = (half & 0x7FFF) << 13
    finite = bits(bitcast(size, dt.float32) * 2.0**112)
    other = size | 0x7F800000
    whole = select(size >= 0x0F800000, other, finite)
    return bitcast(whole | (half & 0x8000) << 16, dt.float32)


def _narrowed(x: Scalar) -> Scalar:
    """The bits of the float16 next to a float32."""
    size = bits(absolute(to_half(x)))
    small = cast(bitcast(size, dt.float32) * 2.0**24, dt.uint32)
    normal = (size >> 13) - 0x1C000
    finite = select(size < 0x38800000, small, normal)
    infinite = select(size > 0x7F800000, number(0x7E00, size.dtype), 0x7C00)
    other = select(size >= 0x7F800000, infinite, finite)
    return other | (bits(x) & 0x80000000) >> 16
