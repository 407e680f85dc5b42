"""Finds the part of the graph that each Gradient node differentiates.

The operator names tensors: "y" is a function of those in "xs" and "zs". The nodes between become a
graph in its attribute "graph", so that whatever works on nodes sees all that a Gradient reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....errors import OnnxFormatError
from ..records import GraphRecord, NodeRecord, ValueInfo

DOMAIN = "ai.onnx.preview.training"


def with_graphs(nodes: Sequence[NodeRecord]) -> tuple[NodeRecord, ...]:
    """The nodes of one graph, in any order; each Gradient among them with its part of it.

    Raises OnnxFormatError for a Gradient whose "y" no node of the graph makes.
    """
    made = {name: node for node in nodes for name in node.outputs}
    new: dict[NodeRecord, NodeRecord] = {}
    for first in filter(_is_gradient, nodes):
        stack = [first]
        while stack:
            node = stack[-1]
            y, given = _names(node)
            if y not in made and y not in given:
                raise OnnxFormatError(
                    f"node {node.title} differentiates {y!r}, which no node of its graph makes"
                )
            inside = _between(y, given, made)
            before = [each for each in inside if _is_gradient(each)]
            if node in new:
                stack.pop()
            elif before:  # a derivative of derivatives
                stack += _not_in(before, stack)
            else:
                new[node] = _with_graph(node, y, given, inside)
                made.update(dict.fromkeys(node.outputs, new[node]))
                stack.pop()
    return tuple(new.get(node, node) for node in nodes)


def _is_gradient(node: NodeRecord) -> bool:
    """Whether it is a Gradient that names tensors and has no graph yet, as one of a function has.
    The operator tells what is wrong with others."""
    lists = node.attributes.get("xs"), node.attributes.get("zs", ())
    return (
        (node.domain, node.op_type) == (DOMAIN, "Gradient")
        and not getattr(node.attributes.get("graph"), "is_part", False)
        and isinstance(node.attributes.get("y"), str)
        and all(isinstance(names, tuple) for names in lists)
    )


def _names(node: NodeRecord) -> tuple[str, tuple[str, ...]]:
    return node.attributes["y"], (*node.attributes["xs"], *node.attributes.get("zs", ()))


def _not_in(nodes: Sequence[NodeRecord], stack: Sequence[NodeRecord]) -> Sequence[NodeRecord]:
    for node in nodes:
        if node in stack:
            raise OnnxFormatError(f"node {node.title} differentiates itself")
    return nodes


def _between(
    y: str, given: Sequence[str], made: Mapping[str, NodeRecord]
) -> tuple[NodeRecord, ...]:
    """The nodes that make y and depend on the given values, each after what it reads. What does
    not depend on them is as it is in the graph around."""
    order: list[NodeRecord] = []
    depends = dict.fromkeys(given, True)
    visited: set[NodeRecord] = set()
    stack = [y]
    while stack:
        name = stack[-1]
        node = made.get(name)
        if name in depends or node is None:
            depends.setdefault(name, False)
            stack.pop()
            continue
        waiting = [read for read in node.reads if read not in depends]
        if waiting and node in visited:
            raise OnnxFormatError(f"the graph has a cycle through node {node.title}")
        visited.add(node)
        stack += waiting
        if not waiting:
            inside = any(depends[read] for read in node.reads)
            for output in node.outputs:
                depends.setdefault(output, inside)
            if inside:
                order.append(node)
    return tuple(order)


def _with_graph(
    node: NodeRecord, y: str, given: Sequence[str], inside: tuple[NodeRecord, ...]
) -> NodeRecord:
    own = {*given, *(name for each in inside for name in each.outputs)}
    read = {y, *(name for each in inside for name in each.reads)}
    graph = GraphRecord(
        "differentiated",
        tuple(ValueInfo(name, None, None, "tensor") for name in given),
        (ValueInfo(y, None, None, "tensor"),),
        inside,
        {},
        tuple(sorted(read - own)),
        is_part=True,
    )
    return replace(node, attributes={**node.attributes, "graph": graph}, captures=graph.captures)
