"""Panels: the right operands of products and the weights of convolutions, in the order in which
WebAssembly's kernels read them (ops/panels.py).

What depends on weights alone is packed once, in `prepare`; other operands are packed at every run
where enough rows are multiplied by them.
"""

from __future__ import annotations

from ...codegen.groups import is_depthwise
from ...dtype import float32
from ...graph import Graph, Node, make, rebuild
from ...op import Contraction
from ...ops import contract, movement, panels, window
from ...ops.winograd4 import winograd_conv2d
from ..partition import static_nodes
from . import rewrite

_ROWS = 12
"""Rows of a product from which on packing its right operand takes less time than it saves."""


def use_panels(graph: Graph) -> Graph:
    """The graph with its right operands packed, and read through views."""
    static = static_nodes(graph)
    known: dict[tuple[Node, int], Node] = {}

    def packed(operand: Node, groups: int) -> Node:
        key = operand, groups
        if key not in known:
            known[key] = _packed_filters(operand, groups) if groups else _packed(operand)
        return known[key]

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        if len(inputs) > 1 and isinstance(node.op, Contraction) and _pays(node, static):
            inputs = (inputs[0], packed(inputs[1], node.attrs.get("groups", 0)))
        return rebuild(node, inputs)

    return graph.rewrite(rule)


def panel_views(graph: Graph) -> set[Node]:
    """The views through which packed operands are read."""
    views: set[Node] = set()
    for node in graph.nodes():
        turned = node.op in (movement.permute, movement.reshape) and node.inputs[0] in views
        if turned or node.op is panels.unpack_panels:
            views.add(node)
    return views


def _pays(node: Node, static: set[Node]) -> bool:
    right = node.inputs[1]
    if node.dtype != float32 or not node.size or not right.size or node in static:
        return False
    if node.op is window.conv2d:
        return not is_depthwise(node)
    if node.op is not contract.matmul:
        return node.op is winograd_conv2d
    wide = node.shape[2] >= panels.COLUMNS // 2
    return wide and (right in static or node.shape[1] >= _ROWS)


def _packed(matrix: Node) -> Node:
    packed = make(panels.pack_panels, matrix)
    return make(panels.unpack_panels, packed, columns=matrix.shape[2])


def _packed_filters(weight: Node, groups: int) -> Node:
    """Filters (kh, kw, c, o) as a matrix of c * kh * kw rows for each group."""
    columns = weight.shape[3] // groups
    depth = weight.size // weight.shape[3]
    matrices = rewrite.reshape(weight, (depth, groups, columns))
    unpacked = _packed(rewrite.permute(matrices, (1, 0, 2)))
    return rewrite.reshape(rewrite.permute(unpacked, (1, 0, 2)), weight.shape)
