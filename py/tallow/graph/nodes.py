"""Nodes: an op applied to nodes.

A node's shape and type are computed when it is built, so that a mistake fails where it was made.
Tensors are positional inputs, attributes are keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeVar

from .. import ops
from ..core import context
from ..core.dtype import DType
from ..core.hostarray import HostArray
from ..core.shape import Shape, check_rank, size_of
from ..ops.kinds import Elementwise, Frozen, Op, Source


class Node:
    """An op applied to nodes. Equal only to itself.

    Its shape and element type never change. Once it is computed, it becomes the buffer of its value
    (`become`), so that everything built from it computes nothing again.

    past: what derivatives remember of it (autodiff/past.py); nothing else looks into it. depth: how
    many ops lay between it and what is known when it was made; OPEN if it is computed from an
    input, whose value only a session or a trace feeds. known: its value, where the host has found
    it (compile/passes/fold.py); None where it can't, False before it has tried.
    """

    __slots__ = ("__weakref__", "attrs", "depth", "dtype", "inputs", "known", "op", "past", "shape")

    def __init__(
        self,
        op: Op,
        inputs: tuple[Node, ...],
        attrs: Frozen,
        shape: Shape,
        dtype: DType,
        past: object = None,
        depth: int = 0,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.attrs = attrs
        self.shape = shape
        self.dtype = dtype
        self.past: Any = past
        self.depth = depth
        self.known: HostArray | Literal[False] | None = False

    @property
    def is_alias(self) -> bool:
        """Whether it has the value of its input."""
        return self.op is ops.movement.reshape and self.shape == self.inputs[0].shape

    # Why: docs/decisions/eager.md, "A node becomes its buffer when it is computed"
    def become(self, op: Op, attrs: Frozen) -> None:
        """Becomes a source of the same shape and element type, which has its value."""
        if self.past is not None:
            seams.derivatives.carry(self)
        self.op, self.inputs, self.attrs, self.depth = op, (), attrs, 0

    @property
    def size(self) -> int:
        """The number of elements."""
        return size_of(self.shape)

    @property
    def is_source(self) -> bool:
        """Whether it begins a graph."""
        return isinstance(self.op, Source)

    @property
    def is_elementwise(self) -> bool:
        """Whether its op is elementwise."""
        return isinstance(self.op, Elementwise)

    @property
    def is_constant(self) -> bool:
        """Whether its data are known."""
        return self.op is ops.source.constant

    @property
    def is_input(self) -> bool:
        """Whether it is fed."""
        return self.op is ops.source.input_

    @property
    def is_buffer(self) -> bool:
        """Whether it is an array on a device."""
        return self.op is ops.source.buffer

    @property
    def is_scalar_constant(self) -> bool:
        """A constant of one element: it becomes a literal of the kernels that read it."""
        return self.is_constant and self.size == 1

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.dtype.name}{list(self.shape)}>"


_T = TypeVar("_T")


class Derivatives(Protocol):
    """Gradient state of nodes, in their slot `past`; autodiff/past.py implements it."""

    def past_of(self, inputs: tuple[Node, ...], dtype: DType) -> Any:
        """The past of a new node of these inputs, of which one has a past."""

    def carry(self, node: Node) -> None:
        """Keeps what a node's past needs of its op and inputs, before it becomes its value."""

    def needs(self, node: Node) -> Sequence[Node]:
        """The nodes that a node's past refers to beside its inputs, for its gradient alone."""

    def tracked(self, node: Node) -> bool:
        """Whether a gradient of the node reaches something that receives it."""

    def leaf(self, tensor: Any) -> object:
        """The past of nodes whose gradients a tensor receives."""

    def history(self, node: Node) -> object:
        """The past of what is given the value of this node, such as a variable."""

    def seal(self, node: Node) -> None:
        """Makes a gradient that would have to pass this node an error: it is the result of a
        compiled function."""

    def with_gradient(
        self, result: _T, operands: Sequence[_T], pull: Callable[..., list[_T]], saved: Sequence[_T]
    ) -> _T:
        """The function of autodiff/past.py, for functions of tensors, which are below it."""


OPEN = -1
"""The depth of what is computed from an input."""

DEEPEST = 2000
"""The depth beyond which what is known is computed before more is built on it: a chain of ops
without end, such as an average that nobody reads, would take ever longer to compile."""


class Seams:
    """What other rooms fill in when `import tallow` imports them.

    derivatives: autodiff/past.py is it. too_deep: computes nodes that are so deep in place;
    runtime/evaluator.py has it.
    """

    derivatives: Derivatives
    too_deep: Callable[[tuple[Node, ...]], None] | None = None


seams = Seams()

_NO_ATTRS = Frozen()


def make(op: Op, *inputs: Node, **attrs: Any) -> Node:
    """The node of an op on nodes; raises what the op's shape rule raises."""
    frozen = Frozen(tuple(sorted(attrs.items()))) if attrs else _NO_ATTRS
    return _inferred(op, inputs, frozen)


def _inferred(op: Op, inputs: tuple[Node, ...], attrs: Frozen) -> Node:
    shape, dtype = op.infer([(node.shape, node.dtype) for node in inputs], attrs)
    return _made(op, inputs, attrs, check_rank(tuple(shape), op.name), dtype)


def _made(op: Op, inputs: tuple[Node, ...], attrs: Frozen, shape: Shape, dtype: DType) -> Node:
    past, depth = None, 0
    for node in inputs:
        if node.depth > depth and depth != OPEN:
            depth = node.depth
        elif node.depth == OPEN:
            depth = OPEN
        if node.past is not None:
            past = True
    if past:
        past = seams.derivatives.past_of(inputs, dtype)
    if depth > DEEPEST and seams.too_deep is not None:
        seams.too_deep(inputs)
        depth = max(node.depth for node in inputs)
    if depth != OPEN:
        depth = OPEN if op is ops.source.input_ else depth + (1 if inputs else 0)
    node = Node(op, inputs, attrs, shape, dtype, past, depth)
    if context.recorder.used:
        recorder = context.recorder.get()
        if recorder is not None:
            recorder(node)
    return node


def alias(node: Node, past: object) -> Node:
    """A new node of the same value with another past. Compiling removes it."""
    if node.is_buffer:  # which does not hold the past of the first one
        twin: Node = node.attrs["buffer"].twin(past)
        return twin
    attrs = Frozen((("shape", node.shape),))
    depth = OPEN if node.depth == OPEN else node.depth + 1
    return Node(ops.movement.reshape, (node,), attrs, node.shape, node.dtype, past, depth)


def constant(data: HostArray) -> Node:
    """A node of known data."""
    return make(ops.source.constant, data=data, shape=data.shape, dtype=data.dtype)


def input_node(name: str, shape: Shape, dtype: DType) -> Node:
    """A node that is fed by name."""
    return make(ops.source.input_, name=name, shape=shape, dtype=dtype)


def rebuild(node: Node, inputs: tuple[Node, ...]) -> Node:
    """The same op and attributes on other inputs; the node itself if they are the same."""
    old = node.inputs
    if inputs == old:
        return node
    if [each.shape for each in inputs] != [each.shape for each in old]:
        return _inferred(node.op, inputs, node.attrs)
    if [each.dtype for each in inputs] != [each.dtype for each in old]:
        return _inferred(node.op, inputs, node.attrs)
    return _made(node.op, inputs, node.attrs, node.shape, node.dtype)
