"""Attention that keeps its scores, where a software adapter computes that faster."""

from __future__ import annotations

from ....compile.passes.compose import with_scores
from ....graph import Graph, Node, rebuild
from ....ops.attention import attention
from ..codegen.choice import Traits, signature
from ..codegen.kernels import ATTENTION

_KEPT = 64 << 20
"""Bytes of scores that software adapters keep. Their products share what they read; in the kernel
`attention` each query reads every key and value itself."""


# Why: docs/decisions/generation.md, "Attention of many queries keeps no scores"
def keep_scores(graph: Graph, traits: Traits) -> Graph:
    """The graph with products instead of attention, if the device is a software adapter, unless the
    scores take too much memory."""
    if not traits.software:
        return graph

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        rows, keys = node.size // node.shape[3], node.inputs[1].shape[2]
        chosen = traits.choices.get(signature(node)) == ATTENTION.name
        if chosen or 4 * rows * keys > _KEPT:
            return rebuild(node, inputs)
        return with_scores(node, inputs)

    return graph.rewrite(rule, {attention})
