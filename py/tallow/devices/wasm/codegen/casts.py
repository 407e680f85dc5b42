"""Conversions of what is on the stack, one element or four, to another type."""

from __future__ import annotations

from ....core.dtype import DType
from .assembler import Function
from .values import UnsupportedError, constant, kind_of, shape_of, wrap


def bitcast(function: Function, source: DType, target: DType, width: int) -> None:
    """The same bits."""
    if target.size < 4 and target != source:
        if "f" in (target.kind, source.kind) or (width == 4 and "b" in (target.kind, source.kind)):
            raise UnsupportedError(f"bits of {source.name} as {target.name}")
        wrap(function, target, width)
        return
    new, old = kind_of(target, width), kind_of(source, width)
    if new != old:
        function.emit(f"{new}.reinterpret_{old}")


def cast(function: Function, source: DType, target: DType, width: int) -> None:
    """The same number, as far as the type holds it."""
    if source == target:
        return
    if width == 4:
        _lanes(function, source, target)
    elif target.kind == "b":
        constant(function, 0, source)
        function.emit(f"{kind_of(source)}.ne")
    else:
        _one(function, source, target)


def _one(function: Function, source: DType, target: DType) -> None:
    old, new = kind_of(source), kind_of(target)
    if target.name == "float16":
        raise UnsupportedError("float16")
    sign = "s" if source.kind == "i" else "u"
    if source.kind == "f" and target.kind == "f":
        if old != new:
            function.emit("f64.promote_f32" if new == "f64" else "f32.demote_f64")
    elif source.kind == "f":
        if target.size == 8 and target.kind == "u":
            _to_unsigned_64(function, old)
        elif _is_wide(target):
            function.emit(f"i64.trunc_sat_{old}_s")
            if new == "i32":
                function.emit("i32.wrap_i64")
        else:
            function.emit(f"i32.trunc_sat_{old}_s")
    elif target.kind == "f":
        function.emit(f"{new}.convert_{old}_{sign}")
    elif old != new:
        function.emit(f"i64.extend_i32_{sign}" if new == "i64" else "i32.wrap_i64")
    if source.kind == "f" or target.size < source.size or source.kind != target.kind:
        wrap(function, target)


def _is_wide(target: DType) -> bool:
    """Whether integers need more bits on the way than vectors have: a negative number wraps around
    to uint32. What is beyond the other types' range may give anything."""
    return target.size == 8 or target.name == "uint32"


def _to_unsigned_64(function: Function, kind: str) -> None:
    """A float on the stack as uint64; a negative one wraps around."""
    local = function.local(kind)
    function.emit("local.tee", local)
    function.emit(f"i64.trunc_sat_{kind}_s")
    function.apply(f"i64.trunc_sat_{kind}_u", local)
    function.apply(f"{kind}.lt", local, number=0.0)
    function.emit("select")


def _lanes(function: Function, source: DType, target: DType) -> None:
    if target.name == "float16":
        raise UnsupportedError("float16")
    if source.kind == "b":  # all bits, or none
        constant(function, 1, target, 4)
        function.emit("v128.and")
    elif target.kind == "b":
        constant(function, 0, source, 4)
        function.emit(f"{shape_of(source, 4)}.ne")
    elif source.kind == "f" and target.kind != "f":
        if _is_wide(target):
            raise UnsupportedError(f"vectors from floating to {target.name}")
        function.emit("i32x4.trunc_sat_f32x4_s")
        wrap(function, target, 4)
    elif source.kind != "f" and target.kind == "f":
        signed = source.kind == "i" or source.size < 4  # which takes fewer instructions
        function.emit(f"f32x4.convert_i32x4_{'s' if signed else 'u'}")
    elif target.size < source.size or source.kind != target.kind:
        wrap(function, target, 4)
