"""Rows by indices."""

from __future__ import annotations

from .....core.dtype import DType
from .. import storage
from ..assembler import Function
from ..values import kind_of
from .writer import Writer

TAKE_SIZES = ("outer", "indices", "units", "length", "row", "all")
"""What `take` takes behind the addresses of the rows, of the indices and of the result: how often
all indices are looked up, how many they are, the units of a row, how many rows there are, the bytes
of a row and of all rows."""


def take(index: DType, unit: int) -> Function:
    """The function of `take` for elements of `unit` bytes."""
    writer = Writer(3, len(TAKE_SIZES))
    function, emit = writer.function, writer.emit
    size = {name: 3 + number for number, name in enumerate(TAKE_SIZES)}
    kind = kind_of(index)
    given, at = function.local(kind), function.local("i32")
    source, target = function.local("i32"), function.local("i32")
    access = {1: "i32.{}8", 2: "i32.{}16", 4: "i32.{}", 8: "i64.{}", 16: "v128.{}"}[unit]

    def length() -> None:
        emit("local.get", size["length"])
        if kind == "i64":
            emit("i64.extend_i32_u")

    def row() -> None:
        emit("local.get", at)
        storage.load(function, index)
        emit("local.set", given)
        writer.add(at, index.size)
        if index.kind == "i":  # a negative one counts from the end
            emit("local.get", given)
            length()
            emit(f"{kind}.add")
            emit("local.get", given)
            function.apply(f"{kind}.lt_s", given, number=0)
            function.apply("select", into=given)
        # Out of range it is the last: the host refuses such indices where it knows them.
        emit("local.get", given)
        length()
        function.apply(f"{kind}.sub", number=1)
        emit("local.get", given)
        length()
        emit(f"{kind}.lt_u")
        emit("select")
        if kind == "i64":
            emit("i32.wrap_i64")
        function.apply("i32.mul", size["row"])
        function.apply("i32.add", 0, into=source)
        writer.times(size["units"], copy)

    def copy() -> None:
        emit("local.get", target)
        emit("local.get", source)
        load = access.format("load")
        emit(f"{load}_u" if unit < 4 else load, 0)
        emit(access.format("store"), 0)
        writer.add(source, unit)
        writer.add(target, unit)

    def every() -> None:
        emit("local.get", 1)
        emit("local.set", at)
        writer.times(size["indices"], row)
        writer.advance(0, size["all"])

    emit("local.get", 2)
    emit("local.set", target)
    writer.times(size["outer"], every)
    return function
