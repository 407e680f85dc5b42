"""Panels: the right operands of products and the weights of convolutions, in the order in which
WebAssembly's kernels read them (ops/panels.py).

What depends on weights alone is packed once, in `prepare`; other operands are packed at every run
where enough rows are multiplied by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....codegen.groups import is_depthwise
from ....compile.partition import static_nodes
from ....compile.passes import rewrite
from ....compile.passes.packed import (
    is_cheap,
    is_large,
    is_small,
    is_zero,
    packed_nodes,
    parted,
    uniform,
)
from ....core.dtype import float32
from ....graph import Graph, Node, make, rebuild
from ....ops import contract, movement, panels, window
from ....ops import elementwise as e
from ....ops.kinds import Contraction
from ....ops.winograd4 import winograd_conv2d

_ROWS = 12
"""Rows of a product from which on packing its right operand takes less time than it saves."""


# Why: docs/decisions/webassembly.md, "WebAssembly's products read packed panels, which a pass puts
# into the graph"
def use_panels(graph: Graph, apart: Callable[[Node], bool] = lambda node: False) -> Graph:
    """The graph with its right operands packed, and read through views. apart: whether no kernel
    computes a product, unless its weight has few bits."""
    static = static_nodes(graph)
    known: dict[tuple[Node, int, bool], Parted] = {}

    def packed(operand: Node, groups: int, few_bits_alone: bool) -> Parted:
        key = operand, groups, few_bits_alone
        if key not in known:
            coded = _coded(operand) if operand in static and not groups else None
            whole = _packed_filters if groups else _packed
            plain = operand if few_bits_alone else whole(operand, groups)
            known[key] = coded or (plain, [])
        return known[key]

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        factors: list[Node] = []
        if len(inputs) > 1 and isinstance(node.op, Contraction) and _pays(node, static):
            if node.op is contract.matmul_to and node.inputs[1] not in static and not apart(node):
                right = _packed(inputs[1], length=inputs[2:])
            else:
                right, factors = packed(inputs[1], node.attrs.get("groups", 0), apart(node))
            inputs = (inputs[0], right, *inputs[2:])
        new = rebuild(node, inputs)
        for factor in factors:
            new = make(e.multiply, new, rewrite.expand(factor, new.shape))
        return new

    return graph.rewrite(rule)


def panel_views(graph: Graph, static: set[Node]) -> set[Node]:
    """The views through which packed operands are read, and what kernels compute as they read
    elements of few bits: all but windows do."""
    views: set[Node] = set()
    stored: set[Node] = set()
    for node in graph.nodes():
        turned = node.op in (movement.permute, movement.reshape) and node.inputs[0] in views
        if turned or node.op is panels.unpack_panels:
            views.add(node)
        elif isinstance(node.op, Contraction) and node.op is not contract.matmul:
            stored.update(node.inputs)
    return views | (packed_nodes(graph, static) - stored)


def _pays(node: Node, static: set[Node]) -> bool:
    right = node.inputs[1]
    if node.dtype != float32 or not node.size or not right.size or node in static:
        return False
    if node.op is window.conv2d:
        return not is_depthwise(node)
    if node.op not in (contract.matmul, contract.matmul_to):
        return node.op is winograd_conv2d
    wide = node.shape[2] >= panels.COLUMNS // 2
    return wide and (right in static or node.shape[1] >= _ROWS)


Parted = tuple[Node, list[Node]]
"""A right operand, and factors of its columns that move behind the product."""


def _coded(operand: Node) -> Parted | None:
    """A weight that stays packed; None if it is not made of elements of few bits."""
    weight, factors = parted(operand, (1,))
    panelled = _in_panels(weight, lambda node: node)
    return None if panelled is None else (panelled, factors)


def _in_panels(node: Node, move: Callable[[Node], Node]) -> Node | None:
    """The steps from elements of few bits to numbers, with those elements in panels. move: makes
    matrices of anything in the shape of the node."""
    if node.dtype.is_integer and is_large(node):
        return _packed(move(node))
    if node.op is movement.reshape:
        return _in_panels(node.inputs[0], lambda inner: move(rewrite.reshape(inner, node.shape)))
    if node.op is movement.permute:
        axes = node.attrs["axes"]
        return _in_panels(node.inputs[0], lambda inner: move(rewrite.permute(inner, axes)))
    if not is_cheap(node):
        return None
    large = [child for child in node.inputs if not is_small(child)]
    if len(large) != 1:
        return None
    inner = _in_panels(large[0], move)
    if inner is None:
        return None
    others = [inner if child is large[0] else move(uniform(child)) for child in node.inputs]
    if node.op is e.subtract and others[0] is inner and is_zero(others[1]):
        return inner
    return make(node.op, *others, **node.attrs)


def _packed(matrix: Node, groups: int = 0, length: Sequence[Node] = ()) -> Node:
    packed = make(panels.pack_panels, matrix, *length)
    return make(panels.unpack_panels, packed, columns=matrix.shape[2])


def _packed_filters(weight: Node, groups: int) -> Node:
    """Filters (kh, kw, c, o) as a matrix of c * kh * kw rows for each group."""
    columns = weight.shape[3] // groups
    depth = weight.size // weight.shape[3]
    matrices = rewrite.reshape(weight, (depth, groups, columns))
    unpacked = _packed(rewrite.permute(matrices, (1, 0, 2)))
    return rewrite.reshape(rewrite.permute(unpacked, (1, 0, 2)), weight.shape)
