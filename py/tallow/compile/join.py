"""Joins without a copy: what is concatenated is computed directly into its region of the result."""

from __future__ import annotations

from ..codegen.index import lane_axis
from ..codegen.layout import Region
from ..core.shape import size_of
from ..graph import Graph, Node, consumers
from ..ops import movement
from ..ops.kinds import Apart
from .fuse import Fusion, Group


def join_in_place(graph: Graph, fusion: Fusion) -> Fusion:
    """The fusion without groups that only concatenate, where each part has a group of its own
    that nothing but the join reads and that can write into a region: a user's own cannot."""
    readers = consumers(graph.nodes())
    outputs = set(graph.outputs.values())
    group_of = {group.root: group for group in fusion.groups}
    alias, regions = dict(fusion.alias), dict(fusion.regions)
    dropped: set[Group] = set()
    # From the last join back: a join that is itself a part of another puts its parts there.
    for join in reversed(fusion.groups):
        node = join.root
        parts = node.inputs
        if join.members != [node] or node.op is not movement.concat:
            continue
        owned = all(
            part in group_of
            and set(readers[part]) == {node}
            and part not in outputs
            and not isinstance(part.op, Apart)
            for part in parts
        )
        if not owned or len(set(parts)) < len(parts) or not _in_fours(node):
            continue
        whole = alias[node] if node in regions else node
        if node.attrs["axis"] != whole.attrs["axis"]:
            continue
        dropped.add(join)
        for part, region in zip(parts, _regions(node, regions.pop(node, None)), strict=True):
            alias[part] = whole
            regions[part] = region
    kept = [group for group in fusion.groups if group not in dropped]
    return Fusion(kept, alias, regions)


def _in_fours(node: Node) -> bool:
    """Whether kernels can write the parts four elements at a time."""
    if not node.shape:
        return False
    axis = lane_axis(node.shape)
    return all(shape[axis] % 4 == 0 for shape in (node.shape, *(n.shape for n in node.inputs)))


def _regions(node: Node, outer: Region | None) -> list[Region]:
    """Where each part of a concatenation is stored: within `outer`, the region of the whole."""
    axis = node.attrs["axis"]
    inner = size_of(node.shape[axis + 1 :])
    stride = outer.stride if outer else node.shape[axis] * inner
    start = outer.start if outer else 0
    regions = []
    for part in node.inputs:
        length = part.shape[axis] * inner
        regions.append(Region(start, length, stride))
        start += length
    return regions
