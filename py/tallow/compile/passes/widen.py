"""Widening: a graph that computes no float16, for NumPy, as `narrow` makes one for a GPU.

NumPy rounds every result to float16: a sum of squares overflows from 256 on, and a difference of
neighbours has no digits left. So what is computed is float32, and rounded where it leaves the
graph, or where a cast says so. What is only moved stays float16.
"""

from __future__ import annotations

from dataclasses import replace

from ...core.dtype import DType, float16, float32
from ...graph import Graph, Node, make, rebuild
from ...ops import blocks
from ...ops import elementwise as e
from ...ops.kinds import Movement


# Why: docs/decisions/types.md, "The GPU computes float32, int32, uint32 and bool"
def widen(graph: Graph) -> Graph:
    """The graph with the same inputs and outputs."""
    order = graph.nodes()
    if not any(node.dtype == float16 for node in order):
        return graph
    new: dict[Node, Node] = {}  # float32 nodes instead of those computed in float16
    wide: dict[Node, Node] = {}  # inputs and constants, cast once
    for node in order:
        inputs = tuple(new[child] for child in node.inputs)
        if node.is_input or node.is_constant or not _computes(node, inputs):
            new[node] = rebuild(node, inputs)
            continue
        for child in inputs:
            if child.dtype == float16 and child not in wide:
                wide[child] = make(e.cast, child, dtype=float32)
        new[node] = _computed(node, tuple(wide.get(child, child) for child in inputs))
    outputs = {name: _as(new[node], node.dtype) for name, node in graph.outputs.items()}
    return replace(graph, outputs=outputs)


def _computes(node: Node, inputs: tuple[Node, ...]) -> bool:
    """Whether float32 takes part in what was float16: all but movement of what is float16 still."""
    if not any(one.dtype == float16 for one in (node, *node.inputs)):
        return False
    if node.op is blocks.block_matmul:  # its scales are widened as they are read
        return False
    if node.op is e.cast or not isinstance(node.op, Movement):
        return True
    return any(old.dtype != new.dtype for old, new in zip(node.inputs, inputs, strict=True))


def _computed(node: Node, inputs: tuple[Node, ...]) -> Node:
    attrs = dict(node.attrs)
    if node.op is e.cast:
        return _as(inputs[0], attrs["dtype"])
    if node.op is e.bitcast:
        return make(e.bitcast, _as(inputs[0], node.inputs[0].dtype), **attrs)
    if attrs.get("dtype") == float16:
        attrs["dtype"] = float32
    return make(node.op, *inputs, **attrs)


def _as(node: Node, dtype: DType) -> Node:
    return node if node.dtype == dtype else make(e.cast, node, dtype=dtype)
