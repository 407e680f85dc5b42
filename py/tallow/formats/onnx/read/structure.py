"""The structure of a graph: which nodes make and read each value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ....errors import OnnxFormatError
from ..records import NodeRecord


def in_order(
    nodes: Sequence[NodeRecord],
    own: Collection[str],
    outer: Collection[str],
    outputs: Iterable[str],
) -> tuple[NodeRecord, ...]:
    """The nodes that the outputs need, each after the nodes whose values it reads.

    own: values that no node makes (inputs and initializers); outer: values of the outer graphs. The
    file's order is kept where it is valid. Raises OnnxFormatError for values made twice or never,
    and for cycles.
    """
    maker = _makers(nodes, own)
    given = {*own, *outer}
    for node in nodes:
        for name in node.reads:
            if name not in maker and name not in given:
                raise OnnxFormatError(
                    f"node {node.title} reads {name!r}, which does not exist: "
                    "it is neither an input, nor an initializer, nor the output of a node"
                )
    wanted = list(outputs)
    for name in wanted:
        if name not in maker and name not in given:
            raise OnnxFormatError(f"no node makes the output {name!r}")
    needed = _needed(maker, wanted)
    order: list[NodeRecord] = []
    state: dict[NodeRecord, bool] = {}  # False: being visited, True: ordered
    for first in nodes:
        if first not in needed or first in state:
            continue
        stack = [first]
        while stack:
            node = stack[-1]
            if node not in state:
                state[node] = False
                before = [maker[name] for name in reversed(node.reads) if name in maker]
                _refuse_cycle(node, [other for other in before if state.get(other) is False])
                stack.extend(other for other in before if other not in state)
            else:
                stack.pop()
                if not state[node]:
                    state[node] = True
                    order.append(node)
    return tuple(order)


def _makers(nodes: Iterable[NodeRecord], given: Collection[str]) -> dict[str, NodeRecord]:
    maker: dict[str, NodeRecord] = {}
    for node in nodes:
        for name in filter(None, node.outputs):
            if name in given:
                raise OnnxFormatError(
                    f"node {node.title} makes {name!r}, which is already an input or initializer"
                )
            if name in maker:
                raise OnnxFormatError(
                    f"two nodes make the value {name!r}: {maker[name].title} and {node.title}"
                )
            maker[name] = node
    return maker


def _needed(maker: dict[str, NodeRecord], outputs: Iterable[str]) -> set[NodeRecord]:
    needed: set[NodeRecord] = set()
    stack = [maker[name] for name in outputs if name in maker]
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack.extend(maker[name] for name in node.reads if name in maker)
    return needed


def _refuse_cycle(node: NodeRecord, behind: Sequence[NodeRecord]) -> None:
    if behind:
        raise OnnxFormatError(
            f"the graph has a cycle: node {node.title} needs "
            f"{behind[0].title}, which needs {node.label!r}"
        )
