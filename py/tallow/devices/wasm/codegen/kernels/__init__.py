"""A fused group as a WebAssembly function: loops without temporaries. Pure functions.

A kernel takes the addresses of what it reads, then that of its result. Its outermost loop is
parallel where turns are independent of each other: threads may share those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from .....codegen.groups import is_depthwise, is_flat
from .....codegen.index import Coord, Coords
from .....codegen.layout import Region
from .....core.shape import Shape
from .....graph import Node
from .....ops import arrange, contract, movement, panels, window
from .....ops.attention import attention
from .....ops.blocks import block_matmul
from .....ops.dynamic_recurrence import dynamic_steps
from .....ops.integer import integer_conv2d, integer_matmul
from .....ops.kinds import Contraction, Elementwise, Reduce, Window
from .....ops.recurrence import recurrence_steps
from .....ops.recurrence_training import recurrence_back, recurrence_kept
from .....ops.trees import walk_trees
from .....ops.winograd4 import winograd_conv2d, winograd_weight
from .. import storage
from ..assembler import Function
from ..expression import Expression
from ..values import UnsupportedError
from .arranging import argsort, scatter
from .convolutions import convolution
from .dots import integer_convolution, integer_product
from .dynamic_recurrence import dynamic_recurrence
from .products import product
from .recurrence import recurrent_steps
from .rows import linear_of, nested, write_rows
from .sliding import sliding
from .trees import walk
from .winograd import winograd_convolution, winograd_filters

_LONGEST = 100_000
"""Instructions of a function: engines refuse some millions of bytes, and compile that long."""


@dataclass(frozen=True)
class Features:
    """What an engine has beyond WebAssembly with SIMD. relaxed: relaxed SIMD. blas: NumPy's BLAS
    beside it, on arrays in its memory (devices/wasm/blas.py)."""

    relaxed: bool = False
    blas: bool = False


@dataclass(frozen=True)
class Kernel:
    """A function.

    scratch: the bytes of memory for its own use, whose address it takes behind those of what it
    reads and writes; None if it takes none. units: how many turns its parallel loop has. It takes
    as its last parameters the first turn to make, and the one behind the last; None if it makes all
    of them at each call.
    """

    function: Function
    scratch: int | None = None
    units: int | None = None


# Why: docs/decisions/webassembly.md, "A kernel of WebAssembly is written for vectors, or else for
# single elements, or else not at all"
def kernel_for(
    root: Node,
    members: Sequence[Node],
    reads: Sequence[Node],
    row: tuple[int, ...] = (),
    features: Features = Features(),
    region: Region | None = None,
    threads: bool = False,
    update: bool = False,
) -> Kernel:
    """The function that computes `root` from `reads`.

    members: the nodes that it computes, the root among them, in the order of computation. row: the
    axes of a row, if values per row are reduced and spread again. region: where the result is
    stored, if it is a part of a larger one. threads: whether a call makes a part of the turns.
    update: whether the root is an update of what is in its memory, where the rest of it is.
    Raises UnsupportedError for what has no kernel here.
    """
    problem = ""
    anchors = [node for node in members if isinstance(node.op, Contraction)]
    flat = not update and not anchors and not row and is_flat(root, members, reads)
    ways = [(4, True), (1, True)]
    if any(isinstance(node.op, Reduce) for node in members):
        ways.append((1, False))
    for width, vectors in ways:
        count = len(reads) + 1 + bool(anchors or row)
        turns = (count, count + 1) if threads else None
        function = Function(["i32"] * (count + 2 * threads))
        addresses = {node: number for number, node in enumerate(reads)}
        body = Expression(function, addresses, flat, features.relaxed, turns, vectors)
        target, scratch = _Target(body, root, len(reads), region), None
        try:
            if row:
                own = len(reads) + 1
                scratch = write_rows(body, root, members, row, target.store, width, own)
            elif anchors:
                scratch = _anchored(target, anchors[0], members, width)
            elif flat:
                _flat(target, width)
            elif update:
                from .region import write_region  # which most pages do not need

                write_region(body, root, target.address, width)
            else:
                _everywhere(target, width)
            if len(function.code) > _LONGEST:
                raise UnsupportedError(f"a kernel of {len(function.code)} instructions")
        except UnsupportedError as error:
            problem = str(error)  # an error that is kept keeps all frames, with the whole graph
            continue
        return Kernel(function, scratch, body.units if threads else None)
    raise UnsupportedError(problem)


class _Target:
    """The memory of the result."""

    def __init__(self, body: Expression, root: Node, address: int, region: Region | None) -> None:
        self.body, self.root, self.address, self.region = body, root, address, region

    def store(self, coords: Coords, linear: Coord, width: int) -> None:
        """Computes the root at coordinates and writes it to a flat index."""
        value = self.body.value(self.root, coords, width)
        index = self.region.flat_index(linear) if self.region else linear
        offset = self.body.push_address(self.address, self.root.dtype, index)
        self.body.emit("local.get", value)
        storage.store(self.body.function, self.root.dtype, offset, width)


def _anchored(target: _Target, anchor: Node, members: Sequence[Node], width: int) -> int:
    """A contraction, and what is fused behind it. The bytes of memory of its own."""
    body, root = target.body, target.root

    def store(space: Shape, coords: Coords, linear: Coord, lanes: int) -> None:
        inside = coords
        if root.shape != space:
            inside = movement.reshape_coords(root.shape, space, coords)
        body.know(root.shape, inside, linear)
        target.store(inside, linear, lanes)

    scratch = target.address + 1
    if anchor.op in (contract.matmul, contract.matmul_to):
        return product(body, anchor, store, width, scratch)
    if anchor.op is block_matmul:
        from .blocks import block_product  # which most pages do not need

        return block_product(body, anchor, store, width, scratch)
    if anchor.op is window.conv2d and not is_depthwise(anchor):
        return convolution(body, anchor, store, width, scratch)
    if anchor.op is winograd_weight:
        winograd_filters(body, anchor, store, width)
        return 0
    if anchor.op is winograd_conv2d:
        return winograd_convolution(body, anchor, store, width, scratch)
    if anchor.op is arrange.argsort:
        return argsort(body, anchor, store, scratch)
    if anchor.op is arrange.scatter:
        return scatter(body, anchor, store, width, scratch)
    if anchor.op in (recurrence_steps, recurrence_kept):
        return recurrent_steps(body, anchor, store, width, scratch)
    if anchor.op is recurrence_back:
        from .recurrence_gradient import steps_back  # which pages that do not train do not need

        return steps_back(body, anchor, store, width, scratch)
    if anchor.op is dynamic_steps:
        return dynamic_recurrence(body, anchor, store, width, scratch)
    if anchor.op is attention:
        from .attending import attend  # which most pages do not need

        return attend(body, anchor, store, width, scratch)
    if anchor.op is walk_trees:
        walk(body, anchor, store)
        return 0
    if anchor.op is integer_matmul:
        return integer_product(body, anchor, store, width, scratch)
    if anchor.op is integer_conv2d:
        return integer_convolution(body, anchor, store, width, scratch)
    if not isinstance(anchor.op, Window):
        raise UnsupportedError(anchor.op.name)
    behind = sum(isinstance(node.op, Elementwise) for node in members)
    return sliding(body, anchor, store, width, scratch, behind)


def _flat(target: _Target, width: int) -> None:
    """One loop, and what is left of a vector."""
    size = target.root.size
    whole = size - size % width

    def write(index: Coord, lanes: int) -> None:
        target.store((index,), index, lanes)

    def rest() -> None:
        for index in range(whole, size):
            target.body.scope(partial(write, index, 1))

    target.body.parallel((whole // width,), lambda at: write(at[0] * width, width))
    if whole < size:
        target.body.after_last(rest)


def _everywhere(target: _Target, width: int) -> None:
    root = target.root

    def write(coords: Coords, lanes: int) -> None:
        target.store(coords, linear_of(root.shape, coords), lanes)

    ends = {}
    if root.op is panels.pack_panels and len(root.inputs) > 1:
        ends[2] = target.body.start(root.inputs[1], root.shape[2], 0)
    nested(target.body, root.shape, write, width, parallel=True, again=True, ends=ends)
