"""Reverse mode: from a graph and gradients of its outputs to those of nodes within it.

It is a rewrite: what comes out are nodes, computed together with the graph that they belong to
(Griewank and Walther 2008, "Evaluating Derivatives", chapter 3).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.context import autocast
from ..graph import Node
from ..tensor import Tensor
from .hooks import notes, passed
from .past import TRACKED, Past, backwards, leaf_of
from .rules import gradients_of

Ancestry = dict[Node, tuple[Node, ...]]
"""The nodes that gradients of some nodes may reach, each after those that it depends on, with the
nodes to which its own gradient goes."""


def ancestry(outputs: Sequence[Node]) -> Ancestry:
    """The nodes with a past that gradients of the outputs may reach."""
    found: dict[Node, tuple[Node, ...]] = {}
    stack = [*outputs][::-1]
    while stack:
        node = stack[-1]
        if node in found:
            stack.pop()
            continue
        children = backwards(node)
        ready = True
        for child in reversed(children):
            if child.past is not None and child not in found and child.dtype.is_floating:
                stack.append(child)
                ready = False
        if ready:
            stack.pop()
            found[node] = children
    return found


def pullback(
    outputs: Sequence[Node],
    gradients: Sequence[Node],
    wanted: Sequence[Node],
    among: Ancestry | None = None,
) -> list[Node | None]:
    """The gradient of each wanted node: the transposed Jacobian of the outputs times `gradients`.
    among: the ancestry of the outputs, if it is known.

    None for a node that no output depends on. Raises GradientError for an op in between that has no
    derivative.
    """
    among = ancestry(outputs) if among is None else among
    token = notes.set({})
    try:
        with autocast.override(False):  # the types are those of the graph already
            return _pulled_back(outputs, gradients, wanted, among)
    finally:
        notes.reset(token)


def _pulled_back(
    outputs: Sequence[Node], gradients: Sequence[Node], wanted: Sequence[Node], among: Ancestry
) -> list[Node | None]:
    goals = set(wanted)
    leading = set(goals)  # the nodes through which a gradient reaches what is wanted
    passing: set[Node] = set()
    for node, children in among.items():
        for child in children:
            if child in leading:
                leading.add(node)
                passing.add(node)
                break
    found: dict[Node, Tensor] = {}

    def add(node: Node, gradient: Tensor) -> None:
        if node in leading:
            found[node] = found[node] + gradient if node in found else gradient

    for node, start in zip(outputs, gradients, strict=True):
        add(node, Tensor(start))
    for node, children in reversed(among.items()):
        if node not in found:
            continue
        past: Past = node.past or TRACKED  # an output that is asked for itself
        if past.leaf is not None or past.hooks:
            leaf = leaf_of(node)
            hooks = past.hooks if leaf is None else leaf.gradient_hooks
            if hooks:
                found[node] = passed(hooks, found[node])
        if node not in passing:
            continue
        gradient = found[node] if node in goals else found.pop(node)
        route = past.route
        each = gradients_of(node, gradient) if route is None else route.pulled(gradient, node)
        for child, part in zip(children, each, strict=True):
            if part is not None and child.dtype.is_floating:
                add(child, part)
    return [found[node].node if node in found else None for node in wanted]
