"""What derivatives know about nodes beside their ops.

A node here goes its own way backwards: through other operands, or a rule of the user's, or not at
all. The tables hold nodes weakly and leave the graph as it is, so that compiling, fusing and
finding plans again know nothing of derivatives.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from .. import graph
from ..errors import GradientError
from ..graph import Node, make
from ..ops import movement
from ..tensor import Tensor

Pullback = Callable[..., Sequence[Tensor | None]]
"""pull(gradient, result, *saved): the gradients of the operands. It must not hold the result
itself, which the tables below could then never let go."""


class Step(NamedTuple):
    """How a gradient passes a node: the operands it goes to, and what gives theirs. saved: nodes
    whose values that needs; a checkpoint gives it others in their place."""

    operands: tuple[Node, ...]
    pull: Pullback
    saved: tuple[Node, ...] = ()

    def pulled(self, gradient: Tensor, result: Node) -> Sequence[Tensor | None]:
        """The gradients of the operands."""
        return self.pull(gradient, Tensor(result), *map(Tensor, self.saved))

    def replaced(self, new: Mapping[Node, Node]) -> Step:
        """The same for other nodes."""
        operands = tuple(new.get(node, node) for node in self.operands)
        return Step(operands, self.pull, tuple(new.get(node, node) for node in self.saved))


STOP = Step((), lambda gradient, result: ())
"""No gradient passes."""

STEPS: WeakKeyDictionary[Node, Step] = WeakKeyDictionary()
"""The nodes whose gradient does not follow the rule of their op."""

SPENT: WeakSet[Node] = WeakSet()
"""Nodes that `backward` has gone through, and whose history it has let go."""

HELD: WeakSet[Node] = WeakSet()
"""Nodes that hold the histories of variables: of what a variable was given in place."""

passing: dict[Any, Any] = {}
"""What the way back notes for its own later steps (nn/hooks.py); it is forgotten at its end."""

_LEAVES: WeakKeyDictionary[Node, weakref.ref[Tensor]] = WeakKeyDictionary()

_ARGUMENTS: WeakSet[Node] = WeakSet()
"""Nodes by which a function is being differentiated (transforms.py)."""

HOOKS: WeakKeyDictionary[Node, dict[int, Any]] = WeakKeyDictionary()
"""What is called with the gradients of nodes (hooks.py)."""

ORIGINS: WeakKeyDictionary[Node, weakref.ref[Node]] = WeakKeyDictionary()
"""What nodes were computed, by the nodes of their values."""

COMPILED: WeakSet[Node] = WeakSet()
"""Results of functions under `@tl.jit`, which would pass a gradient on if they were not."""


def same(node: Node) -> Node:
    """A new node of the same value, so that it can have a history of its own. Compiling removes
    it."""
    return make(movement.reshape, node, shape=node.shape)


def stopped(node: Node) -> Node:
    """A node of the same value that no gradient passes."""
    found = same(node)
    STEPS[found] = STOP
    return found


def check_floating(tensor: Tensor, what: str) -> None:
    """GradientError for a tensor of integers or truth values."""
    if not tensor.dtype.is_floating:
        raise GradientError(
            f"{what}: only floating tensors have a gradient, not {tensor.dtype.name}; "
            "cast it with .astype('float32')"
        )


def with_gradient(
    result: Tensor, operands: Sequence[Tensor], pull: Pullback, saved: Sequence[Tensor] = ()
) -> Tensor:
    """The same tensor, whose gradient goes to the operands by `pull` instead of by its op's rule.
    saved: tensors that `pull` needs.

    For what is made of several ops whose own derivatives would lose digits or overflow."""
    if result.node not in STEPS:  # within no_grad
        STEPS[result.node] = Step(
            tuple(x.node for x in operands), pull, tuple(x.node for x in saved)
        )
    return result


def mark_leaf(node: Node, tensor: Tensor) -> None:
    """Has `tensor` receive the gradient of a node."""
    _LEAVES[node] = weakref.ref(tensor)


def leaf_of(node: Node) -> Tensor | None:
    """The tensor that receives the gradient of a node."""
    held = _LEAVES.get(node)
    found = None if held is None else held()
    # A variable may be frozen while some expression still holds the node.
    return found if getattr(found, "_receives", True) else None


def was_leaf(node: Node) -> bool:
    """Whether some tensor received the gradient of a node, which may be frozen by now."""
    return node in _LEAVES


def backwards(node: Node) -> tuple[Node, ...]:
    """The nodes to which the gradient of a node goes."""
    step = STEPS.get(node)
    return node.inputs if step is None else step.operands


def argument(node: Node) -> Node:
    """A new node of the same value, by which a function is differentiated."""
    found = same(node)
    STEPS.pop(found, None)  # if it was made within no_grad
    _ARGUMENTS.add(found)
    return found


def is_tracked(node: Node) -> bool:
    """Whether a gradient of this node reaches a tensor that receives it, or by which a function is
    being differentiated."""
    if not (_LEAVES or _ARGUMENTS) or not node.dtype.is_floating:
        return False
    stack, seen = [node], {node}
    while stack:
        here = stack.pop()
        if here in _ARGUMENTS or leaf_of(here) is not None:
            return True
        for child in backwards(here):
            if child not in seen and child.dtype.is_floating:
                seen.add(child)
                stack.append(child)
    return False


def replaced_by_value(node: Node, value: Node) -> None:
    """`value` is a node that has been computed: gradients go on through what it was computed by."""
    step = STEPS.get(node)
    ORIGINS[value] = weakref.ref(node)
    if step is None or node in HOOKS or node in _ARGUMENTS:
        STEPS[value] = Step((node,), lambda gradient, result: (gradient,))
    else:
        STEPS[value] = step


def held(node: Node) -> Node:
    """A new node of the same value, which a variable keeps as its history."""
    found = same(node)
    HELD.add(found)
    return found


def origin(node: Node, among: Collection[Node]) -> Node:
    """The node itself, or the one among others whose value it is."""
    found: Node | None = node
    while found is not None and found not in among:
        held = ORIGINS.get(found)
        found = None if held is None else held()
    return node if found is None else found


def _stop(node: Any) -> None:
    STEPS[node] = STOP


graph.stop = _stop
