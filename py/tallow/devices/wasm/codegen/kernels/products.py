"""Matrix products whose right operand lies in panels (ops/panels.py): tiles of the result
(tiles.py) along its rows and columns.

A tile's rows are read in whatever order they lie in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

from .....codegen.index import Atom, Coord, Coords, joined, variable
from .....core.shape import Shape
from .....graph import Node
from .....ops import panels
from ..coded import Coded, is_coded
from ..expression import Expression
from ..values import UnsupportedError, kind_of, shape_of
from . import tiles
from .copying import Copier
from .unpacked import Store, unpacked_product

_ROWS_BYTES = 48 << 10
"""Bytes of rows that stay in a near cache while the panels pass by, once for all of them."""

_CODED_ROWS_BYTES = 256 << 10
"""The same of panels that have to be copied each time: more rows share a copy."""

_UNITS = 16
"""Tiles one below the other from which on threads share them, and not the panels. Panels that have
to be copied are shared wherever there are more of them."""

Location = tuple[Shape, Coords, Coord]
"""Of an element: a shape, coordinates in it, their flat index."""


class Left(Protocol):
    """The rows of a left operand.

    stride, step: bytes from a row to the next, and from an element of a row to the next. brought:
    whether `bring` has to copy rows before they can be read.
    """

    stride: int
    step: int
    brought: bool

    def bring(self, n: Coord, first: Coord, end: Coord) -> None:
        """Copies the rows from `first` to the one before `end`, if they are brought."""

    def point(self, n: Coord, row: Coord, first: Coord) -> int:
        """A local with the address of a row. first: that of the rows that were brought."""


class Right(Protocol):
    """The panels of a right operand. size: bytes to which `bring` copies a panel; 0 if the panels
    can be read where they are."""

    size: int

    def bring(self, n: Coord, column: Coord) -> None:
        """Copies the panel whose first column is `column`, if panels are brought."""

    def point(self, n: Coord, column: Coord) -> int:
        """A local with the address of a panel, of which nothing else is a copy."""


@dataclass(frozen=True)
class Tiled:
    """A product of matrices, `batch` times (rows, depth) @ (depth, columns), of which sums may end
    before: behind `end` products.

    locate: the location of an element (n, row, column). width: elements that `store` takes at once.
    scratch: the local with the address of memory for the kernel's own use: first for a copied
    panel, then for copied rows, then for a tile.
    """

    body: Expression
    node: Node
    left: Left
    right: Right
    batch: int
    rows: int
    depth: int
    columns: int
    locate: Callable[[Coord, Coord, Coord], Location]
    store: Store
    width: int
    scratch: int
    end: Coord

    def write(self) -> int:
        """Writes it, and returns how many bytes of memory it uses."""
        high, wide = -(-self.rows // self._height), self.columns // panels.COLUMNS
        few = self.batch * high < (wide if self.right.size else min(_UNITS, wide))
        by_panels = few and not self.left.brought and not self.columns % panels.COLUMNS
        tiles.in_parts(self.body, self.batch, high, wide, by_panels, self._matrix)
        return self._waiting + 16 * self._height * tiles.VECTORS

    @cached_property
    def _height(self) -> int:
        """Rows of a tile."""
        return tiles.height_of(self.rows, tiles.most_rows(self.body))

    @cached_property
    def _at_once(self) -> int:
        """Tiles whose rows the panels pass by."""
        near = _CODED_ROWS_BYTES if self.right.size else _ROWS_BYTES
        return max(near // (4 * self.depth * self._height), 1)

    @cached_property
    def _waiting(self) -> int:
        """Bytes of memory before those in which a tile waits to be stored."""
        rows = 4 * self.depth * self._height * self._at_once if self.left.brought else 0
        return self.right.size + rows

    def _matrix(self, n: Coord, rows: tiles.Span, across: tiles.Span) -> None:
        """A part of the `n`-th matrix.

        rows, across: the beginning and end of the part, in tiles, and in whole panels.
        """
        body, height = self.body, self._height
        last = self.rows - height

        def start(tile: Coord) -> Coord:
            return body.at_most(tile * height, last)  # the last tile may begin within another

        def block(begin: Coord, end: Coord) -> None:
            first = start(begin)
            if self.left.brought:
                self.left.bring(n, first, start(end - 1) + height)

            def down(column: Coord, vectors: int) -> None:
                self.right.bring(n, column)
                body.span(begin, end, lambda tile: one(start(tile), column, vectors))

            def one(row: Coord, column: Coord, vectors: int) -> None:
                left = self.left.point(n, row, first)
                self._tile((n, row, column), left, vectors)

            body.span(*across, lambda panel: down(panel * panels.COLUMNS, tiles.VECTORS))
            rest = self.columns % panels.COLUMNS
            if rest:
                down(self.columns - rest, -(-rest // 4))

        body.blocks(*rows, self._at_once, block)

    def _tile(self, first: tuple[Coord, Coord, Coord], left: int, vectors: int) -> None:
        """A tile from the element `first` on."""
        body, (n, row, column), size = self.body, first, 16 * vectors
        panel, height = self.right.point(n, column), self._height
        sums = tiles.multiplied(body, left, self.left, panel, self.end, height, vectors)
        # What is fused behind is written once, in a loop, and not once for each of its vectors.
        waiting = behind(body, self.scratch, self._waiting)
        tiles.lay_down(body, sums, waiting)

        def keep(down: Coord) -> None:
            for vector in range(vectors):
                local = tiles.taken_up(body, waiting, down * size + 16 * vector)
                body.scope(partial(self._keep, local, n, row + down, column + 4 * vector))

        body.loop(height, keep)

    def _keep(self, local: int, n: Coord, row: Coord, column: Coord) -> None:
        """Stores a vector."""
        left = self.columns - column if isinstance(column, int) else 4

        def locate(lane: int) -> Location:
            return self.locate(n, row, column + lane)

        store_vector(self.body, self.node, self.store, local, min(left, 4), locate, self.width)


def store_vector(
    body: Expression,
    node: Node,
    store: Store,
    vector: int,
    count: int,
    locate: Callable[[int], Location],
    width: int,
) -> None:
    """Stores the first `count` lanes of a vector of results, and what is fused behind them, `width`
    at a time. locate: the location of a lane."""
    if width == count == 4:
        body.give(node, vector)
        store(*locate(0), 4)
        return
    one = body.function.local(kind_of(node.dtype))
    for lane in range(count):
        body.emit("local.get", vector)
        body.emit(f"{shape_of(node.dtype, 4)}.extract_lane", lane)
        body.emit("local.set", one)
        body.give(node, one)
        body.scope(partial(store, *locate(lane), 1))


class Panels:
    """Panels of float32 in memory. address: the local with theirs."""

    size = 0

    def __init__(self, body: Expression, address: int, depth: int, columns: int) -> None:
        self._body, self._address = body, address
        self._depth, self._columns = depth, panels.count(columns) * panels.COLUMNS

    def bring(self, n: Coord, column: Coord) -> None:
        """They are read where they are."""

    def point(self, n: Coord, column: Coord) -> int:
        """A local with the address of a panel."""
        return self._body.pointer(self._address, (n * self._columns + column) * self._depth * 4)


class InMemory:
    """Rows that lie in memory, at the same distance from each other, like their elements."""

    brought = False

    def __init__(self, body: Expression, view: Node) -> None:
        self._body, self._view = body, view
        n, row, k = (variable(name, dim) for name, dim in zip("nrk", view.shape, strict=True))
        linear = joined(body.locate(view, (n, row, k))[1])
        self.stride = 4 * coefficient(linear, row)
        self.step = 4 * coefficient(linear, k)

    def bring(self, n: Coord, first: Coord, end: Coord) -> None:
        """They are read where they are."""

    def point(self, n: Coord, row: Coord, first: Coord) -> int:
        """A local with the address of a row."""
        address, linear = self._body.locate(self._view, (n, row, 0))
        return self._body.pointer(address, joined(linear) * 4)


class Copied:
    """Rows of any view, copied to memory of the kernel's own. address: its local. end: how many
    elements of a row are."""

    brought = True

    def __init__(self, body: Expression, view: Node, address: int, end: Coord) -> None:
        self._body, self._view, self._address, self._end = body, view, address, end
        self.stride, self.step = 4 * view.shape[2], 4

    def bring(self, n: Coord, first: Coord, end: Coord) -> None:
        """Copies the rows from `first` to `end`."""
        body = self._body
        copier = Copier(body, self._address)

        def one(row: Coord, k: Coord) -> None:
            copier.value(body.value(self._view, (n, row, k)))

        body.span(first, end, lambda row: body.up_to(self._end, lambda k: one(row, k)))

    def point(self, n: Coord, row: Coord, first: Coord) -> int:
        """A local with the address of a row."""
        return self._body.pointer(self._address, (row - first) * self.stride)


def coefficient(linear: Coord, along: Coord) -> int:
    """By how much an index grows with a variable. Raises UnsupportedError if that varies."""
    if isinstance(linear, int) or isinstance(along, int):
        return 0
    ((_, wanted),) = along.terms
    found = 0
    for coefficient, atom in linear.terms:
        if atom == wanted:
            found = coefficient
        elif _mentions(atom.index, wanted):
            raise UnsupportedError("rows at different distances")
    return found


def _mentions(index: Coord, wanted: Atom) -> bool:
    if isinstance(index, int):
        return False
    return any(atom == wanted or _mentions(atom.index, wanted) for _, atom in index.terms)


def behind(body: Expression, address: int, size: int) -> int:
    """The local with the address of what is behind so many bytes."""
    if not size:
        return address
    return body.result_of("i32.add", address, number=size)


def product(body: Expression, node: Node, store: Store, width: int, scratch: int) -> int:
    """Writes (batch, rows, depth) @ (batch, depth, columns), and what is fused behind it. Of a
    `matmul_to`, sums end at the length that is read.

    `store` computes that, given a shape, coordinates in it, their flat index and how many elements.
    scratch: the local with the address of memory for the kernel's own use, of which it takes as
    many bytes as are returned. What does not lie in panels is read element by element
    (unpacked.py).
    """
    a, b, *length = node.inputs
    batch, rows, columns = node.shape
    depth = a.shape[2]
    end: Coord = body.start(length[0], depth, 0) if length else depth
    right: Right
    if b.op is panels.unpack_panels and b.inputs[0] in body.addresses:
        right = Panels(body, body.addresses[b.inputs[0]], depth, columns)
    elif is_coded(b):
        right = Coded(body, b, scratch, width)
    else:
        unpacked_product(body, node, store, width, end)
        return 0

    def locate(n: Coord, row: Coord, column: Coord) -> Location:
        return node.shape, (n, row, column), (n * rows + row) * columns + column

    left: Left
    try:
        left = InMemory(body, a)
    except UnsupportedError:
        left = Copied(body, a, behind(body, scratch, right.size), end)
    tiled = Tiled(
        body, node, left, right, batch, rows, depth, columns, locate, store, width, scratch, end
    )
    return tiled.write()
