"""What a desktop multiplies by BLAS instead of by WebAssembly's kernels.

WebAssembly's vectors have four lanes, and a processor's sixteen: NumPy's BLAS multiplies large
matrices five to eight times as fast. It works on the arrays in the module's memory.
"""

from __future__ import annotations

from math import prod

from ...compile.passes.packed import is_cheap, is_view
from ...core.dtype import float32
from ...graph import Node
from ...ops import contract, panels, window
from ...ops.attention import attention

_WORTH = 1 << 19
"""Multiply-adds from which on BLAS saves more than a step of its own costs: some 10 µs, and what a
kernel would have computed as it stored."""

_WORTH_SCORES = 1 << 25
"""The same of attention, whose weights NumPy computes too."""

_LEAST = 8
"""Rows and columns from which on BLAS multiplies blocks. Products with vectors wait for memory, and
BLAS adds up their terms one after the other."""


# Why: docs/decisions/webassembly.md, "On a desktop, BLAS multiplies large matrices"
def by_blas(node: Node) -> bool:
    """Whether BLAS computes a node."""
    if node.dtype != float32 or not node.size:
        return False
    if node.op is attention:
        keys, wide = node.inputs[2].shape[2:]
        products = node.size // wide * keys * (wide + node.inputs[0].shape[3])
        return products >= _WORTH_SCORES and node.shape[2] >= _LEAST
    if node.op in (contract.matmul, contract.matmul_to):
        (_, rows, columns), depth = node.shape, node.inputs[0].shape[2]
        work = node.size * depth
    elif node.op is window.conv2d and node.attrs["groups"] == 1:
        rows, columns = prod(node.shape[:3]), node.shape[3]
        work = node.size * prod(node.inputs[1].shape[:3])
    else:
        return False
    large = work >= _WORTH and min(rows, columns) >= _LEAST
    return large and not _has_few_bits(node.inputs[1])


def _has_few_bits(right: Node) -> bool:
    """Whether a right operand is made of elements of few bits, in panels (passes/panels.py)."""
    todo = [right]
    while todo:
        node = todo.pop()
        if node.op is panels.unpack_panels:
            return True
        if is_view(node) or is_cheap(node):
            todo += node.inputs
    return False
