"""The passes that NumPy alone needs."""

from __future__ import annotations

from ... import functions as f
from ...compile.passes.dynamic import changed
from ...core import dtype as dt
from ...graph import Graph, Node, make
from ...tensor import Tensor


def float_dynamic(graph: Graph) -> Graph:
    """The graph with weights as NumPy multiplies them: float32, less their zero points."""
    return changed(graph, _as_floats)


def _as_floats(node: Node, inputs: tuple[Node, ...]) -> Node:
    x, hidden, zero, *others = inputs
    spread = f.expand_dims(Tensor(zero).astype(dt.float32), 1)
    weights = Tensor(hidden).astype(dt.float32) - spread
    return make(node.op, x, weights.node, zero, *others, **node.attrs)
