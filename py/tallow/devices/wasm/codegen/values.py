"""Values on the stack of WebAssembly: their types, numbers, and the range of narrow integers."""

from __future__ import annotations

import math

from ....core.dtype import DType
from .assembler import Function


class UnsupportedError(Exception):
    """Something that this code generator does not print; caught within devices/wasm/codegen."""


def kind_of(dtype: DType, width: int = 1) -> str:
    """The type of a value: one element, or four."""
    if width == 4:
        if dtype.size > 4:
            raise UnsupportedError(f"vectors of {dtype.name}")
        return "v128"
    if dtype.kind == "f":
        return "f64" if dtype.size == 8 else "f32"
    return "i64" if dtype.size == 8 else "i32"


def constant(function: Function, value: float, dtype: DType, width: int = 1) -> None:
    """Pushes a number."""
    if dtype.kind == "b":
        function.emit("i32.const", (-1 if width == 4 else 1) if value else 0)
    elif dtype.kind == "f":
        function.emit(f"{kind_of(dtype)}.const", _single(value) if dtype.size < 8 else value)
    else:
        size = 8 * dtype.size
        wrapped = int(value) & (1 << size) - 1
        negative = wrapped >> size - 1 and (dtype.kind == "i" or dtype.size >= 4)
        function.emit(f"{kind_of(dtype)}.const", wrapped - (1 << size) if negative else wrapped)
    if width == 4:
        function.emit("f32x4.splat" if dtype.kind == "f" else "i32x4.splat")


def _single(value: float) -> float:
    limit = 3.4028235677973366e38  # from here on it is rounded to infinity
    return math.copysign(math.inf, value) if abs(value) >= limit else float(value)


def shape_of(dtype: DType, width: int) -> str:
    """What the names of instructions on values of a type begin with."""
    kind = kind_of(dtype, width)
    if kind != "v128":
        return kind
    return "f32x4" if dtype.kind == "f" else "i32x4"


def wrap(function: Function, dtype: DType, width: int = 1) -> None:
    """Brings the integers on the stack into the range of a type of fewer bits."""
    if not dtype.is_integer or dtype.size >= 4:
        return
    if dtype.kind == "u":
        function.emit("i32.const", (1 << 8 * dtype.size) - 1)
        if width == 4:
            function.emit("i32x4.splat")
        function.emit("v128.and" if width == 4 else "i32.and")
    elif width == 4:
        for shift in ("i32x4.shl", "i32x4.shr_s"):
            function.apply(shift, number=32 - 8 * dtype.size)
    else:
        function.emit(f"i32.extend{8 * dtype.size}_s")
