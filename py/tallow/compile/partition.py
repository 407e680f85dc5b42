"""Partition: what depends on weights alone runs once, in the `prepare` program."""

from __future__ import annotations

from ..graph import Graph, Node


def static_nodes(graph: Graph) -> set[Node]:
    """Nodes that no input reaches. Empty for a graph without inputs: it runs only once anyway."""
    if not graph.inputs:
        return set()
    static: set[Node] = set()
    for node in graph.nodes():
        if not node.is_input and all(child in static for child in node.inputs):
            static.add(node)
    return static
