"""A fused group as a WebAssembly function: loops without temporaries. Pure functions.

A kernel takes the addresses of what it reads, then that of its result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ...graph import Node
from ...op import Contraction, Elementwise, Reduce, Window
from ...ops import contract, movement, window
from ...ops.winograd4 import winograd_conv2d, winograd_weight
from ...shape import Shape
from ..groups import is_depthwise, is_flat, is_per_row
from ..index import Coord, Coords, lane_axis
from ..layout import Region
from . import storage
from .assembler import Function
from .convolutions import convolution
from .expression import Expression
from .products import product
from .sliding import sliding
from .values import UnsupportedError
from .winograd import winograd_convolution, winograd_filters

_LONGEST = 100_000
"""Instructions of a function: engines refuse some millions of bytes, and compile that long."""


@dataclass(frozen=True)
class Features:
    """What an engine has beyond WebAssembly with SIMD. relaxed: relaxed SIMD."""

    relaxed: bool = False


@dataclass(frozen=True)
class Kernel:
    """A function and the bytes of memory for its own use, of which it takes the address as a last
    parameter; None if it takes none."""

    function: Function
    scratch: int | None = None


def kernel_for(
    root: Node,
    members: Sequence[Node],
    reads: Sequence[Node],
    row: tuple[int, ...] = (),
    features: Features = Features(),
    region: Region | None = None,
) -> Kernel:
    """The function that computes `root` from `reads`.

    members: the nodes that it computes, the root among them, in the order of computation. row: the
    axes of a row, if values per row are reduced and spread again. region: where the result is
    stored, if it is a part of a larger one. Raises UnsupportedError for what has no kernel here.
    """
    problem: UnsupportedError | None = None
    anchors = [node for node in members if isinstance(node.op, Contraction)]
    flat = not anchors and not row and is_flat(root, members, reads)
    for width in (4, 1):
        function = Function(["i32"] * (len(reads) + 1 + bool(anchors)))
        addresses = {node: number for number, node in enumerate(reads)}
        body = Expression(function, addresses, flat, features.relaxed)
        target, scratch = _Target(body, root, len(reads), region), None
        try:
            if row:
                _rows(target, members, row, width)
            elif anchors:
                scratch = _anchored(target, anchors[0], width)
            elif flat:
                _flat(target, width)
            else:
                _everywhere(target, width)
            if len(function.code) > _LONGEST:
                raise UnsupportedError(f"a kernel of {len(function.code)} instructions")
        except UnsupportedError as error:
            problem = error
            continue
        return Kernel(function, scratch)
    assert problem is not None
    raise problem


class _Target:
    """The memory of the result."""

    def __init__(self, body: Expression, root: Node, address: int, region: Region | None) -> None:
        self.body, self.root, self.address, self.region = body, root, address, region

    def store(self, coords: Coords, linear: Coord, width: int) -> None:
        """Computes the root at coordinates and writes it to a flat index."""
        value = self.body.value(self.root, coords, width)
        place = self.region.flat_index(linear) if self.region else linear
        offset = self.body.push_address(self.address, self.root.dtype, place)
        self.body.emit("local.get", value)
        storage.store(self.body.function, self.root.dtype, offset, width)


def _anchored(target: _Target, anchor: Node, width: int) -> int:
    """A contraction, and what is fused behind it. The bytes of memory of its own."""
    body, root = target.body, target.root

    def store(space: Shape, coords: Coords, linear: Coord, lanes: int) -> None:
        inside = coords
        if root.shape != space:
            inside = movement.reshape_coords(root.shape, space, coords)
        body.know(root.shape, inside, linear)
        target.store(inside, linear, lanes)

    scratch = target.address + 1
    if anchor.op is contract.matmul:
        return product(body, anchor, store, width, scratch)
    if anchor.op is window.conv2d and not is_depthwise(anchor):
        return convolution(body, anchor, store, width, scratch)
    if anchor.op is winograd_weight:
        winograd_filters(body, anchor, store, width)
        return 0
    if anchor.op is winograd_conv2d:
        return winograd_convolution(body, anchor, store, width, scratch)
    if not isinstance(anchor.op, Window):
        raise UnsupportedError(anchor.op.name)
    sliding(body, anchor, store, width)
    return 0


def _flat(target: _Target, width: int) -> None:
    """One loop, and what is left of a vector."""
    size = target.root.size
    whole = size - size % width

    def write(index: Coord, lanes: int) -> None:
        target.store((index,), index, lanes)

    target.body.loop(whole, lambda index: write(index, width), width)
    for index in range(whole, size):
        target.body.scope(partial(write, index, 1))


def _nested(
    body: Expression, shape: Shape, write: Callable[[Coords], None], width: int = 1
) -> None:
    """A loop for each axis; that along the lane axis takes `width` elements at a time."""
    lanes = lane_axis(shape) if shape else -1

    def at(axis: int, coords: Coords) -> None:
        if axis == len(shape):
            write(coords)
            return
        step = width if axis == lanes else 1
        if axis == lanes and shape[axis] <= 4 * step:  # a turn costs as much as an element
            for index in range(0, shape[axis], step):
                body.scope(partial(at, axis + 1, (*coords, index)))
            return
        body.loop(shape[axis], lambda coord: at(axis + 1, (*coords, coord)), step)

    at(0, ())


def _everywhere(target: _Target, width: int) -> None:
    root, body = target.root, target.body
    if width == 4 and (not root.shape or root.shape[lane_axis(root.shape)] % 4):
        raise UnsupportedError("a row that is no multiple of four elements")

    def write(coords: Coords) -> None:
        target.store(coords, _linear(root.shape, coords), width)

    _nested(body, root.shape, write, width)


def _rows(target: _Target, members: Sequence[Node], row: tuple[int, ...], width: int) -> None:
    """Each reduction in a loop over the row, then the results."""
    if width == 4:
        raise UnsupportedError("rows of vectors")
    root, body = target.root, target.body
    outer, inner = root.shape[: row[0]], root.shape[row[0] :]

    def one(before: Coords) -> None:
        per_row = (*before, *(0 for _ in inner))

        def over(step: Callable[[Coords], None]) -> None:
            _nested(body, inner, lambda after: step((*before, *after)))

        for node in members:
            if isinstance(node.op, Reduce):
                body.remember(node, per_row, body.fold(node, 1, over))
            elif isinstance(node.op, Elementwise) and is_per_row(node, root, row):
                body.value(node, per_row)
        over(lambda coords: target.store(coords, _linear(root.shape, coords), 1))

    _nested(body, outer, one)


def _linear(shape: Shape, coords: Coords) -> Coord:
    linear: Coord = 0
    for axis, coord in enumerate(coords):
        linear = linear + coord * math.prod(shape[axis + 1 :])
    return linear
