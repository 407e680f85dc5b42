"""Packed weights: constants of few bits that stay as they are on the GPU for a session's life.

A weight of int8, int4, bfloat16 and the like comes with a chain of steps that makes numbers of it:
a cast, a zero point, a scale. Computed once, those numbers would take up to eight times the memory
of the file. So each reader computes them as it loads (fuse.py takes the nodes of
`packed_nodes` for views), and `keep_packed` readies the chain for that: the data are put in the
order in which a product reads them, and factors of a whole row or column move behind the product.
float16 is not among these types: it is unpacked once. Why: docs/decisions/types.md, "Packed weights
stay packed on a GPU and are decoded at each read".
"""

from __future__ import annotations

from itertools import product
from typing import Literal

from ...codegen.layout import is_packed
from ...core.codes import pack
from ...core.dtype import float16, float32
from ...core.hostarray import HostArray, from_values
from ...core.shape import Shape, strides_of
from ...graph import Graph, Node, constant, make, rebuild
from ...ops import contract, gather, movement, panels, window
from ...ops import elementwise as e
from ...ops.kinds import Elementwise, Movement, Op
from ...ops.movement import runs_of
from ..partition import static_nodes
from . import rewrite

Axes = tuple[int, ...]

_MIN_ELEMENTS = 4096  # elements that are worth packing
_SMALL = 4  # times fewer elements than the weight have scales, zero points and tables

# The axes of an operand over which a product sums, by operand.
_SUMMED: dict[Op, dict[int, Axes]] = {
    contract.matmul: {0: (2,), 1: (1,)},
    window.conv2d: {1: (0, 1, 2)},
}


def packed_nodes(graph: Graph, static: set[Node]) -> set[Node]:
    """Those of the `static` nodes that a kernel computes wherever it reads them: the steps from
    packed data to numbers, and what spreads the small operands of these steps.

    A permute ends a chain: to read against the order in memory is slow, unless it is of a few
    numbers that are repeated.
    """
    chains = _chains(graph, static)
    turned: set[Node] = set()
    for node in chains:  # in topological order
        against = node.op is movement.permute and not is_small(node)
        if against or not turned.isdisjoint(node.inputs):
            turned.add(node)
    found = {node for node in chains if node not in turned and not node.is_constant}
    for node in list(found):
        if node.is_elementwise:
            for child in node.inputs:
                while child not in chains and _is_spread(child):
                    found.add(child)
                    child = child.inputs[0]
    return found


def keep_packed(graph: Graph) -> Graph:
    """The graph with packed weights in the order in which products read them."""
    static = static_nodes(graph)
    chains = _chains(graph, static)
    turning = _Turning(chains)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        summed = {} if node in static else _SUMMED.get(node.op, {})
        factors: list[Node] = []
        operands = list(inputs)
        for index, axes in summed.items():
            if node.inputs[index] in chains:
                same = tuple(range(len(node.inputs[index].shape)))
                weight, behind = parted(turning.turned(node.inputs[index], same), axes)
                operands[index] = weight
                factors += behind
        new = rebuild(node, tuple(operands))
        for factor in factors:
            new = make(e.multiply, new, rewrite.expand(factor, new.shape))
        return new

    return graph.rewrite(rule)


def is_large(node: Node) -> bool:
    """Whether a node holds elements of few bits that are worth packing."""
    return node.size >= _MIN_ELEMENTS and is_packed(node.dtype) and node.dtype != float16


def is_view(node: Node) -> bool:
    """Whether a node shows another's elements elsewhere."""
    return isinstance(node.op, Movement) and node.op.view


def is_cheap(node: Node) -> bool:
    """Whether a node takes no longer to compute than to read."""
    return isinstance(node.op, Elementwise) and node.op.cheap


def _is_spread(node: Node) -> bool:
    """Whether a node is a small operand in another shape or type."""
    return is_view(node) or node.op is e.cast


def _chains(graph: Graph, static: set[Node]) -> dict[Node, None]:
    """Large packed constants and what is made of each, in topological order."""
    chains: dict[Node, None] = {}
    for node in graph.nodes():
        if node.is_constant or node.op is panels.unpack_panels:
            large = is_large(node)
        elif node not in static:
            large = False
        elif node.op is gather.take:  # the table of a type's values
            table, codes = node.inputs
            large = codes in chains and table.is_constant and len(table.shape) == 1
            large = large and table.size * _SMALL <= node.size
        else:
            others = [child for child in node.inputs if child not in chains]
            large = len(others) < len(node.inputs) and (
                is_view(node) or (is_cheap(node) and all(is_small(o) for o in others))
            )
        if large:
            chains[node] = None
    return chains


def is_small(node: Node) -> bool:
    """Whether a node repeats much fewer elements."""
    source = node
    while _is_spread(source):
        source = source.inputs[0]
    return source.size * _SMALL <= node.size


# ---- the order of the data --------------------------------------------------------------------


class _Turning:
    """Moves permutes of chains into the order of their data, once for all uses of a weight."""

    def __init__(self, chains: dict[Node, None]) -> None:
        self.chains = chains
        self.known: dict[tuple[Node, Axes], Node] = {}

    def turned(self, node: Node, axes: Axes) -> Node:
        """The node with its axes permuted, if need be by a permute at its end."""
        key = node, axes
        if key not in self.known:
            self.known[key] = self._turn(node, axes)
        return self.known[key]

    def _turn(self, node: Node, axes: Axes) -> Node:
        shape = tuple(node.shape[axis] for axis in axes)
        if node.op is movement.permute:
            inner = node.attrs["axes"]
            return self.turned(node.inputs[0], tuple(inner[axis] for axis in axes))
        if node.is_constant and node in self.chains:
            return node if axes == tuple(sorted(axes)) else constant(reordered(node, axes))
        if node.op is movement.expand:
            return rewrite.expand(self.turned(node.inputs[0], axes), shape)
        if node.op is movement.reshape:
            order = _order_before(node, axes)
            if order is not None:
                return rewrite.reshape(self.turned(node.inputs[0], order), shape)
        if node.op is e.cast:
            return make(node.op, self.turned(node.inputs[0], axes), **node.attrs)
        if node in self.chains:
            if node.op is gather.take:
                return make(node.op, node.inputs[0], self.turned(node.inputs[1], axes), axis=0)
            if node.op is movement.slice_:
                parts = {
                    name: tuple(node.attrs[name][axis] for axis in axes)
                    for name in ("starts", "steps")
                }
                return make(node.op, self.turned(node.inputs[0], axes), shape=shape, **parts)
            if isinstance(node.op, Elementwise):
                return self._step(node, axes)
        return rewrite.permute(node, axes)

    def _step(self, node: Node, axes: Axes) -> Node:
        inputs = [
            self.turned(child if child in self.chains else uniform(child), axes)
            for child in node.inputs
        ]
        if node.op is e.subtract and is_zero(inputs[1]):
            return inputs[0]
        return make(node.op, *inputs, **node.attrs)


def _order_before(node: Node, axes: Axes) -> Axes | None:
    """The order of the axes before a reshape that makes what permuted axes after it make; None if
    the permutation tears apart what the reshape split."""
    source, target = node.inputs[0].shape, node.shape
    order: list[int] = []
    moved = [axis for axis in axes if target[axis] != 1]
    for before, after in sorted(
        runs_of(source, target),
        key=lambda run: min((moved.index(a) for a in run[1] if a in moved), default=0),
    ):
        run = [axis for axis in after if axis in moved]
        at = moved.index(run[0]) if run else 0
        if moved[at : at + len(run)] != run:
            return None
        order += before
    return tuple(order)


def reordered(node: Node, axes: Axes) -> HostArray:
    """The data of a constant with its axes permuted."""
    shape = tuple(node.shape[axis] for axis in axes)
    data: HostArray = node.attrs["data"]
    return data.made(lambda given: _in_order(given, axes), shape, node.dtype)


def _in_order(data: HostArray, axes: Axes) -> HostArray:
    """An array with its axes permuted: by slices along the longest of them."""
    code: Literal["H", "B"] = "H" if data.dtype.size == 2 else "B"
    before = data.words().cast("B").cast(code)
    words = bytearray(before.nbytes)
    after = memoryview(words).cast(code)
    shape = tuple(data.shape[axis] for axis in axes)
    source, target = strides_of(data.shape), strides_of(shape)
    steps = [(dim, source[axis], out) for dim, axis, out in zip(shape, axes, target, strict=True)]
    length, step, out_step = max(steps)
    steps.remove((length, step, out_step))
    starts = product(*([(at * a, at * b) for at in range(dim)] for dim, a, b in steps))
    for parts in starts:
        start, out = (sum(offsets) for offsets in zip((0, 0), *parts, strict=True))
        run = slice(start, start + (length - 1) * step + 1, step)
        after[out : out + (length - 1) * out_step + 1 : out_step] = before[run]
    return HostArray(pack(memoryview(words), data.dtype).toreadonly(), shape, data.dtype)


# ---- what a product does not need -------------------------------------------------------------


def parted(node: Node, summed: Axes) -> tuple[Node, list[Node]]:
    """A weight without those factors that are the same along the summed axes, and these, with 1
    for the length of what they do not vary along."""
    if node.op is movement.reshape and _real(node.shape) == _real(node.inputs[0].shape):
        # Axes of length 1 come and go: to each of the others belongs one before.
        inner = node.inputs[0]
        axes = [axis for axis, dim in enumerate(inner.shape) if dim != 1]
        real = [axis for axis, dim in enumerate(node.shape) if dim != 1]
        within = tuple(axes[real.index(axis)] for axis in summed if axis in real)
        rest, factors = parted(inner, within)
        return rewrite.reshape(rest, node.shape), [
            rewrite.reshape(
                factor,
                tuple(
                    factor.shape[axes[real.index(axis)]] if axis in real else 1
                    for axis in range(len(node.shape))
                ),
            )
            for factor in factors
        ]
    if node.op is movement.permute:
        order = node.attrs["axes"]
        rest, factors = parted(node.inputs[0], tuple(order[axis] for axis in summed))
        return rewrite.permute(rest, order), [rewrite.permute(each, order) for each in factors]
    if node.op is movement.expand:
        rest, factors = parted(node.inputs[0], summed)
        return rewrite.expand(rest, node.shape), factors
    if node.op is e.multiply and node.dtype == float32:
        for value, spread in (node.inputs, node.inputs[::-1]):
            factor = _repeated(spread)
            if factor is not None and all(factor.shape[axis] == 1 for axis in summed):
                rest, factors = parted(value, summed)
                return rest, [*factors, factor]
    return node, []


def _real(shape: Shape) -> Shape:
    return tuple(dim for dim in shape if dim != 1)


def _repeated(node: Node) -> Node | None:
    """What an expand repeats; None if the node is none."""
    if node.op is movement.expand:
        return node.inputs[0]
    return node if node.size == 1 else None


def uniform(node: Node) -> Node:
    """A small operand as one number repeated, if it is: zero points of many channels are all 0
    more often than not."""
    source = node
    while _is_spread(source):
        source = source.inputs[0]
    if not source.is_constant or source.size == 1 or not source.dtype.is_integer:
        return node
    values = set(source.attrs["data"].flat())
    if len(values) > 1 or not node.size:
        return node
    one = constant(from_values([values.pop()], (1,) * len(node.shape), node.dtype))
    return rewrite.expand(one, node.shape)


def is_zero(node: Node) -> bool:
    """Whether a node is known to be all zeros."""
    one = _repeated(node)
    return one is not None and one.is_scalar_constant and one.attrs["data"].item() == 0
