"""Reverse mode: from a graph and gradients of its outputs to those of nodes within it.

It is a rewrite: what comes out are nodes, computed together with the graph that they belong to
(Griewank and Walther 2008, "Evaluating Derivatives", chapter 3).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..context import autocast
from ..graph import Node
from ..tensor import Tensor
from .hooks import notes, passed
from .past import FOLLOWED, Past, backwards, leaf_of
from .rules import gradients_of


def ancestry(outputs: Sequence[Node]) -> list[Node]:
    """Every node with a past that gradients of the outputs may reach, each after those that it
    depends on."""
    order: list[Node] = []
    done: set[Node] = set()
    stack = [*outputs][::-1]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        waiting = [
            child
            for child in backwards(node)
            if child.past is not None and child not in done and child.dtype.is_floating
        ]
        if waiting:
            stack += reversed(waiting)
            continue
        stack.pop()
        done.add(node)
        order.append(node)
    return order


def pullback(
    outputs: Sequence[Node], gradients: Sequence[Node], wanted: Sequence[Node]
) -> list[Node | None]:
    """The gradient of each wanted node: the transposed Jacobian of the outputs times `gradients`.

    None for a node that no output depends on. Raises GradientError for an op in between that has no
    derivative.
    """
    token = notes.set({})
    try:
        with autocast.override(False):  # the types are those of the graph already
            return _pulled_back(outputs, gradients, wanted)
    finally:
        notes.reset(token)


def _pulled_back(
    outputs: Sequence[Node], gradients: Sequence[Node], wanted: Sequence[Node]
) -> list[Node | None]:
    order = ancestry(outputs)
    goals = set(wanted)
    leading: set[Node] = set()
    for node in order:
        if node in goals or any(child in leading for child in backwards(node)):
            leading.add(node)
    found: dict[Node, Tensor] = {}

    def add(node: Node, gradient: Tensor) -> None:
        if node in leading:
            found[node] = found[node] + gradient if node in found else gradient

    for node, start in zip(outputs, gradients, strict=True):
        add(node, Tensor(start))
    for node in reversed(order):
        if node not in found:
            continue
        past: Past = node.past or FOLLOWED  # an output that is asked for itself
        leaf = leaf_of(node)
        hooks = past.hooks if leaf is None else leaf.gradient_hooks
        if hooks:
            found[node] = passed(hooks, found[node])
        if not any(child in leading for child in backwards(node)):
            continue
        route, gradient = past.route, found[node]
        each = gradients_of(node, gradient) if route is None else route.pulled(gradient, node)
        for child, part in zip(backwards(node), each, strict=True):
            if part is not None and child.dtype.is_floating:
                add(child, part)
        if node not in goals:
            del found[node]
    return [found[node].node if node in found else None for node in wanted]
