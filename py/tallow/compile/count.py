"""The work of a step of a plan, or of a graph: its arithmetic and the bytes that it moves.

Counted from the plan alone, without a device: the op's own work, not what a kernel adds to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from ..codegen.layout import stored_bytes
from ..core.codes import packed_bytes
from ..core.dtype import BY_NAME
from ..core.shape import size_of
from ..graph import Graph, Node
from ..ops import (
    attention,
    dynamic_recurrence,
    integer,
    recurrence,
    recurrence_gradient,
    recurrence_training,
    trees,
    window,
    winograd,
    winograd4,
)
from ..ops.kinds import (
    Attrs,
    Contraction,
    Elementwise,
    Movement,
    Op,
    Reduce,
    Spec,
    Window,
    op_named,
)
from ..ops.source import iota
from .plan import Step

_DYNAMIC = {
    dynamic_recurrence.dynamic_steps,
    dynamic_recurrence.word_steps,
    dynamic_recurrence.word_step,
}

# Operations that a device does while it moves a byte, about; the measure of `effort`.
_BALANCE = 8


@dataclass(frozen=True)
class Count:
    """flops: arithmetic operations; a multiply-add is two, an elementwise op one an element.
    read, written: bytes of the buffers that are bound."""

    flops: int
    read: int
    written: int

    @property
    def effort(self) -> float:
        """A guess at the share of the time, where nothing can be measured."""
        return self.flops + _BALANCE * (self.read + self.written)


def count(step: Step) -> Count:
    """What a step does each time it runs."""
    flops = sum(_flops(*each) for each in _computed(step))
    read = sum(stored_bytes(BY_NAME[name], size_of(shape)) for shape, name in step.reads)
    shape, name = step.write
    return Count(flops, read, stored_bytes(BY_NAME[name], size_of(shape)))


def scratch_bytes(step: Step) -> int:
    """A lower bound of the bytes that NumPy allocates while a step runs: for results that are
    neither views nor stored where the last result goes."""
    last = size_of(step.write[0]), step.write[1]
    needed = 0
    for op, _, _, (shape, dtype) in _computed(step):
        alike = (size_of(shape), dtype.name) == last
        if not alike and op is not iota and not getattr(op, "view", False):
            needed += packed_bytes(dtype, size_of(shape))
    return needed


def _computed(step: Step) -> Iterator[tuple[Op, Attrs, list[Spec], Spec]]:
    """The ops that a step computes, with their attributes, operands and results."""
    reads: list[Spec] = [(shape, BY_NAME[name]) for shape, name in step.reads]
    results: list[Spec] = []
    for host in step.host:
        op = op_named(host.op)
        operands = [_spec(operand, reads, results) for operand in host.operands]
        results.append(op.infer(operands, host.attrs))
        yield op, host.attrs, operands, results[-1]


def effort(members: Sequence[Node], reads: Sequence[Node]) -> float:
    """The effort of computing nodes, the last of which is the result, in one step."""
    flops = sum(_flops_of(node) for node in members)
    read = sum(stored_bytes(node.dtype, _taken(node, members)) for node in reads)
    return Count(flops, read, stored_bytes(members[-1].dtype, members[-1].size)).effort


def _taken(node: Node, members: Sequence[Node]) -> int:
    """How many elements of a node the members read: of a slice, as many as it has."""
    readers = [member for member in members if node in member.inputs]
    taken = [x.size if isinstance(x.op, Movement) else node.size for x in readers]
    return min(max(taken, default=node.size), node.size)


def multiply_adds(graph: Graph) -> int:
    """The multiplications, each with its addition, of a graph's products and convolutions."""
    return multiply_adds_of(graph.nodes())


def multiply_adds_of(nodes: Iterable[Node]) -> int:
    """The multiplications, each with its addition, of some nodes."""
    total = 0
    for node in nodes:
        layer = node.op in (recurrence.recurrence, recurrence_gradient.recurrence_gradient)
        if layer or (isinstance(node.op, Contraction) and len(node.inputs) == 2):
            total += _flops_of(node) // 2
    return total


def anchor(step: Step) -> str:
    """The op that a step is about: its contraction or window, else its reduction, else the last."""
    ops = [op_named(host.op) for host in step.host]
    for kind in (Contraction, Reduce):
        for op in ops:
            if isinstance(op, kind):
                return op.name
    return step.name.split("+")[-1]


def _spec(operand: Sequence[object], reads: list[Spec], results: list[Spec]) -> Spec:
    kind, value = operand[0], operand[1]
    if kind == "number":
        _, _, name, shape = operand
        assert isinstance(name, str) and isinstance(shape, (list, tuple))
        return tuple(shape), BY_NAME[name]
    assert isinstance(value, int)
    return reads[value] if kind == "read" else results[value]


def _flops_of(node: Node) -> int:
    operands = [(child.shape, child.dtype) for child in node.inputs]
    return _flops(node.op, node.attrs, operands, (node.shape, node.dtype))


def _flops(op: Op, attrs: Attrs, operands: list[Spec], result: Spec) -> int:
    size = size_of(result[0])
    if isinstance(op, Window):
        if len(operands) == 1:  # a pool: one operation for each element of each window
            return size * int(prod(attrs["kernel"]))
        return 2 * size * size_of(operands[1][0][:3])
    if op is winograd.winograd_input:  # 32 sums for the 16 results of a patch
        return 2 * size
    if op is winograd.winograd_output:  # 24 sums of the 16 operands of a tile
        return 24 * size_of(operands[0][0]) // winograd.POSITIONS
    if op is winograd4.winograd_weight:  # 72 sums and products for the 36 results of a filter
        return 2 * size
    if op is winograd4.winograd_conv2d:  # the products alone
        tiles = result[0][0] * prod(winograd4.tiles_of(result[0][1:3]))
        return 2 * tiles * size_of(operands[1][0])
    if op is window.conv2d_weight_parts:
        return 2 * size_of(result[0][1:4]) * size_of(operands[1][0])
    if op is integer.integer_conv2d:
        return 2 * size * int(prod(attrs["kernel"])) * operands[0][0][3] // int(attrs["groups"])
    if op in _DYNAMIC:
        (time, batch, directions, width), _ = operands[0]
        return 2 * time * batch * directions * width * width // 4
    if op is recurrence_training.recurrence_back:
        return 2 * int(attrs["steps"]) * result[0][1] * size_of(operands[2][0])
    if op in (recurrence.recurrence_steps, recurrence_training.recurrence_kept):
        return 2 * int(attrs["steps"]) * operands[0][0][1] * size_of(operands[1][0])
    if op is recurrence.recurrence:
        (time, batch, _), weights, hidden = (shape for shape, _ in operands[:3])
        return 2 * time * batch * (size_of(weights) + size_of(hidden))
    if op is recurrence_gradient.recurrence_gradient:  # gates again, what goes back, and weights
        (time, batch, _), weights, hidden = (shape for shape, _ in operands[2:5])
        return 6 * time * batch * (size_of(weights) + size_of(hidden))
    if op is trees.walk_trees:  # at each step, what is tested, compared and chosen
        return 4 * size * int(attrs["depth"])
    if op is attention.attention:  # its products
        (*outer, size), (*_, keys, wide) = operands[0][0], operands[2][0]
        return 2 * size_of(outer) * keys * (size + wide)
    if isinstance(op, Contraction):
        return 2 * size * operands[0][0][-1]
    if isinstance(op, Reduce):
        return size_of(operands[0][0])
    return size if isinstance(op, Elementwise) else 0
