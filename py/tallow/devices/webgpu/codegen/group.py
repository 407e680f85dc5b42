"""The kernel of a fused group: generated, or a hand-written one with the group's values."""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Node
from ....ops.kinds import Contraction, Custom
from .choice import Traits
from .generated import generated, generated_rows
from .hand_written import hand_written
from .module import Kernel, Result
from .whole import whole

ANY_DEVICE = Traits()


def kernel_for(
    result: Result,
    members: Sequence[Node],
    reads: Sequence[Node],
    row: tuple[int, ...] = (),
    traits: Traits = ANY_DEVICE,
) -> Kernel:
    """The kernel that computes a result from `reads`.

    Those that are not in place are bound in this order, then the result. members: the nodes that
    it computes, the root among them, in the order of computation. row: the axes of a row, if
    values per row are reduced and spread again. traits: the kind of device, which decides between
    hand-written kernels, and which invocations reduce together.
    """
    if isinstance(result.root.op, Custom):
        return whole(result.root, result.root.op)
    if result.writes_region:
        from .region import region

        return region(result, members, reads, traits)
    if row:
        return generated_rows(result, members, reads, row, traits)
    anchors = [node for node in members if isinstance(node.op, Contraction)]
    if anchors:
        return hand_written(result, anchors[0], reads, traits)
    return generated(result, members, reads, traits)
