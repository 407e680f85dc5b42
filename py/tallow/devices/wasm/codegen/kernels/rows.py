"""Loops over all elements of a shape, and kernels that reduce rows and spread the results over them
again, as in a softmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .....codegen.groups import is_per_row
from .....codegen.index import Coord, Coords, lane_axis
from .....core.shape import Shape, size_of
from .....graph import Node
from .....ops.kinds import Elementwise, Reduce
from ..expression import Expression
from ..values import UnsupportedError, kind_of

_WHOLE = 16
"""Elements of a row from which on vectors pay, if it is no multiple of four."""

_UNITS = 64
"""Turns from which on a parallel loop has enough for any number of threads."""

Write = Callable[[Coords, int], None]
"""Writes so many elements from coordinates on."""


def nested(
    body: Expression,
    shape: Shape,
    write: Write,
    width: int = 1,
    parallel: bool = False,
    again: bool = False,
    ends: Mapping[int, Coord] | None = None,
) -> None:
    """A loop for each axis; that along the lane axis takes `width` elements at a time.

    parallel: whether the outermost ones are the function's parallel loop. again: whether elements
    may be written twice; then what is left of a row ends with a vector that begins within another.
    ends: by axis, where a loop ends before the axis does.
    """
    ends = ends or {}
    lanes = lane_axis(shape) if shape else -1
    rest = shape[lanes] % width if shape else 1 % width
    if rest and (not shape or shape[lanes] < (width if again else _WHOLE)):
        raise UnsupportedError("a short row that is no multiple of four elements")

    def step(axis: int) -> int:
        return width if axis == lanes else 1

    def at(axis: int, coords: Coords, count: int) -> None:
        if axis == len(shape):
            write(coords, count)
            return
        if axis != lanes:
            body.up_to(
                ends.get(axis, shape[axis]), lambda coord: at(axis + 1, (*coords, coord), count)
            )
            return

        def some(coord: Coord, count: int) -> None:
            body.scope(lambda: at(axis + 1, (*coords, coord), count))

        whole = shape[axis] - rest
        if whole <= 4 * width:  # a turn costs as much as an element
            for index in range(0, whole, width):
                some(index, width)
        else:
            body.loop(whole, lambda coord: at(axis + 1, (*coords, coord), width), width)
        if rest and again:
            some(shape[axis] - width, width)
            return
        for index in range(whole, shape[axis]):
            some(index, 1)

    counts: list[int] = []
    if parallel and body.turns is not None:
        within = min(lanes if rest else len(shape), *ends, len(shape))
        while len(counts) < within and size_of(counts) < _UNITS:
            counts.append(shape[len(counts)] // step(len(counts)))

    def outer(coords: Coords) -> None:
        starts = tuple(coord * step(axis) for axis, coord in enumerate(coords))
        at(len(counts), starts, width)

    if counts:
        body.parallel(counts, outer)
    else:
        at(0, (), width)


def linear_of(shape: Shape, coords: Coords) -> Coord:
    """The flat index of coordinates."""
    linear: Coord = 0
    for axis, coord in enumerate(coords):
        linear = linear + coord * size_of(shape[axis + 1 :])
    return linear


def write_rows(
    body: Expression,
    root: Node,
    members: Sequence[Node],
    row: tuple[int, ...],
    store: Callable[[Coords, Coord, int], None],
    width: int,
    scratch: int,
) -> int:
    """Writes each reduction in a loop over the row, then the results, which `store` computes given
    coordinates, their flat index and how many elements.

    scratch: the local with the address of memory for the kernel's own use, of which it takes as
    many bytes as are returned.
    """
    outer, inner = root.shape[: row[0]], root.shape[row[0] :]
    kept = _kept(root, members)

    def one(before: Coords) -> None:
        per_row = (*before, *(0 for _ in inner))
        first = linear_of(root.shape, per_row)

        def over(write: Write) -> None:
            nested(body, inner, lambda after, lanes: write((*before, *after), lanes), width)

        def keep(node: Node, number: int) -> None:
            """Computes a node once for all that read it, and stores it in memory of the row."""
            address = body.pointer(scratch, first * -4 + number * _bytes(inner))

            def write(coords: Coords, lanes: int) -> None:
                value = body.value(node, coords, lanes)
                offset = body.push_address(address, node.dtype, linear_of(root.shape, coords))
                body.apply(f"{kind_of(node.dtype, lanes)}.store", value, offset=offset)

            over(write)
            body.addresses[node] = address

        for node in members:
            computed = isinstance(node.op, Elementwise) and is_per_row(node, root, row)
            if node in kept:
                keep(node, kept.index(node))
            elif computed or isinstance(node.op, Reduce):
                body.value(node, per_row)
        over(lambda coords, lanes: store(coords, linear_of(root.shape, coords), lanes))

    body.parallel(outer, one)
    return len(kept) * _bytes(inner)


def _bytes(row: Shape) -> int:
    """Of a row of words, in whole vectors."""
    return -(-4 * size_of(row) // 16) * 16


def _kept(root: Node, members: Sequence[Node]) -> list[Node]:
    """What a reduction reads, others read too, and takes long to compute, such as the exponentials
    of a softmax."""
    reduced = {node.inputs[0] for node in members if isinstance(node.op, Reduce)}
    return [
        node
        for node in members
        if node in reduced
        and node.shape == root.shape
        and node.dtype.size == 4
        and isinstance(node.op, Elementwise)
        and not node.op.cheap
        and sum(node in reader.inputs for reader in members) > 1
    ]
