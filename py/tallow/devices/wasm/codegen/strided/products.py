"""Products of matrices of float32, in tiles of some rows and two vectors of columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from .....core.dtype import float32
from ..assembler import Function
from ..values import constant
from .writer import Writer

_ROWS = 4
"""Rows of a tile of a product."""

PRODUCT_SIZES = ("batch", "m", "k", "n", "a_batch", "a_m", "a_k", "b_batch", "b_k", "c_m")
"""What `product` takes behind three addresses: counts, then strides in bytes. The elements of a
row of the right operand and of the result are next to each other."""


def product(relaxed: bool) -> Function:
    """The function of matrix products. relaxed: with relaxed SIMD."""
    writer = Writer(3, len(PRODUCT_SIZES))
    function, emit = writer.function, writer.emit
    size = {name: 3 + number for number, name in enumerate(PRODUCT_SIZES)}
    a, b, c = range(3)

    def tile(rows: Sequence[int], right: int, out: int, vectors: int) -> None:
        """As many rows of the result as `rows` has pointers into the left operand, and so many
        vectors of columns, or one column for 0."""
        kind, shape = ("v128", "f32x4") if vectors else ("f32", "f32")
        width = 4 if vectors else 1
        columns = range(max(vectors, 1))
        totals = [[function.local(kind) for _ in columns] for _ in rows]
        for total in [each for row in totals for each in row]:
            constant(function, 0, float32, width)
            emit("local.set", total)
        lefts = [writer.copied(row) for row in rows]
        down = writer.copied(right)
        loaded, factor = [function.local(kind) for _ in columns], function.local(kind)

        def step() -> None:
            for column in columns:
                function.apply(f"{kind}.load", down, offset=16 * column, into=loaded[column])
            writer.advance(down, size["b_k"])
            for left, row in zip(lefts, totals, strict=True):
                load = "v128.load32_splat" if vectors else "f32.load"
                function.apply(load, left, offset=0, into=factor)
                writer.advance(left, size["a_k"])
                for column in columns:
                    other, total = loaded[column], row[column]
                    if relaxed and vectors:
                        function.apply("f32x4.relaxed_madd", factor, other, total, into=total)
                    else:
                        function.apply(f"{shape}.mul", total, factor, other)
                        function.apply(f"{shape}.add", into=total)

        writer.times(size["k"], step)
        address = writer.copied(out)
        for number, row in enumerate(totals):
            if number:
                writer.advance(address, size["c_m"])
            for column in columns:
                function.apply(f"{kind}.store", address, row[column], offset=16 * column)

    def some(count: int) -> None:
        """So many rows, and the pointers behind them."""
        rows = [writer.copied(a_row)]
        for _ in range(count - 1):
            rows.append(writer.copied(rows[-1]))
            writer.advance(rows[-1], size["a_m"])
        left, right, out = (writer.copied(each) for each in (size["n"], b, c_row))
        for vectors in (2, 1, 0):
            width = max(4 * vectors, 1)

            def turn(vectors: int = vectors, width: int = width) -> None:
                tile(rows, right, out, vectors)
                writer.add(right, 4 * width)
                writer.add(out, 4 * width)

            writer.by(left, width, turn)
        for _ in range(count):
            writer.advance(a_row, size["a_m"])
            writer.advance(c_row, size["c_m"])

    a_row, c_row = function.local("i32"), writer.copied(c)

    def matrix() -> None:
        emit("local.get", a)
        emit("local.set", a_row)
        left = writer.copied(size["m"])
        for rows in (_ROWS, 1):
            writer.by(left, rows, partial(some, rows))
        writer.advance(a, size["a_batch"])
        writer.advance(b, size["b_batch"])

    writer.times(size["batch"], matrix)
    return function
