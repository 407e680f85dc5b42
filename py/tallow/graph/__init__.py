"""Nodes and graphs: what functions build, and what is compiled."""

from .graphs import Graph, consumers, topological
from .nodes import (
    DEEPEST,
    OPEN,
    Derivatives,
    Node,
    alias,
    constant,
    input_node,
    make,
    rebuild,
    seams,
)

__all__ = [
    "DEEPEST",
    "OPEN",
    "Derivatives",
    "Graph",
    "Node",
    "alias",
    "constant",
    "consumers",
    "input_node",
    "make",
    "rebuild",
    "seams",
    "topological",
]
