"""Gradient state of a node: one record in its slot `past`.

    slot               the node is                                  its gradient
    -----------------  -------------------------------------------  ------------------------------
    None               a constant to derivatives: of constants, of  ends here
                       integers, or made within `no_grad`
    TRACKED            made of nodes that are tracked               goes on by the rule of its op
    Past(leaf)         what a tensor that requires a gradient       is added to the tensor's `grad`
                       stands for
    Past(route)        made of several ops, or by a user's rule     goes on by the route
    Past(origin)       computed, and now a buffer                   goes on by its old op
    Past(hooks)        any of these, with user hooks                passes the hooks first
    Past(history)      the expression a variable was computed by    goes on once; see `spent`
    SEALED             made of a result of a compiled function      is an error
    SPENT              freed by `backward`                          is an error

The slot is filled when a node is made, and reading never writes it. So what is built while a
parameter is frozen, or within `no_grad`, stays a constant to derivatives. Passes of the compiler
make new nodes and ignore the slot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import ref

from ..core import context
from ..core.dtype import DType
from ..graph import Node, alias, make, seams
from ..ops import movement
from ..ops.kinds import Frozen, Op
from ..tensor import Tensor

Pullback = Callable[..., Sequence[Tensor | None]]
"""pull(gradient, result, *saved): the gradients of the operands. It must not hold the result
itself: the two would keep one another alive until the garbage collector runs."""


class Route(NamedTuple):
    """How a gradient passes a node: the operands it goes to, and what gives theirs. saved: nodes
    whose values that needs; a checkpoint gives it others in their place."""

    operands: tuple[Node, ...]
    pull: Pullback
    saved: tuple[Node, ...] = ()

    def pulled(self, gradient: Tensor, result: Node) -> Sequence[Tensor | None]:
        """The gradients of the operands."""
        return self.pull(gradient, Tensor(result), *map(Tensor, self.saved))

    def replaced(self, new: Mapping[Node, Node]) -> Route:
        """The same for other nodes."""
        operands = tuple(new.get(node, node) for node in self.operands)
        return Route(operands, self.pull, tuple(new.get(node, node) for node in self.saved))


class Origin(NamedTuple):
    """What a node was before it was computed."""

    op: Op
    inputs: tuple[Node, ...]
    attrs: Frozen


# Why: docs/decisions/derivatives.md, "What derivatives know of a node is one record in a slot of
# the node"
class Past(NamedTuple):
    """See the table at the head of this file.

    tracked: whether a gradient of the node reaches something that receives it.
    """

    leaf: ref[Tensor] | None = None
    route: Route | None = None
    origin: Origin | None = None
    hooks: dict[int, Any] | None = None
    history: bool = False
    spent: bool = False
    tracked: bool = True
    sealed: bool = False


TRACKED = Past()
SEALED = Past(tracked=False, sealed=True)
SPENT = Past(tracked=False, spent=True)


# ---- making nodes ------------------------------------------------------------------------------


class _Derivatives:
    """See `graph.Derivatives`."""

    def past_of(self, inputs: tuple[Node, ...], dtype: DType) -> Past | None:
        if not (dtype.is_floating and context.gradients.get()):
            return None
        found = None
        for node in inputs:
            past: Past | None = node.past
            if past is not None and node.dtype.is_floating:
                if past.tracked:
                    return TRACKED
                if past.sealed:
                    found = SEALED
        return found

    def carry(self, node: Node) -> None:
        past: Past = node.past
        if past.route is None and past.origin is None and any(x.past for x in node.inputs):
            node.past = past._replace(origin=Origin(node.op, node.inputs, node.attrs))

    def needs(self, node: Node) -> Sequence[Node]:
        route = node.past.route
        return () if route is None else (*route.operands, *route.saved)

    def tracked(self, node: Node) -> bool:
        return is_tracked(node)

    def leaf(self, tensor: Tensor) -> Past:
        return Past(leaf=ref(tensor))

    def history(self, node: Node) -> Past:
        return passed_to(alias(node, Past(history=True)))

    def seal(self, node: Node) -> None:
        node.past = SEALED

    def with_gradient(self, result: Any, operands: Any, pull: Any, saved: Any) -> Any:
        return with_gradient(result, operands, pull, saved)


seams.derivatives = _Derivatives()


def same(node: Node) -> Node:
    """A new node of the same value, so that it can have a past of its own."""
    return make(movement.reshape, node, shape=node.shape)


def stopped(node: Node) -> Node:
    """A node of the same value that no gradient passes: itself, if none does anyway."""
    return node if node.past is None else alias(node, None)


def argument(node: Node) -> Node:
    """A new node of the same value, by which a function is differentiated. An outer derivative goes
    on to the node itself, which a buffer's twin does not hold."""
    computed = node.is_buffer and node.past is not None
    return alias(node, passed_to(node) if computed else TRACKED)


def passed_to(node: Node) -> Past:
    """The past of a node whose gradient goes to another node of its shape."""
    return Past(route=Route((node,), _passed_on))


def _passed_on(gradient: Tensor, result: Tensor) -> Sequence[Tensor]:
    return (gradient,)


def with_gradient(
    result: Tensor, operands: Sequence[Tensor], pull: Pullback, saved: Sequence[Tensor] = ()
) -> Tensor:
    """The same tensor, whose gradient goes to the operands by `pull` instead of by its op's rule.
    saved: tensors that `pull` needs.

    For what is made of several ops whose own derivatives would lose digits or overflow."""
    node = result.node
    if node.past is None or node.past.route is None:
        route = routed([x.node for x in operands], pull, [x.node for x in saved])
        if node.past is not None or route is not None:
            node.past = route
    return result


def routed(operands: Sequence[Node], pull: Pullback, saved: Sequence[Node] = ()) -> Past | None:
    """The past of a node whose gradient goes to these operands."""
    inputs = tuple(operands)
    floating = next((node.dtype for node in inputs if node.dtype.is_floating), None)
    past = seams.derivatives.past_of(inputs, floating) if floating else None
    return Past(route=Route(inputs, pull, tuple(saved))) if past is TRACKED else past


# ---- reading -----------------------------------------------------------------------------------


def leaf_of(node: Node) -> Tensor | None:
    """The tensor that receives the gradient of a node."""
    past: Past | None = node.past
    if past is None or past.leaf is None:
        return None
    found = past.leaf()
    # A variable may be frozen while some expression still holds the node.
    return found if getattr(found, "_receives", True) else None


def is_tracked(node: Node) -> bool:
    """Whether a gradient of this node reaches a tensor that receives it, or by which a function is
    being differentiated."""
    past: Past | None = node.past
    return past is not None and past.tracked


def is_spent(node: Node) -> bool:
    """Whether `backward` has freed what it was computed from."""
    past: Past | None = node.past
    return past is not None and past.spent


def computed_as(node: Node) -> Origin:
    """The op, inputs and attributes that a node has, or had before it was computed."""
    past: Past | None = node.past
    if past is not None and past.origin is not None:
        return past.origin
    return Origin(node.op, node.inputs, node.attrs)


def backwards(node: Node) -> tuple[Node, ...]:
    """The nodes to which the gradient of a node goes."""
    past: Past | None = node.past
    if past is None:
        return ()
    if past.route is not None:
        return past.route.operands
    return node.inputs if past.origin is None else past.origin.inputs


# ---- changing ----------------------------------------------------------------------------------


def spend(node: Node) -> None:
    """Frees what a node was computed from, once `backward` has gone through it. What a variable
    was computed as is kept: another gradient that reaches it is an error."""
    past: Past | None = node.past
    if past is not None:
        keeps = past.history or past.leaf is not None
        node.past = past._replace(spent=True) if keeps else SPENT


def add_hooks(node: Node) -> dict[int, Any]:
    """The hooks of a node that is tracked, to which more can be added."""
    past: Past = node.past
    if past.hooks is None:
        past = node.past = past._replace(hooks={})
    assert past.hooks is not None
    return past.hooks
