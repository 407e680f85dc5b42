"""The innermost loop of products: a tile of the result that stays in registers.

A tile is some rows by one or two vectors of columns. The left operand lies in memory row by row;
the right one is a panel (ops/panels.py), which is read from its beginning to its end. Both are
reached by pointers that grow by the same number of bytes with each turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Protocol

from .....codegen.index import Coord
from .....core.dtype import DType, float32, uint8
from .....ops import panels
from ..expression import Expression
from ..values import constant, kind_of

VECTORS = panels.COLUMNS // 4

_UNROLLED = 4
LONG, BLOCK = 4096, 512
"""Products that are added up one by one at most, and in one block of longer sums."""

Tile = list[list[int]]
"""Locals by row, then by vector."""

Span = tuple[Coord, Coord]
"""The first and the one behind the last."""


def most_rows(body: Expression) -> int:
    """Rows of a tile: more than fifteen vectors at a time would leave V8's registers. Without a
    fused multiply-add one of them holds a product."""
    return 6 if body.relaxed else 5


# Why: docs/decisions/webassembly.md, "WebAssembly's tiles are not tuned"
def height_of(rows: int, most: int) -> int:
    """How many rows, `most` at most, tiles have that cover so many rows in the least time. A tile
    takes half as long as a row in addition."""
    return min(
        range(1, min(most, rows) + 1),
        key=lambda height: (-(-rows // height) * (2 * height + 1), -height),
    )


def in_parts(
    body: Expression,
    batch: int,
    high: int,
    wide: int,
    by_panels: bool,
    matrix: Callable[[Coord, Span, Span], None],
) -> None:
    """Calls `matrix` with the number of each matrix and with spans of its tiles and its panels, of
    which there are `high` and `wide`. Threads share the panels, or else the tiles."""
    if by_panels:
        body.parallel_spans(
            1,
            wide,
            lambda _, first, end: body.loop(batch, lambda n: matrix(n, (0, high), (first, end))),
        )
    else:
        body.parallel_spans(batch, high, lambda n, first, end: matrix(n, (first, end), (0, wide)))


def multiply_add(
    body: Expression, total: int, x: int, y: int, lanes: int = 4, dtype: DType = float32
) -> None:
    """total += x * y, all of them locals."""
    fused = lanes == 4 and body.relaxed
    for local in (x, y, total) if fused else (total, x, y):
        body.emit("local.get", local)
    if fused:
        body.emit("f32x4.relaxed_madd")
    else:
        shape = "f32x4" if lanes == 4 else kind_of(dtype)
        body.emit(f"{shape}.mul")
        body.emit(f"{shape}.add")
    body.emit("local.set", total)


def zeros(body: Expression, count: int, lanes: int = 4, dtype: DType = float32) -> list[int]:
    """Locals that are 0."""
    made = [body.function.local(kind_of(dtype, lanes)) for _ in range(count)]
    for local in made:
        constant(body.function, 0, dtype, lanes)
        body.emit("local.set", local)
    return made


def join(
    body: Expression, totals: Tile, parts: Tile, lanes: int = 4, dtype: DType = float32
) -> None:
    """totals += parts"""
    shape = "f32x4" if lanes == 4 else kind_of(dtype)
    for total, part in zip(chain(*totals), chain(*parts), strict=True):
        body.apply(f"{shape}.add", total, part, into=total)


class Distances(Protocol):
    """Of what lies in memory: bytes from a row to the next (stride), and from an element of a row
    to the next (step)."""

    stride: int
    step: int


def multiplied(
    body: Expression,
    left: int,
    rows_at: Distances,
    panel: int,
    depth: Coord,
    rows: int,
    vectors: int,
) -> Tile:
    """The sums of a tile.

    left, panel: locals with the addresses of the first row, and of the panel; both are moved.
    depth: products of a sum; a number, or one that is read.
    """
    totals = _tile(body, rows, vectors)

    def add(into: Tile, count: int) -> None:
        _add(body, into, left, rows_at, panel, count)

    if isinstance(depth, int) and depth <= LONG:
        add(totals, depth)
        return totals
    # Added up one by one, so many products would lose their last digits.

    def block(count: int) -> None:
        part = _tile(body, rows, vectors)
        add(part, count)
        join(body, totals, part)

    body.up_to(depth // BLOCK, lambda _: block(BLOCK))
    rest = depth % BLOCK
    if not isinstance(rest, int):
        body.up_to(rest // _UNROLLED, lambda _: add(totals, _UNROLLED))
        body.up_to(rest % _UNROLLED, lambda _: add(totals, 1))
    elif rest:
        body.scope(lambda: block(rest))
    return totals


def _tile(body: Expression, rows: int, vectors: int) -> Tile:
    return [zeros(body, vectors) for _ in range(rows)]


def _add(
    body: Expression, totals: Tile, left: int, rows_at: Distances, panel: int, depth: int
) -> None:
    """Adds `depth` products to each total. Of few rows, every second or fourth product goes to a
    sum of its own: an addition takes several cycles, in which others can begin."""
    rows, vectors = len(totals), len(totals[0])
    turns, rest = divmod(depth, _UNROLLED)
    ways = {1: 4, 2: 2, 3: 2}.get(rows, 1) if turns else 1
    sums = [totals, *(_tile(body, rows, vectors) for _ in range(ways - 1))]
    right = [body.function.local("v128") for _ in range(vectors)]
    value = body.function.local("v128")

    def products(count: int) -> None:
        for k in range(count):
            for vector, local in enumerate(right):
                body.apply(
                    "v128.load", panel, offset=4 * (panels.COLUMNS * k + 4 * vector), into=local
                )
            for row, into in enumerate(sums[k % ways]):
                body.apply(
                    "v128.load32_splat",
                    left,
                    offset=rows_at.stride * row + rows_at.step * k,
                    into=value,
                )
                for total, local in zip(into, right, strict=True):
                    multiply_add(body, total, value, local)
        advance(body, left, rows_at.step * count)
        advance(body, panel, 4 * panels.COLUMNS * count)

    if turns > 1:
        end = body.function.local("i32")
        body.apply("i32.add", panel, number=4 * panels.COLUMNS * _UNROLLED * turns, into=end)
        body.emit("loop")
        products(_UNROLLED)
        body.apply("i32.ne", panel, end)
        body.emit("br_if", 0)
        body.emit("end")
    elif turns:
        products(_UNROLLED)
    if rest:
        products(rest)
    for other in sums[1:]:
        join(body, totals, other)


# Why: docs/decisions/webassembly.md, "What is fused behind a tile is written once, in a loop"
def lay_down(body: Expression, tile: Tile, address: int, lanes: int = 4) -> None:
    """Stores a tile's vectors one behind the other. address: the local with that of the first."""
    for number, local in enumerate(chain(*tile)):
        body.apply(f"{kind_of(float32, lanes)}.store", address, local, offset=4 * lanes * number)


def taken_up(body: Expression, address: int, offset: Coord, lanes: int = 4) -> int:
    """A local with the vector that lies so many bytes behind an address."""
    at, kind = body.push_address(address, uint8, offset), kind_of(float32, lanes)
    body.emit(f"{kind}.load", at)
    return body.keep(kind)


def turned(body: Expression, vectors: Sequence[int]) -> list[int]:
    """The lanes of four vectors: the first of each, then the second, and so on."""

    def mixed(low: int, high: int, lanes: Sequence[int]) -> int:
        body.push_lanes(low, high, lanes)
        return body.keep("v128")

    a, b, c, d = vectors
    found = []
    for lanes in ((0, 4, 1, 5), (2, 6, 3, 7)):
        left, right = mixed(a, b, lanes), mixed(c, d, lanes)
        found += [mixed(left, right, (0, 1, 4, 5)), mixed(left, right, (2, 3, 6, 7))]
    return found


def advance(body: Expression, pointer: int, size: int) -> None:
    """Moves a pointer."""
    body.apply("i32.add", pointer, number=size, into=pointer)
