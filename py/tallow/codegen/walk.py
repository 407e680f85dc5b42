"""The one walk over a fused group: the value of a node at given coordinates, in any language.

A walk knows the nodes that are stored, and computes everything else where it is needed. A subclass
is the emitter of a language: it says how a value is read, computed and kept. Nothing is computed
twice; what has been is known under its node, its coordinates and its width: 1, or 4 for the
elements at four neighbouring coordinates along the node's lane axis, the last one longer than 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Sequence
from typing import Generic, TypeVar

from ..core.shape import Shape, strides_of
from ..graph import Node
from ..ops import movement
from ..ops.kinds import Elementwise, Movement, Pick, Reduce
from ..ops.source import iota
from .index import Coord, Coords, lane
from .picks import alike, inside, possible

Key = tuple[Node, Coords, int]

V = TypeVar("V")
"""A value that is kept: its name, or the local that holds it."""

C = TypeVar("C")
"""Code that computes a value; None where it lies on a stack afterwards."""


class Walk(ABC, Generic[V, C]):
    """The body of a function, growing.

    stored: the nodes that are in memory. flat: every node is indexed by one coordinate, its flat
    index.
    """

    def __init__(self, stored: Container[Node], flat: bool) -> None:
        self._stored = stored
        self.flat = flat
        self.flat_indices: dict[tuple[Shape, Coords], Coord] = {}
        self._given: dict[Node, V] = {}

    def give(self, node: Node, value: V) -> None:
        """Records the value of a node, at the requested coordinates and width."""
        self._given[node] = value

    def know(self, shape: Shape, coords: Coords, linear: Coord) -> None:
        """Records the flat index `linear` of coordinates in a shape."""
        self.flat_indices.setdefault((shape, coords), linear)

    def value(self, node: Node, coords: Coords, width: int = 1) -> V:
        """The value; what it needs is written first."""
        if node in self._given:
            return self._given[node]
        key = (node, coords, width)
        known = self._known(key)
        return self._keep(key, self._compute(node, coords, width)) if known is None else known

    def _compute(self, node: Node, coords: Coords, width: int) -> C:
        if node.is_scalar_constant:
            return self._constant(node, width)
        if node in self._stored:
            return self._read(node, self._linear(node, coords), width)
        if self.flat and isinstance(node.op, Movement):
            return self._again(self.value(node.inputs[0], coords, width))
        if isinstance(node.op, Elementwise):
            operands = [self.value(child, coords, width) for child in node.inputs]
            return self._elementwise(node, operands, width)
        if isinstance(node.op, Reduce):
            return self._reduced(node, coords, width)
        if node.op is iota:
            return self._iota(node, coords, width)
        if isinstance(node.op, Movement):
            return self._movement(node, coords, width)
        return self._other(node)

    def _linear(self, node: Node, coords: Coords) -> Coord:
        if self.flat:
            return coords[0]
        if (node.shape, coords) in self.flat_indices:
            return self.flat_indices[node.shape, coords]
        result: Coord = 0
        for coord, dim, stride in zip(coords, node.shape, strides_of(node.shape), strict=True):
            if dim > 1:
                result = result + coord * stride
        return result

    # ---- movement ------------------------------------------------------------------------------

    def _picks(self, node: Node, coords: Coords) -> list[Pick]:
        op = node.op
        assert isinstance(op, Movement) and op.pick is not None

        def read(operand: int, at: Coords, size: int, region: int | None = None) -> Coord:
            index = node.inputs[operand]
            if region is not None:
                return self.start(index, size, region)
            return self._position(index, at, size)

        return op.pick([child.shape for child in node.inputs], node.attrs, coords, read)

    def _movement(self, node: Node, coords: Coords, width: int) -> C:
        source = node
        while source.op is movement.reshape:
            source = source.inputs[0]
            if source in self._stored:  # row-major order is all that counts
                return self._read(source, self._linear(node, coords), width)
        picks = self._picks(node, coords)
        if node.op is movement.reshape:  # the flat index stays the same
            shape = node.inputs[0].shape
            self.know(shape, inside(shape, picks[0].coords), self._linear(node, coords))
        found = self._lanes(node, coords, picks) if width == 4 else "neighbours"
        if found is None:
            return self._one_by_one(node, [lane(node.shape, coords, each) for each in range(4)])
        picks = possible(picks)
        if len(picks) == 1 and not picks[0].when:
            return self._picked(node, picks[0], width, found == "one")
        return self._chosen(node, picks, width, found == "one")

    def _lanes(self, node: Node, coords: Coords, picks: list[Pick]) -> str | None:
        """Where four elements come from: see `alike`."""
        others = [lane(node.shape, coords, number) for number in range(1, 4)]
        return alike(node, picks, [self._picks(node, each) for each in others])

    def _picked(self, node: Node, pick: Pick, width: int, splats: bool) -> C:
        """What one pick gives. splats: one element is all four."""
        child = node.inputs[pick.operand]
        value = self.value(child, inside(child.shape, pick.coords), 1 if splats else width)
        return self._splat(value, child) if splats else self._again(value)

    def end(self, filled: Node) -> Coord:
        """The position from which on `fill_from` has its value."""
        start, dim = filled.inputs[1], filled.shape[filled.attrs["axis"]]
        return self.start(start, dim, 0)

    # ---- what a language says ------------------------------------------------------------------

    @abstractmethod
    def _known(self, key: Key) -> V | None:
        """The value that was kept under a key, where it still holds."""

    @abstractmethod
    def _keep(self, key: Key, code: C) -> V:
        """A value under a key, until the scope ends."""

    @abstractmethod
    def _again(self, value: V) -> C:
        """A value that was kept."""

    @abstractmethod
    def _constant(self, node: Node, width: int) -> C:
        """A number."""

    @abstractmethod
    def _read(self, node: Node, linear: Coord, width: int) -> C:
        """Elements of a stored node, from a flat index on."""

    @abstractmethod
    def _elementwise(self, node: Node, operands: Sequence[V], width: int) -> C:
        """An elementwise op of values."""

    @abstractmethod
    def _reduced(self, node: Node, coords: Coords, width: int) -> C:
        """A reduction."""

    @abstractmethod
    def _iota(self, node: Node, coords: Coords, width: int) -> C:
        """Numbers along an axis."""

    @abstractmethod
    def _position(self, index: Node, at: Coords, size: int) -> Coord:
        """A coordinate that is an element of a node: a position along an axis of `size`."""

    @abstractmethod
    def start(self, index: Node, size: int, region: int) -> Coord:
        """The start of a region along an axis, an element of a node without axes: from 0 to
        `size - region`."""

    @abstractmethod
    def _one_by_one(self, node: Node, lanes: Sequence[Coords]) -> C:
        """Four elements of a movement that come from different places."""

    @abstractmethod
    def _chosen(self, node: Node, picks: Sequence[Pick], width: int, splats: bool) -> C:
        """The first of the picks whose conditions hold; the op's fill value if none does."""

    @abstractmethod
    def _splat(self, value: V, node: Node) -> C:
        """One element of a node, four times."""

    @abstractmethod
    def _other(self, node: Node) -> C:
        """A node of another kind, which no group should have."""
