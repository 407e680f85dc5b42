"""Sorting and scattering (ops/arrange.py)."""

from __future__ import annotations

from functools import partial

from .....codegen.index import Coord, Coords
from .....core import dtype as dt
from .....core.dtype import DType
from .....graph import Node
from .....scalar import (
    Scalar,
    absolute,
    bitcast,
    cast,
    is_nan,
    maximum,
    minimum,
    operand,
    select,
)
from .. import storage
from ..arithmetic import Arithmetic
from ..expression import Expression
from ..values import UnsupportedError, kind_of
from .rows import linear_of, nested
from .unpacked import Store

# ---- sorting ------------------------------------------------------------------------------------


def argsort(body: Expression, node: Node, store: Store, scratch: int) -> int:
    """Writes an argsort, and what is fused behind it, as `product` does (products.py).

    Each element becomes 64 bits: an integer in the order of the elements, then its index, so that
    of equal ones the first comes first. Runs of 1, 2, 4 ... of them are merged, from one half of
    the kernel's own memory into the other.
    """
    (x,), size = node.inputs, node.inputs[0].shape[-1]
    if x.dtype.size > 4:
        raise UnsupportedError(f"sorting {x.dtype.name}")
    half = 8 * (size + 1)  # what is compared may lie one element behind a run
    other = _moved(body, scratch, half)

    def row(before: Coords, _: int) -> None:
        def key(index: Coord) -> None:
            offset = body.push_address(scratch, dt.int64, index)
            value = body.value(x, (*before, index))
            expression = _in_order(operand(0, x.dtype))
            descending = node.attrs["descending"]
            Arithmetic(body.function).push(
                ~expression if descending else expression,
                [lambda: body.emit("local.get", value)],
            )
            body.emit("i64.extend_i32_s")
            body.apply("i64.shl", number=32)
            body.push_index(index)
            body.emit("i64.extend_i32_u")
            body.emit("i64.or")
            body.emit("i64.store", offset)

        body.loop(size, key)
        width, source, target = 1, scratch, other
        while width < size:
            runs = -(-size // (2 * width))
            body.loop(runs, partial(_merge, body, (source, target), width, size))
            width, source, target = 2 * width, target, source

        def result(index: Coord) -> None:
            offset = body.push_address(source, dt.int64, index)
            body.emit("i32.load", offset)
            body.give(node, body.keep("i32"))
            coords = (*before, index)
            body.scope(partial(store, node.shape, coords, linear_of(node.shape, coords), 1))

        body.loop(node.shape[-1], result)

    nested(body, node.shape[:-1], row, parallel=True)
    return 2 * half


def _in_order(x: Scalar) -> Scalar:
    """Integers in the order of elements: zeros equal, every NaN last."""
    if x.dtype.kind == "f":
        x = cast(x, dt.float32) if x.dtype != dt.float32 else x
        size = bitcast(absolute(x), dt.int32)
        return select(is_nan(x), 0x7FFFFFFF, select(x < 0, -size, size))
    if x.dtype == dt.uint32:
        return bitcast(x ^ 0x80000000, dt.int32)
    return cast(x, dt.int32)


def _merge(body: Expression, halves: tuple[int, int], width: int, size: int, run: Coord) -> None:
    """Merges two runs of `width` elements, which stand one behind the other."""
    emit, (source, target) = body.emit, halves
    first = run * (2 * width)
    middle, end = body.at_most(first + width, size), body.at_most(first + 2 * width, size)
    left, left_end = _pointer(body, source, first), _pointer(body, source, middle)
    right, right_end = _pointer(body, source, middle), _pointer(body, source, end)
    into = _pointer(body, target, first)
    taken = body.function.local("i32")
    emit("loop")
    emit("local.get", into)
    body.apply("i64.load", left, offset=0)
    body.apply("i64.load", right, offset=0)
    # The left one, if there is one, and the right one is larger or missing.
    body.apply("i64.load", left, offset=0)
    body.apply("i64.load", right, offset=0)
    emit("i64.lt_s")
    body.apply("i32.eq", right, right_end)
    emit("i32.or")
    body.apply("i32.ne", left, left_end)
    emit("i32.and")
    emit("local.tee", taken)
    emit("select")
    emit("i64.store", 0)
    for pointer, step in ((left, 8), (right, -8)):  # of one of them, by 8 or by 0
        emit("local.get", pointer)
        body.apply("i32.mul", taken, number=step)
        emit("i32.add")
        if step < 0:
            body.apply("i32.add", number=8)
        emit("local.set", pointer)
    body.apply("i32.add", into, number=8, into=into)
    for pointer, behind in ((left, left_end), (right, right_end)):
        body.apply("i32.ne", pointer, behind)
    emit("i32.or")
    emit("br_if", 0)
    emit("end")


def _pointer(body: Expression, base: int, index: Coord) -> int:
    return body.pointer(base, index * 8)


def _moved(body: Expression, address: int, by: int) -> int:
    return body.result_of("i32.add", address, number=by)


# ---- scattering ---------------------------------------------------------------------------------

_JOINED = {
    "none": lambda old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "max": maximum,
    "min": minimum,
}


def scatter(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes a scatter, and what is fused behind it: the data are copied to memory of the kernel's
    own, which the updates change one after the other. An index that is out of range changes
    nothing."""
    data, indices, updates = node.inputs
    batch, rows, length = node.shape
    dtype = node.dtype
    lanes = width if length % width == 0 else 1
    if dtype.size > 4 and width > 1:
        raise UnsupportedError(f"vectors of {dtype.name}")

    def copy(coords: Coords, count: int) -> None:
        value = body.value(data, coords, count)
        _put(body, scratch, dtype, linear_of(node.shape, coords), value, count)

    nested(body, node.shape, copy, lanes)

    def update(n: Coord, number: Coord) -> None:
        index = body.value(indices, (n, number))
        kind = kind_of(indices.dtype)
        # A negative one is a very large unsigned number.
        body.apply(f"{kind}.lt_u", index, number=rows)
        body.branch(partial(change, n, number, index, kind))

    def change(n: Coord, number: Coord, index: int, kind: str) -> None:
        body.emit("local.get", index)
        if kind == "i64":
            body.emit("i32.wrap_i64")
        row = body.coordinate(body.keep("i32"), rows)

        def some(coords: Coords, count: int) -> None:
            new = body.value(updates, (n, number, *coords), count)
            linear = linear_of(node.shape, (n, row, *coords))
            offset = body.push_address(scratch, dtype, linear)
            storage.load(body.function, dtype, offset, count)
            old = body.keep(kind_of(dtype, count))
            joined = _JOINED[node.attrs["reduction"]](operand(0, dtype), operand(1, dtype))
            pushes = [lambda local=local: body.emit("local.get", local) for local in (old, new)]
            Arithmetic(body.function, count, body.relaxed).push(joined, pushes)
            value = body.keep(kind_of(dtype, count))
            _put(body, scratch, dtype, linear, value, count)

        nested(body, (length,), some, lanes)

    def each(n: Coord) -> None:
        body.loop(updates.shape[1], lambda number: update(n, number))

    body.loop(batch, each)

    def result(coords: Coords, count: int) -> None:
        linear = linear_of(node.shape, coords)
        offset = body.push_address(scratch, dtype, linear)
        storage.load(body.function, dtype, offset, count)
        body.give(node, body.keep(kind_of(dtype, count)))
        body.scope(partial(store, node.shape, coords, linear, count))

    nested(body, node.shape, result, lanes)
    return -(-dtype.size * node.size // 16) * 16


def _put(
    body: Expression, address: int, dtype: DType, linear: Coord, value: int, count: int
) -> None:
    offset = body.push_address(address, dtype, linear)
    body.emit("local.get", value)
    storage.store(body.function, dtype, offset, count)
