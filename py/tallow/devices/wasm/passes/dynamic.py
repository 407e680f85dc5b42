"""8-bit weights of recurrent layers (ops/dynamic_recurrence.py), as the kernel reads them."""

from __future__ import annotations

from .... import functions as f
from ....compile.passes.dynamic import changed
from ....core import dtype as dt
from ....graph import Graph, Node, make
from ....ops import dynamic_recurrence
from ....tensor import Tensor


def pack_dynamic(graph: Graph) -> Graph:
    """The graph with weights as the kernel of WebAssembly reads them."""
    return changed(graph, _packed)


def _packed(node: Node, inputs: tuple[Node, ...]) -> Node:
    x, hidden, zero, scale, *others = inputs
    rows = dynamic_recurrence.by_elements(f, Tensor(scale))
    zeros = f.zeros(rows.shape, dt.int32)
    if not zero.is_constant or any(zero.attrs["data"].flat()):
        zeros = dynamic_recurrence.by_elements(f, Tensor(zero).astype(dt.int32))
    weights = dynamic_recurrence.packed(f, Tensor(hidden))
    operands = x, weights.node, zeros.node, rows.node, *others
    return make(node.op, *operands, **node.attrs)
