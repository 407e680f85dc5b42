"""Reductions of operands with any strides, one element after the other."""

from __future__ import annotations

from functools import partial

from .....core.dtype import DType, float32, float64, int32
from .....ops.kinds import Reduce
from .....scalar import operand
from .. import storage
from ..arithmetic import Arithmetic
from ..assembler import Function
from ..reductions import push_wins, start_of
from ..values import constant, kind_of
from .writer import Writer


def reduction(op: Reduce, dtype: DType, kept: int, folded: int) -> Function:
    """The function of a reduction of `folded` axes."""
    loops = kept + folded
    writer = Writer(2, loops + loops + kept)
    function, emit = writer.function, writer.emit
    # One by one, a long sum or product loses its last digits in float32.
    wide = dtype == float32 and not isinstance(op.start, str)
    inner = float64 if wide else dtype
    total, item = function.local(kind_of(inner)), function.local(kind_of(inner))
    index, best = function.local("i32"), function.local("i32")
    combined = op.combine(operand(0, inner), operand(1, inner))
    pushes = [partial(emit, "local.get", total), partial(emit, "local.get", item)]

    def load() -> None:
        emit("local.get", 0)
        storage.load(function, dtype)
        if wide:
            emit("f64.promote_f32")
        emit("local.set", item)

    def fold() -> None:
        load()
        if op.indexed:
            wins()
            return
        Arithmetic(function).push(combined, pushes)
        emit("local.set", total)

    def wins() -> None:
        """The first that no other beats."""
        push_wins(function, op, dtype, total, item)
        emit("if")
        for source, target in ((item, total), (index, best)):
            emit("local.get", source)
            emit("local.set", target)
        emit("end")
        writer.add(index, 1)

    def nest(loop: int) -> None:
        if loop == kept:
            constant(function, start_of(op, inner), inner)
            emit("local.set", total)
            for local in (index, best):
                emit("i32.const", 0)
                emit("local.set", local)
        if loop == loops:
            fold()
        else:
            writer.times(2 + loop, partial(turn, loop))
        if loop == kept:
            emit("local.get", 1)
            emit("local.get", best if op.indexed else total)
            if wide:
                emit("f32.demote_f64")
            storage.store(function, int32 if op.indexed else dtype)

    def turn(loop: int) -> None:
        nest(loop + 1)
        writer.advance(0, 2 + loops + loop)
        if loop < kept:
            writer.advance(1, 2 + 2 * loops + loop)

    nest(0)
    return function
