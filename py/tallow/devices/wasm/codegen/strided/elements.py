"""Elementwise ops, and copies, over operands with any strides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .....core.dtype import DType, bool_
from .....ops.kinds import Attrs, Elementwise
from .....scalar import Scalar, operand
from .. import storage
from ..arithmetic import Arithmetic
from ..assembler import Function
from ..values import kind_of
from .writer import Writer


def elementwise(
    op: Elementwise | None,
    attrs: Attrs,
    types: tuple[DType, ...],
    loops: int,
    lanes: str,
    width: int,
) -> Function:
    """The function of an op, or of a copy (None), over `loops` axes."""
    count = len(types)
    writer = Writer(count, loops + loops * count)
    function, emit = writer.function, writer.emit
    scalars = [operand(number, dtype) for number, dtype in enumerate(types[:-1])]
    expression: Scalar = op.scalar(*scalars, **attrs) if op else scalars[0]

    def step(loop: int, pointer: int) -> int:
        return count + loops + loop * count + pointer

    def compute(values: Sequence[int], lane_count: int) -> None:
        """Writes the result for operands in locals."""
        emit("local.get", count - 1)
        pushes = [partial(emit, "local.get", value) for value in values]
        Arithmetic(function, lane_count).push(expression, pushes)
        storage.store(function, types[-1], 0, lane_count)

    def load(pointer: int, lane_count: int) -> int:
        emit("local.get", pointer)
        storage.load(function, types[pointer], 0, lane_count)
        local = function.local(kind_of(types[pointer], lane_count))
        emit("local.set", local)
        return local

    def one() -> None:
        compute([load(pointer, 1) for pointer in range(count - 1)], 1)
        for pointer in range(count):
            writer.advance(pointer, step(loops - 1, pointer))

    def vectors() -> None:
        left = writer.copied(count + loops - 1)
        single = {n: load(n, 1) for n, lane in enumerate(lanes[:-1]) if lane == "s"}
        spread = {n: _splat(function, types[n], local) for n, local in single.items()}
        for size, same in ((4, spread), (1, single)):

            def turn(size: int = size, same: dict[int, int] = same) -> None:
                values = [same[n] if n in same else load(n, size) for n in range(count - 1)]
                compute(values, size)
                for pointer, lane in enumerate(lanes):
                    if lane == "c":
                        writer.add(pointer, size * types[pointer].size)

            writer.by(left, size, turn)

    def nest(loop: int) -> None:
        if loop == loops - 1:
            if width == 4:
                vectors()
            else:
                writer.times(count + loop, one)
            return

        def turn() -> None:
            nest(loop + 1)
            for pointer in range(count):
                writer.advance(pointer, step(loop, pointer))

        writer.times(count + loop, turn)

    nest(0)
    return function


def _splat(function: Function, dtype: DType, local: int) -> int:
    """A local with four times the value of another one."""
    kind_of(dtype, 4)
    if dtype == bool_:  # in a vector, true is all bits of a lane
        function.emit("i32.const", 0)
    function.emit("local.get", local)
    if dtype == bool_:
        function.emit("i32.sub")
    function.emit("f32x4.splat" if dtype.kind == "f" else "i32x4.splat")
    made = function.local("v128")
    function.emit("local.set", made)
    return made
