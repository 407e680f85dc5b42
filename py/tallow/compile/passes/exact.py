"""Exact products of small whole numbers by way of float32, for devices that multiply those fast.

float32 holds every whole number up to 2 ** 24: a sum of 256 products of operands between -255 and
255, such as 8-bit ones less their zero points.
"""

from __future__ import annotations

from ...core import dtype as dt
from ...graph import Graph, Node, rebuild
from ...ops import contract
from ...ops import elementwise as e
from ...ops.kinds import Movement
from ...tensor import Tensor

_LENGTH = 256


def exact_products(graph: Graph) -> Graph:
    """The graph with integer products of 8-bit operands as sums of short products in float32."""

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        whole = node.op is contract.matmul and node.dtype == dt.int32 and node.inputs[0].shape[2]
        if not whole or not all(map(_is_short, node.inputs)):
            return rebuild(node, inputs)
        a, b = (Tensor(child).astype(dt.float32) for child in inputs)
        total: Tensor | None = None
        for start in range(0, a.shape[2], _LENGTH):
            end = min(start + _LENGTH, a.shape[2])
            part = (a[:, :, start:end] @ b[:, start:end]).astype(dt.int32)
            total = part if total is None else total + part
        assert total is not None
        return total.node

    return graph.rewrite(rule)


def _is_short(node: Node) -> bool:
    """Whether elements are certainly between -255 and 255."""
    if node.op is e.subtract:
        return all(map(_has_8_bits, node.inputs))
    if isinstance(node.op, Movement) and node.op.view:
        return _is_short(node.inputs[0])
    return _has_8_bits(node)


def _has_8_bits(node: Node) -> bool:
    """Whether elements are those of an 8-bit type, in any type."""
    while node.op is e.cast or (isinstance(node.op, Movement) and node.op.view):
        if node.dtype.size == 1:
            break
        (node,) = node.inputs
    return node.dtype.is_integer and node.dtype.size == 1
