"""Elements in the memory of WebAssembly: as they are on the host, a bool in a byte.

A float16 is computed as f32, from and to which it is converted by its bits.
"""

from __future__ import annotations

from collections.abc import Callable

from ....core import dtype as dt
from ....core.dtype import DType
from ....ops.formulas import to_half
from ....scalar import Scalar, absolute, bitcast, bits, cast, number, operand, select
from .arithmetic import Arithmetic
from .assembler import Function
from .values import UnsupportedError, constant, kind_of

_NARROW = {
    "bool": "load8_u", "uint8": "load8_u", "int8": "load8_s", "uint16": "load16_u",
    "int16": "load16_s", "float16": "load16_u",
}  # fmt: skip


def has_lanes(dtype: DType) -> bool:
    """Whether four elements can be loaded and stored as a vector."""
    return dtype.size <= 4


def load(function: Function, dtype: DType, offset: int = 0, width: int = 1) -> None:
    """Replaces the address on the stack with the element there, or with four of them."""
    if width == 4:
        _load_lanes(function, dtype, offset)
    elif dtype.size >= 4:
        function.emit(f"{kind_of(dtype)}.load", offset)
    else:
        function.emit(f"i32.{_NARROW[dtype.name]}", offset)
        if dtype == dt.bool_:  # some write other bytes than 1 for true
            function.apply("i32.ne", number=0)
        if dtype == dt.float16:
            _through(function, _widened, dt.uint32, 1)


def _load_lanes(function: Function, dtype: DType, offset: int) -> None:
    sign = "s" if dtype.kind == "i" else "u"
    if dtype.size == 1:
        function.emit("v128.load32_zero", offset)
        function.emit(f"i16x8.extend_low_i8x16_{sign}")
        function.emit(f"i32x4.extend_low_i16x8_{sign}")
    elif dtype.size == 2:
        function.emit(f"v128.load16x4_{sign}", offset)
    elif dtype.size == 4:
        function.emit("v128.load", offset)
    else:
        raise UnsupportedError(f"vectors of {dtype.name} in memory")
    if dtype == dt.bool_:
        constant(function, 0, dt.uint32, 4)
        function.emit("i32x4.ne")
    if dtype == dt.float16:
        _through(function, _widened, dt.uint32, 4)


def store(function: Function, dtype: DType, offset: int = 0, width: int = 1) -> None:
    """Stores what is on the stack at the address below it."""
    if width == 4:
        _store_lanes(function, dtype, offset)
    elif dtype.size >= 4:
        function.emit(f"{kind_of(dtype)}.store", offset)
    else:
        if dtype == dt.float16:
            _through(function, _narrowed, dt.float32, 1)
        function.emit(f"i32.store{8 * dtype.size}", offset)


def _store_lanes(function: Function, dtype: DType, offset: int) -> None:
    if dtype == dt.bool_:
        constant(function, 1, dt.uint32, 4)
        function.emit("v128.and")
    if dtype == dt.float16:
        _through(function, _narrowed, dt.float32, 4)
    if dtype.size == 4:
        function.emit("v128.store", offset)
        return
    if dtype.size > 4:
        raise UnsupportedError(f"vectors of {dtype.name} in memory")
    # They are in the range of the type, so that nothing saturates.
    sign = "s" if dtype.kind == "i" else "u"
    _halved(function, f"i16x8.narrow_i32x4_{sign if dtype.size == 2 else 's'}")
    if dtype.size == 2:
        function.emit("i64x2.extract_lane", 0)
        function.emit("i64.store", offset)
        return
    _halved(function, f"i8x16.narrow_i16x8_{sign}")
    function.emit("i32x4.extract_lane", 0)
    function.emit("i32.store", offset)


def _halved(function: Function, narrow: str) -> None:
    """Narrows a vector to its lower half; the upper one repeats it."""
    local = function.local("v128")
    function.emit("local.tee", local)
    function.apply(narrow, local)


def _through(
    function: Function, convert: Callable[[Scalar], Scalar], dtype: DType, width: int
) -> None:
    """Applies a function of a scalar to what is on the stack."""
    local = function.local(kind_of(dtype, width))
    function.emit("local.set", local)
    expression = convert(operand(0, dtype))
    Arithmetic(function, width).push(expression, [lambda: function.emit("local.get", local)])


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
    small = bits(cast(bitcast(size, dt.float32) * 2.0**24, dt.int32))
    normal = (size >> 13) - 0x1C000
    finite = select(size < 0x38800000, small, normal)
    infinite = select(size > 0x7F800000, number(0x7E00, size.dtype), 0x7C00)
    other = select(size >= 0x7F800000, infinite, finite)
    return other | (bits(x) & 0x80000000) >> 16
