"""Winograd: 3x3 convolutions in larger tiles, as one op each."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ....codegen.groups import is_plain_3x3
from ....compile.partition import static_nodes
from ....graph import Graph, Node, make, rebuild
from ....ops import window, winograd4

_CHANNELS, _TILES = 8, 12  # from which on F(4x4, 3x3) is faster than the definition


def use_winograd4(graph: Graph, apart: Callable[[Node], bool] = lambda node: False) -> Graph:
    """The graph with 3x3 convolutions of stride 1 as F(4x4, 3x3) (ops/winograd4.py) where they have
    enough channels and tiles: some tiles at a time, the whole weight is read. apart: whether no
    kernel computes a convolution."""
    static = static_nodes(graph)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        plain = is_plain_3x3(node) and node.inputs[1] in static and not apart(node)
        if plain and _is_large(node):
            x, weight = inputs
            transformed = make(winograd4.winograd_weight, weight)
            padding = node.attrs["padding"]
            return make(winograd4.winograd_conv2d, x, transformed, padding=padding)
        return rebuild(node, inputs)

    return graph.rewrite(rule, (window.conv2d,))


def _is_large(node: Node) -> bool:
    channels, filters = node.inputs[1].shape[2:]
    tiles = node.shape[0] * prod(winograd4.tiles_of(node.shape[1:3]))
    return channels % 4 == filters % 8 == 0 and channels >= _CHANNELS and tiles >= _TILES
