"""Matrix products: tiles of the result that stay in registers while the inner axis goes by."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...dtype import float32
from ...graph import Node
from ...shape import Shape
from ..index import Coord, Coords
from . import storage
from .arithmetic import UnsupportedError, constant, kind_of
from .expression import Expression

Store = Callable[[Shape, Coords, Coord, int], None]

TILE_ROWS = 6
TILE_VECTORS = 2
"""Of a tile of float32: more than sixteen vectors at a time would leave V8's registers."""

Tile = dict[tuple[int, int], int]

_LONG, _BLOCK = 4096, 512
"""Products that are added up one by one at most, and in one block of longer sums."""


def product(body: Expression, node: Node, store: Store, width: int) -> None:
    """Writes (batch, rows, inner) @ (batch, inner, columns), and what is fused behind it.

    `store` computes that, given a shape, coordinates in it, their flat index and how many elements.
    The operands are read through whatever views are before them.
    """
    batch, rows, columns = node.shape
    if width == 4 and node.dtype != float32:
        raise UnsupportedError("vectors of products that are not float32")
    if node.dtype.size < 4:
        raise UnsupportedError(f"products of {node.dtype.name}")
    across = 4 * TILE_VECTORS if width == 4 else 1
    high = TILE_ROWS if width == 4 else 1
    wide = columns - columns % across
    rest = [(wide, 1)] if width == 4 and columns - wide >= 4 else []
    rest += [(column, 0) for column in range(wide + 4 * len(rest), columns)]

    def tiles(n: Coord, row: Coord, height: int) -> None:
        def tile(column: Coord, vectors: int) -> None:
            _tile(body, node, store, (n, row, column), height, vectors)

        body.loop(wide, lambda column: tile(column, across // 4), across)
        for column, vectors in rest:
            body.scope(partial(tile, column, vectors))

    def each(n: Coord) -> None:
        whole = rows - rows % high
        body.loop(whole, lambda row: tiles(n, row, high), high)
        body.loop(rows - whole, lambda row: tiles(n, row + whole, 1))

    body.loop(batch, each)


def _tile(
    body: Expression,
    node: Node,
    store: Store,
    first: tuple[Coord, Coord, Coord],
    height: int,
    vectors: int,
) -> None:
    """A tile from the element `first` on, of `height` rows and `vectors` times four columns, or of
    one column."""
    (a, b), (n, row, column) = node.inputs, first
    lanes = 4 if vectors else 1
    across = range(max(vectors, 1))
    kind = kind_of(node.dtype, lanes)
    totals = _zeros(body, node, height, across, lanes)

    def add(into: Tile, k: Coord) -> None:
        right_side = [body.value(b, (n, k, column + lanes * right), lanes) for right in across]
        for down in range(height):
            left = _splatted(body, a, (n, row + down, k), lanes)
            for right in across:
                _accumulate(body, node, into[down, right], left, right_side[right], lanes)

    def block(start: Coord, count: int) -> None:
        part = _zeros(body, node, height, across, lanes)
        body.loop(count, lambda k: add(part, start + k))
        for each, local in part.items():
            body.emit("local.get", totals[each])
            body.emit("local.get", local)
            body.emit(f"{'f32x4' if lanes == 4 else kind}.add")
            body.emit("local.set", totals[each])

    inner = a.shape[2]
    if inner <= _LONG:
        body.loop(inner, lambda k: add(totals, k))
    else:  # added up one by one, so many products would lose their last digits
        whole = inner - inner % _BLOCK
        body.loop(whole, lambda start: block(start, _BLOCK), _BLOCK)
        body.scope(lambda: block(whole, inner - whole))
    for (down, right), local in totals.items():
        coords = (n, row + down, column + lanes * right)

        linear: Coord = 0
        for coord, dim in zip(coords, node.shape, strict=True):
            linear = linear * dim + coord
        body.give(node, local)
        body.scope(partial(store, node.shape, coords, linear, lanes))


def _zeros(body: Expression, node: Node, height: int, across: range, lanes: int) -> Tile:
    """Locals that are 0, by row and vector of a tile."""
    kind = kind_of(node.dtype, lanes)
    made = {(down, right): body.function.local(kind) for down in range(height) for right in across}
    for local in made.values():
        constant(body.function, 0, node.dtype, lanes)
        body.emit("local.set", local)
    return made


def _splatted(body: Expression, a: Node, coords: Coords, lanes: int) -> int:
    """The local with an element of the left operand, in all lanes."""
    if lanes == 1:
        return body.value(a, coords)
    local = body.function.local("v128")
    if a in body.addresses and storage.has_lanes(a.dtype):
        linear: Coord = 0
        for coord, dim in zip(coords, a.shape, strict=True):
            linear = linear * dim + coord
        offset = body.push_address(body.addresses[a], a.dtype, linear)
        body.emit("v128.load32_splat", offset)
    else:
        body.emit("local.get", body.value(a, coords))
        body.emit("f32x4.splat")
    body.emit("local.set", local)
    return local


def _accumulate(
    body: Expression, node: Node, total: int, left: int, right: int, lanes: int
) -> None:
    """total += left * right"""
    kind = "f32x4" if lanes == 4 else kind_of(node.dtype)
    if lanes == 4 and body.relaxed:
        for local in (left, right, total):
            body.emit("local.get", local)
        body.emit("f32x4.relaxed_madd")
    else:
        body.emit("local.get", total)
        body.emit("local.get", left)
        body.emit("local.get", right)
        body.emit(f"{kind}.mul")
        body.emit(f"{kind}.add")
    body.emit("local.set", total)
