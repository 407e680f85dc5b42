"""Inlines a model's own functions: replaces each call by the nodes of the body."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from ....errors import OnnxFormatError
from ..records import GraphRecord, NodeRecord
from ..registry import NEWEST

_MAX_NODES = 50_000
"""The most nodes that inlining may create. Nested functions can create any number of them."""


Names = Callable[[str], str]
"""Maps the name of a value inside a function to its name outside."""


@dataclass(frozen=True, slots=True)
class FunctionRecord:
    """A function: names of its inputs and outputs, its nodes, defaults of its attributes."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[NodeRecord, ...]
    defaults: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute inside a function that takes its value from an attribute of the call."""

    name: str


class Expander:
    """Inlines calls, with unique names for the values inside each."""

    def __init__(self) -> None:
        self._calls = count()
        self._nodes = 0

    def inline(self, call: NodeRecord, function: FunctionRecord) -> Iterator[NodeRecord]:
        """The nodes that replace a call. Raises OnnxFormatError if the call does not fit."""
        for what, passed, known in (
            ("inputs", call.inputs, function.inputs),
            ("outputs", call.outputs, function.outputs),
        ):
            if len(passed) > len(known):
                raise OnnxFormatError(
                    f"node {call.label!r} has {len(passed)} {what}, but the function "
                    f"{call.op_type!r} has {len(known)}"
                )
        self._nodes += len(function.nodes)
        if self._nodes > _MAX_NODES:
            raise OnnxFormatError(f"its functions expand to more than {_MAX_NODES:,} nodes")
        prefix = f"{call.label}#{next(self._calls)}/"
        names = dict.fromkeys(function.inputs, "") | dict(zip(function.inputs, call.inputs))  # noqa: B905
        for inner, outer in zip(function.outputs, call.outputs):  # noqa: B905
            if outer and inner in names:  # an input that is passed through
                yield NodeRecord("", "Identity", "", NEWEST, (names[inner],), (outer,), {})
            elif outer:
                names[inner] = outer
        given = {**function.defaults, **call.attributes}

        def named(name: str) -> str:
            return names.get(name, prefix + name) if name else ""

        for node in function.nodes:
            yield _renamed(node, named, given)


def inlined(graph: GraphRecord, prefix: str, outputs: Sequence[str]) -> tuple[NodeRecord, ...]:
    """The nodes of a graph without inputs, for the graph around it; `prefix` starts its own names.

    outputs: the names of its outputs in the graph around it.
    """
    outer = set(graph.captures)

    def named(name: str) -> str:
        return prefix + name if name and name not in outer else name

    constants = [
        NodeRecord("", "Constant", "", NEWEST, (), (named(name),), {"value": value})
        for name, value in graph.constants.items()
    ]
    nodes = [_renamed(node, named, {}) for node in graph.nodes]
    results = [
        NodeRecord("", "Identity", "", NEWEST, (named(info.name),), (name,), {})
        for name, info in zip(outputs, graph.outputs)  # noqa: B905  (unused ones are left out)
        if name
    ]
    return (*constants, *nodes, *results)


def _renamed(node: NodeRecord, names: Names, given: Mapping[str, Any]) -> NodeRecord:
    attributes: dict[str, Any] = {}
    for key, value in node.attributes.items():
        if isinstance(value, Reference):
            if value.name in given:
                attributes[key] = given[value.name]
        elif isinstance(value, GraphRecord):
            attributes[key] = _inside(value, names, given)
        else:
            attributes[key] = value
    return replace(
        node,
        name=names(node.label),
        inputs=tuple(map(names, node.inputs)),
        outputs=tuple(map(names, node.outputs)),
        attributes=attributes,
        captures=tuple(map(names, node.captures)),
    )


def _inside(graph: GraphRecord, names: Names, given: Mapping[str, Any]) -> GraphRecord:
    """A graph inside a function: only the values that it captures are renamed, unless it is a part
    of the function."""
    outer = set(graph.captures)

    def named(name: str) -> str:
        return names(name) if graph.is_part or name in outer else name

    return replace(
        graph,
        inputs=tuple(replace(info, name=named(info.name)) for info in graph.inputs),
        outputs=tuple(replace(info, name=named(info.name)) for info in graph.outputs),
        nodes=tuple(_renamed(node, named, given) for node in graph.nodes),
        captures=tuple(map(names, graph.captures)),
    )
