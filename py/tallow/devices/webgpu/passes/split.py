"""Long reductions to few results, in two steps: many partial results, then the fold of those.

One workgroup, or invocation, computes each result of a reduction; with few results and a great
length most of a device would stand idle. So the reduced axes are seen as (parts, length of a
part), and each is reduced by a kernel of its own.
"""

from __future__ import annotations

from ....compile.fuse import MAX_ROW
from ....compile.passes import rewrite
from ....core.shape import Shape, size_of
from ....graph import Graph, Node, make, rebuild
from ....ops import movement
from ....ops.kinds import Reduce
from ..codegen.choice import Traits, parts_of


# Why: docs/decisions/webgpu.md, "Long reductions to few results are done twice, by a pass on the
# graph"
def split_long(graph: Graph, traits: Traits) -> Graph:
    """Splits reductions where choice.parts_of says that it pays: not indexed, over axes that lie
    side by side. Whole numbers give the same result, sums of floats one that is rounded less."""

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node:
        node = rebuild(node, inputs)
        if not isinstance(node.op, Reduce) or node.op.indexed or not node.size:
            return node
        (child,) = node.inputs
        span = _span(child.shape, node.attrs["axes"])
        if span is None:
            return node
        outer, length, inner = span
        # Shorter rows are one kernel with what uses their folds.
        parts = parts_of(node, traits) if length > MAX_ROW else 1
        if parts == 1:
            return node
        shape = (*outer, parts, length // parts, *inner)
        partial = make(node.op, rewrite.reshape(child, shape), axes=(len(outer) + 1,))
        whole = make(node.op, partial, axes=(len(outer),))
        return make(movement.reshape, whole, shape=node.shape)

    return graph.rewrite(rule)


def _span(shape: Shape, axes: tuple[int, ...]) -> tuple[Shape, int, Shape] | None:
    """The axes in front of those that are reduced, the length of these, and the axes behind; None
    if others lie in between."""
    first, last = min(axes), max(axes)
    if any(shape[axis] != 1 for axis in range(first, last) if axis not in axes):
        return None
    return shape[:first], size_of(shape[first : last + 1]), shape[last + 1 :]
