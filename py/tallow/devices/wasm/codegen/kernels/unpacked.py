"""Matrix products of any type whose operands are read element by element, through whatever views
are before them.

They are those of few rows or columns, and of weights with weights: too small to be packed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .....codegen.index import Coord, Coords
from .....core.dtype import float32
from .....core.shape import Shape
from .....graph import Node
from .. import storage
from ..expression import Expression
from ..values import UnsupportedError
from . import tiles

Store = Callable[[Shape, Coords, Coord, int], None]


def unpacked_product(body: Expression, node: Node, store: Store, width: int, inner: Coord) -> None:
    """Writes (batch, rows, inner) @ (batch, inner, columns), and what is fused behind it: see
    `product` in products.py. inner: the products of a sum, a number or one that is read."""
    batch, rows, columns = node.shape
    if width == 4 and node.dtype != float32:
        raise UnsupportedError("vectors of products that are not float32")
    if node.dtype.size < 4:
        raise UnsupportedError(f"products of {node.dtype.name}")
    across = 4 * tiles.VECTORS if width == 4 else 1
    high = tiles.most_rows(body) if width == 4 else 1
    wide = columns - columns % across
    rest = [(wide, 1)] if width == 4 and columns - wide >= 4 else []
    rest += [(column, 0) for column in range(wide + 4 * len(rest), columns)]

    def line(n: Coord, row: Coord, height: int) -> None:
        def tile(column: Coord, vectors: int) -> None:
            _tile(body, node, store, (n, row, column), height, vectors, inner)

        body.loop(wide, lambda column: tile(column, across // 4), across)
        for column, vectors in rest:
            body.scope(partial(tile, column, vectors))

    whole = rows - rows % high

    def single(n: Coord) -> None:
        body.loop(rows - whole, lambda row: line(n, row + whole, 1))

    def each(n: Coord) -> None:
        body.loop(whole, lambda row: line(n, row, high), high)
        single(n)

    if batch > 1:
        body.parallel((batch,), lambda at: each(*at))
    else:
        body.parallel((whole // high,), lambda at: line(0, at[0] * high, high))
        body.after_last(lambda: single(0))


def _tile(
    body: Expression,
    node: Node,
    store: Store,
    first: tuple[Coord, Coord, Coord],
    height: int,
    vectors: int,
    inner: Coord,
) -> None:
    """A tile from the element `first` on, of `height` rows and `vectors` times four columns, or of
    one column."""
    (a, b), (n, row, column) = node.inputs[:2], first
    lanes = 4 if vectors else 1
    across = range(max(vectors, 1))

    def made() -> tiles.Tile:
        return [tiles.zeros(body, len(across), lanes, node.dtype) for _ in range(height)]

    totals = made()

    def add(into: tiles.Tile, k: Coord) -> None:
        right_side = [body.value(b, (n, k, column + lanes * right), lanes) for right in across]
        for down in range(height):
            left = _splatted(body, a, (n, row + down, k), lanes)
            for total, right in zip(into[down], right_side, strict=True):
                tiles.multiply_add(body, total, left, right, lanes, node.dtype)

    def block(start: Coord, count: int) -> None:
        part = made()
        body.loop(count, lambda k: add(part, start + k))
        tiles.join(body, totals, part, lanes, node.dtype)

    if a.shape[2] <= tiles.LONG:
        body.up_to(inner, lambda k: add(totals, k))
    else:  # added up one by one, so many products would lose their last digits
        rest = inner % tiles.BLOCK
        whole = inner - rest
        body.up_to(inner // tiles.BLOCK, lambda n: block(n * tiles.BLOCK, tiles.BLOCK))
        if isinstance(rest, int):
            body.scope(lambda: block(whole, rest))
        else:
            body.up_to(rest, lambda k: add(totals, whole + k))
    for down, locals_ in enumerate(totals):
        for right, local in enumerate(locals_):
            coords = (n, row + down, column + lanes * right)
            body.give(node, local)
            body.scope(partial(store, node.shape, coords, _flat(coords, node.shape), lanes))


def _flat(coords: Coords, shape: Shape) -> Coord:
    linear: Coord = 0
    for coord, dim in zip(coords, shape, strict=True):
        linear = linear * dim + coord
    return linear


def _splatted(body: Expression, a: Node, coords: Coords, lanes: int) -> int:
    """The local with an element of the left operand, in all lanes."""
    if lanes == 1:
        return body.value(a, coords)
    local = body.function.local("v128")
    if a in body.addresses and storage.has_lanes(a.dtype):
        offset = body.push_address(body.addresses[a], a.dtype, _flat(coords, a.shape))
        body.emit("v128.load32_splat", offset)
    else:
        body.apply("f32x4.splat", body.value(a, coords))
    body.emit("local.set", local)
    return local
