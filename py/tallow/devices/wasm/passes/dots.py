"""Dots: products of quantised operands as products of integers, for WebAssembly.

An 8-bit operand becomes numbers by a cast, a zero point and a scale. The numbers' product is that
of the integers, times the scales, which move behind it. Where a weight is 8 bits wide and the other
operand is not, panels.py keeps the weight packed instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ....codegen.groups import is_depthwise
from ....compile.partition import static_nodes
from ....compile.passes import rewrite
from ....compile.passes.packed import Axes, parted, uniform
from ....core.dtype import float32, int32
from ....core.hostarray import from_values
from ....graph import Graph, Node, constant, make, rebuild
from ....ops import contract, integer, movement, window
from ....ops import elementwise as e

Move = Callable[[Node], Node]

_ROWS = 64
"""Rows of a product from which on packing its right operand takes less time than it saves."""


_SPREADING = (movement.reshape, movement.expand, movement.permute, e.cast)


class Quantised(NamedTuple):
    """An operand: its elements of 8 bits, their zero point (None for 0), and factors."""

    codes: Node
    zero: Node | None
    factors: list[Node]


# Why: docs/decisions/webassembly.md, "8-bit products are found by a pass, and use instructions for
# 16 bits"
def use_dots(graph: Graph) -> Graph:
    """The graph with products of quantised operands as integer ones."""
    static = static_nodes(graph)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        new = None
        if node.op is contract.matmul and node not in static and _pays(node, static):
            new = _matmul(*inputs)
        elif node.op is window.conv2d and node.inputs[1] in static and not is_depthwise(node):
            new = _conv2d(node, *inputs)
        return new or rebuild(node, inputs)

    return graph.rewrite(rule, (contract.matmul, window.conv2d))


def _pays(node: Node, static: set[Node]) -> bool:
    narrow = node.dtype in (float32, int32) and node.size
    return bool(narrow) and (node.inputs[1] in static or node.shape[1] >= _ROWS)


def _matmul(a: Node, b: Node) -> Node | None:
    columns = b.shape[2]
    left, right = quantised(a, (2,), 1), quantised(b, (1,), columns)
    if left is None or right is None or not a.shape[2]:
        return None
    packed = make(integer.pack_pairs, right.codes)
    zeros = (_zero_point(left), _zero_point(right))
    total = make(integer.integer_matmul, left.codes, packed, *zeros, columns=columns)
    return _scaled(total, [*left.factors, *right.factors], a.dtype == float32)


def _conv2d(node: Node, x: Node, weight: Node) -> Node | None:
    *kernel, _, filters = weight.shape
    groups = node.attrs["groups"]
    left, right = quantised(x, (1, 2, 3), 1), quantised(weight, (0, 1, 2), filters)
    if left is None or right is None or not weight.size or not x.size:
        return None
    depth = weight.size // filters
    matrices = rewrite.reshape(right.codes, (depth, groups, filters // groups))
    packed = make(integer.pack_pairs, rewrite.permute(matrices, (1, 0, 2)))
    attrs = {**node.attrs, "kernel": tuple(kernel), "filters": filters}
    zeros = (_zero_point(left), _zero_point(right))
    total = make(integer.integer_conv2d, left.codes, packed, *zeros, **attrs)
    return _scaled(total, [*left.factors, *right.factors], True)


def _scaled(total: Node, factors: list[Node], floating: bool) -> Node:
    new = make(e.cast, total, dtype=float32) if floating else total
    for factor in factors:
        new = make(e.multiply, new, rewrite.expand(factor, new.shape))
    return new


def _zero_point(operand: Quantised) -> Node:
    if operand.zero is not None:
        return operand.zero
    return constant(from_values([0], (1,), int32))


def quantised(node: Node, summed: Axes, columns: int) -> Quantised | None:
    """An operand as its elements of 8 bits; None if it is not made of such.

    summed: the axes over which the product sums. columns: how many zero points it may have, along
    the last axis.
    """
    rest, factors = parted(node, summed) if node.dtype == float32 else (node, [])
    found = _codes(rest, lambda inner: inner)
    if found is None:
        return None
    codes, spread = found
    zero = None if spread is None else _zeros(spread, columns)
    if spread is not None and zero is None:
        return None
    return Quantised(codes, zero, factors)


def _codes(node: Node, move: Move) -> tuple[Node, Node | None] | None:
    """The elements of 8 bits of which a node is made, and what is subtracted from them, both in the
    shape that `move` gives."""
    if node.dtype.is_integer and node.dtype.size == 1:
        return move(node), None
    if node.op is movement.reshape:
        return _codes(node.inputs[0], lambda inner: move(rewrite.reshape(inner, node.shape)))
    if node.op is movement.permute:
        axes = node.attrs["axes"]
        return _codes(node.inputs[0], lambda inner: move(rewrite.permute(inner, axes)))
    if node.op not in (e.cast, e.subtract) or node.dtype.kind not in "if":
        return None  # unsigned differences wrap around
    found = _codes(node.inputs[0], move)
    if found is None or node.op is e.cast:
        return found
    return (found[0], move(node.inputs[1])) if found[1] is None else None


def _zeros(spread: Node, columns: int) -> Node | None:
    """Zero points that were spread over an operand, (1,) or (columns,); None if they vary along
    other axes, or may have more than 8 bits."""
    one = uniform(spread)
    source = one
    while source.dtype.size > 1 and source.op in _SPREADING:
        source = source.inputs[0]
    if source.size == 1 and _is_short(source):
        return rewrite.reshape(source, (1,))
    while one.op is movement.reshape and one.shape[-1:] == one.inputs[0].shape[-1:]:
        one = one.inputs[0]
    if one.op is not movement.expand or not _is_short(source):
        return None
    (inner,) = one.inputs
    if inner.size != columns or inner.shape[-1] != columns:
        return None
    return rewrite.reshape(inner, (columns,))


def _is_short(node: Node) -> bool:
    """Whether numbers are integers of 8 bits, in whatever type."""
    if not node.dtype.is_integer or node.dtype.size == 1:
        return node.dtype.is_integer
    return node.is_constant and all(-128 <= value <= 255 for value in node.attrs["data"].flat())
