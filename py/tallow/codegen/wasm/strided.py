"""Kernels that take sizes as arguments: one for all shapes of an op.

They compute what is computed once, where a kernel that knows its sizes would take longer to write
and to compile than to run. Operands are where their strides say, so that what only moves elements
costs nothing. A kernel takes addresses, then counts of turns and strides in bytes.

Loops are nested, each of one turn at least. The steps of a pointer are what is added to it at the
end of a turn of each loop: see `steps_of`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

from ...dtype import DType, bool_, float32, float64, int32
from ...errors import DTypeError
from ...op import Attrs, Elementwise, Reduce
from ...scalar import Scalar, operand
from . import storage
from .arithmetic import Arithmetic
from .assembler import Function, encode
from .reductions import start_of
from .values import UnsupportedError, constant, kind_of

_ROWS = 4
"""Rows of a tile of a product."""

_MOST = 1024
"""How many kernels are kept."""


def steps_of(counts: Sequence[int], strides: Sequence[int]) -> list[int]:
    """What is added to a pointer at the end of a turn of each loop, the outermost first: its
    stride, less what the loops within have added."""
    steps, gone = [], 0
    for count, stride in zip(reversed(counts), reversed(strides), strict=True):
        steps.append(stride - gone)
        gone = count * stride
    return steps[::-1]


class Strided:
    """The kernels that were written so far, by what they compute; None for what none computes."""

    def __init__(self, relaxed: bool) -> None:
        self._relaxed = relaxed
        self._kernels: dict[Hashable, Function | None] = {}
        self._modules: dict[tuple[str, ...], str] = {}
        self._made = 0

    def module(self, functions: Mapping[str, Function]) -> list[str]:
        """The module of functions, by the names that they are exported under, in base 64; none for
        none."""
        if not functions:
            return []
        key = tuple(functions)
        if key not in self._modules:
            self._modules[key] = b64encode(encode([*functions.values()])).decode()
        return [self._modules[key]]

    def elementwise(
        self, op: Elementwise | None, attrs: Attrs, types: tuple[DType, ...], loops: int, lanes: str
    ) -> Function:
        """An op on operands, or a copy. types: of the operands, then of the result. lanes: of each
        operand and of the result along the innermost loop, "c" next to each other, "s" always the
        same element, "x" anything else.

        It takes the addresses, the counts of turns, and for each of those loops the steps of all
        pointers. Raises UnsupportedError.
        """
        named = repr(attrs.items()) if attrs else ""
        key = (op.name if op else "copy", named, types, loops, lanes)
        ways = [4, 1] if "x" not in lanes and lanes[-1] == "c" else [1]
        return self._found(
            key, [partial(_elementwise, op, attrs, types, loops, lanes, way) for way in ways]
        )

    def reduction(self, op: Reduce, dtype: DType, kept: int, folded: int) -> Function:
        """A fold: the loops of what is kept, then those of what is folded.

        It takes the addresses, the counts of turns, and for each loop the step in what it reads
        and, for a loop of what is kept, in its result. Raises UnsupportedError.
        """
        key = (op.name, dtype, kept, folded)
        return self._found(key, [partial(_reduction, op, dtype, kept, folded)])

    def product(self) -> Function:
        """Products of matrices of float32: see `_product`."""
        return self._found("product", [partial(_product, self._relaxed)])

    def take(self, index: DType, unit: int) -> Function:
        """Rows by indices, copied by units of so many bytes: see `_take`."""
        return self._found(("take", index, unit), [partial(_take, index, unit)])

    def _found(self, key: Hashable, ways: Sequence[Callable[[], Function]]) -> Function:
        """The kernel of that key: what the first way writes that can."""
        if key not in self._kernels:
            if len(self._kernels) >= _MOST:
                self._kernels.clear()
                self._modules.clear()
            self._kernels[key] = None
            for write in ways:
                try:
                    made = write()
                except (UnsupportedError, DTypeError):
                    continue
                self._made += 1
                made.exported = f"s{self._made}"
                self._kernels[key] = made
                break
        found = self._kernels[key]
        if found is None:
            raise UnsupportedError(str(key))
        return found


class _Writer:
    """A function of addresses and sizes, growing."""

    def __init__(self, addresses: int, sizes: int) -> None:
        self.function = Function(["i32"] * (addresses + sizes))
        self.emit = self.function.emit

    def advance(self, pointer: int, step: int) -> None:
        """pointer += step, both locals."""
        self.emit("local.get", pointer)
        self.emit("local.get", step)
        self.emit("i32.add")
        self.emit("local.set", pointer)

    def add(self, local: int, number: int) -> None:
        self.emit("local.get", local)
        self.emit("i32.const", number)
        self.emit("i32.add")
        self.emit("local.set", local)

    def copied(self, local: int) -> int:
        """Another local with the same number."""
        made = self.function.local("i32")
        self.emit("local.get", local)
        self.emit("local.set", made)
        return made

    def times(self, count: int, write: Callable[[], None]) -> None:
        """Writes a loop of as many turns as the local `count` says, one or more."""
        with self.function.scope():
            left = self.copied(count)
            self.emit("loop")
            write()
            self.add(left, -1)
            self.emit("local.get", left)
            self.emit("br_if", 0)
            self.emit("end")

    def by(self, left: int, size: int, write: Callable[[], None]) -> None:
        """Writes a loop that takes `size` from the local `left` at each turn, while it can."""
        self.emit("block")
        self.emit("loop")
        self.emit("local.get", left)
        self.emit("i32.const", size)
        self.emit("i32.lt_s")
        self.emit("br_if", 1)
        with self.function.scope():
            write()
        self.add(left, -size)
        self.emit("br", 0)
        self.emit("end")
        self.emit("end")


# ---- element by element ------------------------------------------------------------------------


def _elementwise(
    op: Elementwise | None,
    attrs: Attrs,
    types: tuple[DType, ...],
    loops: int,
    lanes: str,
    width: int,
) -> Function:
    count = len(types)
    writer = _Writer(count, loops + loops * count)
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


# ---- reductions --------------------------------------------------------------------------------


def _reduction(op: Reduce, dtype: DType, kept: int, folded: int) -> Function:
    loops = kept + folded
    writer = _Writer(2, loops + loops + kept)
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
        """The first that no other beats; the first NaN beats all."""
        Arithmetic(function).push(combined, pushes)
        if dtype.kind == "f":
            for local, test in ((item, "ne"), (total, "eq")):
                emit("local.get", local)
                emit("local.get", local)
                emit(f"{kind_of(dtype)}.{test}")
                emit("i32.or" if test == "ne" else "i32.and")
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


# ---- products ----------------------------------------------------------------------------------

PRODUCT_SIZES = ("batch", "m", "k", "n", "a_batch", "a_m", "a_k", "b_batch", "b_k", "c_m")
"""What `_product` takes behind three addresses: counts, then strides in bytes. The elements of a
row of the right operand and of the result are next to each other."""


def _product(relaxed: bool) -> Function:
    writer = _Writer(3, len(PRODUCT_SIZES))
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
                emit("local.get", down)
                emit(f"{kind}.load", 16 * column)
                emit("local.set", loaded[column])
            writer.advance(down, size["b_k"])
            for left, row in zip(lefts, totals, strict=True):
                emit("local.get", left)
                emit("v128.load32_splat" if vectors else "f32.load", 0)
                emit("local.set", factor)
                writer.advance(left, size["a_k"])
                for column in columns:
                    fused = relaxed and vectors
                    order = (factor, loaded[column], row[column])
                    for local in order if fused else (row[column], factor, loaded[column]):
                        emit("local.get", local)
                    if fused:
                        emit("f32x4.relaxed_madd")
                    else:
                        emit(f"{shape}.mul")
                        emit(f"{shape}.add")
                    emit("local.set", row[column])

        writer.times(size["k"], step)
        place = writer.copied(out)
        for number, row in enumerate(totals):
            if number:
                writer.advance(place, size["c_m"])
            for column in columns:
                emit("local.get", place)
                emit("local.get", row[column])
                emit(f"{kind}.store", 16 * column)

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


# ---- rows by indices ---------------------------------------------------------------------------

TAKE_SIZES = ("outer", "indices", "units", "length", "row", "all")
"""What `_take` takes behind the addresses of the rows, of the indices and of the result: how often
all indices are looked up, how many they are, the units of a row, how many rows there are, the bytes
of a row and of all rows."""


def _take(index: DType, unit: int) -> Function:
    writer = _Writer(3, len(TAKE_SIZES))
    function, emit = writer.function, writer.emit
    size = {name: 3 + number for number, name in enumerate(TAKE_SIZES)}
    kind = kind_of(index)
    given, at = function.local(kind), function.local("i32")
    source, place = function.local("i32"), function.local("i32")
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
            emit("local.get", given)
            emit(f"{kind}.const", 0)
            emit(f"{kind}.lt_s")
            emit("select")
            emit("local.set", given)
        # Out of range it is the last: the host refuses such indices where it knows them.
        emit("local.get", given)
        length()
        emit(f"{kind}.const", 1)
        emit(f"{kind}.sub")
        emit("local.get", given)
        length()
        emit(f"{kind}.lt_u")
        emit("select")
        if kind == "i64":
            emit("i32.wrap_i64")
        emit("local.get", size["row"])
        emit("i32.mul")
        emit("local.get", 0)
        emit("i32.add")
        emit("local.set", source)
        writer.times(size["units"], copy)

    def copy() -> None:
        emit("local.get", place)
        emit("local.get", source)
        load = access.format("load")
        emit(f"{load}_u" if unit < 4 else load, 0)
        emit(access.format("store"), 0)
        writer.add(source, unit)
        writer.add(place, unit)

    def every() -> None:
        emit("local.get", 1)
        emit("local.set", at)
        writer.times(size["indices"], row)
        writer.advance(0, size["all"])

    emit("local.get", 2)
    emit("local.set", place)
    writer.times(size["outer"], every)
    return function
