"""The order in which kernels run, where it decides how much memory a plan takes.

A step of training reads in its second half what it computed in its first. Any order of a graph is
right; a good one runs what frees memory as soon as it can. Graphs without states keep their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..graph import Graph, Node, rebuild
from ..ops import movement
from ..ops.positions import update_at
from .fuse import Fusion, Group

Waits = Mapping[Node, Sequence[Node]]
"""Nodes that must not be computed before others, though they do not read them."""


def without_barriers(graph: Graph) -> tuple[Graph, Waits]:
    """The graph without the op `after`, and which nodes have to wait for which."""
    if not any(node.op is movement.after for node in graph.nodes()):
        return graph, {}
    waits: dict[Node, list[Node]] = {}
    new: dict[Node, Node] = {node: node for node in graph.inputs}
    behind: dict[Node, list[Node]] = {}  # what a node that stands for an `after` waits for
    for node in graph.nodes():
        if node in new:
            continue
        inputs = tuple(new[child] for child in node.inputs)
        if node.op is movement.after:
            new[node] = inputs[0]
            behind[node] = [inputs[1], *behind.get(node.inputs[0], ())]
            continue
        made = new[node] = rebuild(node, inputs)
        tokens = [token for child in node.inputs for token in behind.get(child, ())]
        if tokens:
            waits.setdefault(made, []).extend(tokens)
    outputs = {name: new[node] for name, node in graph.outputs.items()}
    return replace(graph, outputs=outputs), waits


# Why: docs/decisions/derivatives.md, "A step of training runs its kernels in the order that takes
# less memory"
def ordered(graph: Graph, fusion: Fusion, waits: Waits) -> Fusion:
    """The groups in the order that keeps fewer bytes alive at once: as they are, or by taking next,
    of all that can run, what frees most and stores least."""
    if not graph.states and not waits:
        return fusion
    found = _greedy(graph, fusion, waits)
    if not waits and _peak(graph, fusion, found) >= _peak(graph, fusion, fusion.groups):
        return fusion
    return replace(fusion, groups=found)


def regions_last(fusion: Fusion) -> Fusion:
    """The groups with each `update_at` behind those that read what it updates, where these do not
    wait for it: then it is updated in place (memory.py)."""
    groups, memory = list(fusion.groups), fusion.memory_of
    for group in fusion.groups:
        if group.root.op is not update_at:
            continue
        source, result = memory(group.root.inputs[0]), memory(group.root)
        first = groups.index(group)
        reads = [{memory(node) for node in other.reads} for other in groups]
        last = max((n for n, read in enumerate(reads) if source in read), default=first)
        if last > first and all(result not in read for read in reads[first + 1 : last + 1]):
            groups.insert(last, groups.pop(first))
    return replace(fusion, groups=groups)


class _Lives:
    """Which results are alive while groups run. A result is a node whose memory a group writes."""

    def __init__(self, graph: Graph, fusion: Fusion) -> None:
        memory = fusion.memory_of
        self.result = {group: memory(group.root) for group in fusion.groups}
        own = set(self.result.values())
        self.reads = {
            group: {memory(node) for node in group.reads} & own for group in fusion.groups
        }
        self.kept = {memory(node) for node in graph.outputs.values()}
        self.bytes = {node: node.size * node.dtype.size for node in own}

    def readers(self) -> dict[Node, int]:
        """How many groups still read each result."""
        left = dict.fromkeys(self.bytes, 0)
        for reads in self.reads.values():
            for node in reads:
                left[node] += 1
        return left


def _peak(graph: Graph, fusion: Fusion, groups: Sequence[Group]) -> int:
    """The most bytes of results that are alive at once."""
    lives = _Lives(graph, fusion)
    left = lives.readers()
    alive, now, peak = set[Node](), 0, 0
    for group in groups:
        result = lives.result[group]
        if result not in alive:
            alive.add(result)
            now += lives.bytes[result]
        peak = max(peak, now)
        for node in lives.reads[group]:
            left[node] -= 1
            if not left[node] and node not in lives.kept and node in alive:
                alive.remove(node)
                now -= lives.bytes[node]
    return peak


def _greedy(graph: Graph, fusion: Fusion, waits: Waits) -> list[Group]:
    lives = _Lives(graph, fusion)
    left = lives.readers()
    member_of = {node: group for group in fusion.groups for node in group.members}
    by_result: dict[Node, list[Group]] = {}
    for group in fusion.groups:
        by_result.setdefault(lives.result[group], []).append(group)
    reads = {
        group: {other for node in lives.reads[group] for other in by_result[node]} - {group}
        for group in fusion.groups
    }
    tokens = {
        group: {
            member_of[token]
            for node in group.members
            for token in waits.get(node, ())
            if token in member_of
        }
        - {group}
        for group in fusion.groups
    }
    behind: dict[Group, list[Group]] = {group: [] for group in fusion.groups}
    for group in fusion.groups:
        for other in reads[group] | tokens[group]:
            behind[other].append(group)
    number = {group: n for n, group in enumerate(fusion.groups)}
    missing = {group: len(reads[group] | tokens[group]) for group in fusion.groups}
    ready = [group for group in fusion.groups if not missing[group]]
    alive = set[Node]()
    order: dict[Group, None] = {}

    def cost(group: Group) -> tuple[int, int]:
        result = lives.result[group]
        stored = 0 if result in alive else lives.bytes[result]
        freed = sum(
            lives.bytes[node]
            for node in lives.reads[group]
            if left[node] == 1 and node not in lives.kept
        )
        return stored - freed, number[group]

    while len(order) < len(fusion.groups):
        if not ready:  # fusion has made what waits a part of what it waits for
            ready = [g for g in fusion.groups if g not in order and reads[g] <= order.keys()][:1]
        chosen = min(ready, key=cost)
        ready.remove(chosen)
        order[chosen] = None
        alive.add(lives.result[chosen])
        for node in lives.reads[chosen]:
            left[node] -= 1
        for later in behind[chosen]:
            missing[later] -= 1
            if not missing[later] and later not in order:
                ready.append(later)
    return list(order)
