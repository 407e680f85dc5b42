"""Products and convolutions of 8-bit integers (ops/integer.py): one instruction multiplies eight
pairs of 16 bits, and adds up neighbours.

Rows of the left operand are widened to 16 bits, less their zero point, into memory of the kernel's
own; the right one is widened as it is read. The sums are exact: a difference has 10 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Protocol

from .....codegen.index import Coord, variable
from .....core.dtype import int32
from .....core.shape import size_of
from .....graph import Node
from .....ops import panels
from .....ops.integer import pairs
from .. import storage
from ..expression import Expression
from ..values import UnsupportedError, constant
from . import tiles
from .convolutions import Filters, Windows, pixel
from .products import Location, coefficient, store_vector
from .unpacked import Store
from .widening import Widener

_ROWS_BYTES = 64 << 10
"""Bytes of widened rows that stay in a near cache while the panels pass by, once for all."""

_HEIGHT = 5
"""Rows of a tile: more than fourteen vectors at a time would leave V8's registers."""

_UNITS = 16
"""Tiles one below the other from which on threads share them, and not the panels."""

_UNROLLED = 4  # pairs that are added up without a loop around each


class Left(Protocol):
    """Rows that are widened one by one."""

    def row(self, n: Coord, row: Coord, into: Widener) -> None:
        """Widens a row."""


class _Matrix:
    """The rows of matrices, through whatever views are before them."""

    def __init__(self, body: Expression, view: Node) -> None:
        self._body, self._view = body, view
        self._together = self._is_together()

    def _is_together(self) -> bool:
        n, row, k = (variable(name, d) for name, d in zip("nrk", self._view.shape, strict=True))
        try:
            _, linear = self._body.locate(self._view, (n, row, k))
            return self._view.shape[2] == 1 or coefficient(linear, k) == 1
        except UnsupportedError:
            return False

    def row(self, n: Coord, row: Coord, into: Widener) -> None:
        body, depth = self._body, self._view.shape[2]
        if not self._together:
            body.loop(depth, lambda k: into.value(body.value(self._view, (n, row, k))))
            return
        address, linear = body.locate(self._view, (n, row, 0))
        body.push_sum(address, linear)
        into.copy(depth)


@dataclass(frozen=True)
class _Dots:
    """`batch` products of matrices (rows, depth) @ (depth, columns); fields as in Tiled
    (products.py). scratch: the local with the address of the kernel's own memory. zero_at: which
    zero point a column of the right operand has."""

    body: Expression
    node: Node
    left: Left
    scratch: int
    batch: int
    rows: int
    depth: int
    columns: int
    locate: Callable[[Coord, Coord, Coord], Location]
    zero_at: Callable[[Coord, Coord], Coord]
    store: Store
    width: int

    @property
    def stride(self) -> int:
        """Bytes of a widened row."""
        return 4 * pairs(self.depth)

    def write(self) -> int:
        """Writes it, and returns how many bytes of rows it widens at once."""
        height = tiles.height_of(self.rows, _HEIGHT)
        at_once = max(_ROWS_BYTES // (self.stride * height), 1)
        zero = self._zero()
        high, wide = -(-self.rows // height), self.columns // panels.COLUMNS
        matrix = partial(self._matrix, height=height, at_once=at_once, zero=zero)
        # Where threads share the panels, each widens the rows for itself.
        by_panels = self.batch * high < min(_UNITS, wide) and not self.columns % panels.COLUMNS
        tiles.in_parts(self.body, self.batch, high, wide, by_panels, matrix)
        return self.stride * height * min(at_once, high)

    def _zero(self) -> int | None:
        """The local with eight times the left operand's zero point; None for 0."""
        zero = self.node.inputs[2]
        if zero.is_scalar_constant and not zero.attrs["data"].item():
            return None
        return self._splat(zero)

    def _splat(self, zero: Node) -> int:
        """A local that has a zero point eight times."""
        local = self.body.value(zero, (0,))
        self.body.emit("local.get", local)
        if zero.dtype.size == 8:
            self.body.emit("i32.wrap_i64")
        return self.body.result_of("i16x8.splat")

    def _matrix(
        self,
        n: Coord,
        rows: tiles.Span,
        across: tiles.Span,
        *,
        height: int,
        at_once: int,
        zero: int | None,
    ) -> None:
        """A part of the `n`-th matrix, as in Tiled."""
        body, last = self.body, self.rows - height

        def start(tile: Coord) -> Coord:
            return body.at_most(tile * height, last)  # the last tile may begin within another

        def block(begin: Coord, end: Coord) -> None:
            first = start(begin)
            into = Widener(body, self.scratch, self.node.inputs[0].dtype, zero)

            def widen(row: Coord) -> None:
                self.left.row(n, row, into)
                if self.depth % 2:
                    into.clear(1)

            body.span(first, start(end - 1) + height, widen)

            def down(column: Coord, vectors: int) -> None:
                body.span(begin, end, lambda tile: one(start(tile), column, vectors))

            def one(row: Coord, column: Coord, vectors: int) -> None:
                body.push_sum(self.scratch, (row - first) * self.stride)
                self._tile((n, row, column), body.keep("i32"), height, vectors)

            body.span(*across, lambda panel: down(panel * panels.COLUMNS, tiles.VECTORS))
            rest = self.columns % panels.COLUMNS
            if rest:
                down(self.columns - rest, -(-rest // 4))

        body.blocks(*rows, at_once, block)

    def _tile(
        self, first: tuple[Coord, Coord, Coord], left: int, height: int, vectors: int
    ) -> None:
        """A tile from the element `first` on."""
        body, (n, row, column) = self.body, first
        packed = self.node.inputs[1]
        width = panels.count(self.columns) * panels.COLUMNS
        panel = body.pointer(body.addresses[packed], (n * width + column) * (2 * pairs(self.depth)))
        zeros = [self._pairs_of_zeros(n, column, vector) for vector in range(vectors)]
        sums = [tiles.zeros(body, vectors, 4, int32) for _ in range(height)]
        self._add(sums, left, panel, zeros)
        for vector in range(vectors):
            at = column + 4 * vector
            body.scope(partial(self._keep, sums, vector, n, row, at))

    def _pairs_of_zeros(self, n: Coord, column: Coord, vector: int) -> int | None:
        """The local with the zero points of four columns, each twice; None for 0."""
        body, zero = self.body, self.node.inputs[3]
        if zero.is_scalar_constant and not zero.attrs["data"].item():
            return None
        if zero.size == 1:
            return self._splat(zero)
        four = body.function.local("v128")
        first = column + 4 * vector
        known = min(4, self.columns - first) if isinstance(first, int) else 4
        if known == 4:
            address, linear = body.locate(zero, (self.zero_at(n, first),))
            offset = body.push_address(address, zero.dtype, linear)
            storage.load(body.function, zero.dtype, offset, 4)
            body.emit("local.set", four)
        else:
            constant(body.function, 0, int32, 4)
            body.emit("local.set", four)
            for lane in range(known):
                value = body.value(zero, (self.zero_at(n, first + lane),))
                body.emit("local.get", four)
                body.emit("local.get", value)
                body.emit("i32x4.replace_lane", lane)
                body.emit("local.set", four)
        # The lower half of each lane, and the same in its upper half.
        body.apply("i32x4.shl", four, number=16)
        body.emit("local.get", four)
        constant(body.function, 0xFFFF, int32, 4)
        body.emit("v128.and")
        body.emit("v128.or")
        return body.keep("v128")

    def _add(self, sums: tiles.Tile, left: int, panel: int, zeros: list[int | None]) -> None:
        """Adds up the products of all pairs."""
        body, emit = self.body, self.body.emit
        sign = "s" if self.node.inputs[1].dtype.kind == "i" else "u"
        count = pairs(self.depth)
        turns, rest = divmod(count, _UNROLLED)
        right = [body.function.local("v128") for _ in zeros]
        value = body.function.local("v128")

        def products(number: int) -> None:
            for pair in range(number):
                for vector, (local, zero) in enumerate(zip(right, zeros, strict=True)):
                    offset = 2 * panels.COLUMNS * pair + 8 * vector
                    body.apply(f"v128.load8x8_{sign}", panel, offset=offset)
                    if zero is not None:
                        body.apply("i16x8.sub", zero)
                    emit("local.set", local)
                for row, totals in enumerate(sums):
                    body.apply(
                        "v128.load32_splat", left, offset=self.stride * row + 4 * pair, into=value
                    )
                    for total, local in zip(totals, right, strict=True):
                        emit("local.get", total)
                        body.apply("i32x4.dot_i16x8_s", value, local)
                        body.apply("i32x4.add", into=total)
            tiles.advance(body, left, 4 * number)
            tiles.advance(body, panel, 2 * panels.COLUMNS * number)

        body.loop(turns, lambda _: products(_UNROLLED))
        if rest:
            products(rest)

    def _keep(self, sums: tiles.Tile, vector: int, n: Coord, row: Coord, column: Coord) -> None:
        """Stores a vector of each row. What does not depend on the row is computed once."""
        left = self.columns - column if isinstance(column, int) else 4
        for down, locals_ in enumerate(sums):

            def locate(lane: int, down: int = down) -> Location:
                return self.locate(n, row + down, column + lane)

            store = partial(store_vector, self.body, self.node, self.store)
            store(locals_[vector], min(left, 4), locate, self.width)


def integer_product(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes an integer_matmul, and what is fused behind it, as `product` does (products.py)."""
    batch, rows, columns = node.shape
    _check(body, node.inputs[1])

    def locate(n: Coord, row: Coord, column: Coord) -> Location:
        return node.shape, (n, row, column), (n * rows + row) * columns + column

    left, depth = _Matrix(body, node.inputs[0]), node.inputs[0].shape[2]
    dots = _Dots(
        body, node, left, scratch, batch, rows, depth, columns, locate, lambda n, column: column,
        store, width,
    )  # fmt: skip
    return dots.write()


def integer_convolution(
    body: Expression, node: Node, store: Store, width: int, scratch: int
) -> int:
    """Writes an integer_conv2d, and what is fused behind it."""
    _check(body, node.inputs[1])
    x, attrs, out = node.inputs[0], node.attrs, node.shape[3]
    if x not in body.addresses:
        raise UnsupportedError("a convolution of what is not in memory")
    groups = attrs["groups"]
    rows, columns = size_of(node.shape[:3]), out // groups
    filters = Filters(x, node.shape, attrs["kernel"], x.shape[3] // groups, attrs)
    pixel_of = cache(partial(pixel, node.shape))

    def locate(group: Coord, row: Coord, column: Coord) -> Location:
        channel = group * columns + column
        return node.shape, (*pixel_of(row), channel), row * out + channel

    dots = _Dots(
        body, node, Windows(filters, body, scratch), scratch, groups, rows, filters.depth, columns,
        locate, lambda group, column: group * columns + column, store, width,
    )  # fmt: skip
    return dots.write()


def _check(body: Expression, packed: Node) -> None:
    if packed not in body.addresses:
        raise UnsupportedError("an integer product by a weight that is not in memory")
