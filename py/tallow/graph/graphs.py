"""Graphs: the nodes that named outputs need, in order, and their rewriting."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..errors import GraphError
from ..ops.kinds import Op
from .nodes import Node, rebuild


def topological(outputs: Iterable[Node], order: list[Node] | None = None) -> list[Node]:
    """Every node that the outputs need, each after its inputs. Deep graphs need no deep stack.
    order: such a list, to which what it lacks is added."""
    order = [] if order is None else order
    done = set(order)
    stack = [*outputs][::-1]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        ready = True
        for child in reversed(node.inputs):
            if child not in done:
                stack.append(child)
                ready = False
        if ready:
            stack.pop()
            done.add(node)
            order.append(node)
    return order


def consumers(order: Iterable[Node]) -> dict[Node, list[Node]]:
    """The nodes that read each node; one that reads it twice stands twice."""
    result: dict[Node, list[Node]] = {}
    for node in order:
        result.setdefault(node, [])
        for child in node.inputs:
            result[child].append(node)
    return result


@dataclass(frozen=True, eq=False)
class Graph:
    """Named outputs, and the inputs in the order in which they are fed.

    states: inputs that are not fed but stay on the device from run to run, by name, each with the
    name of the output that is its next value, or None if it is only read.
    """

    inputs: tuple[Node, ...]
    outputs: Mapping[str, Node]
    name: str = "graph"
    states: Mapping[str, str | None] = field(default_factory=dict)

    def nodes(self) -> Sequence[Node]:
        """The nodes that the outputs need, in topological order."""
        return self._order

    @cached_property
    def _order(self) -> Sequence[Node]:
        return topological(self.outputs.values())

    def check(self) -> Graph:
        """The graph itself, if it is well formed; GraphError otherwise."""
        declared = set(self.inputs)
        for node in self.nodes():
            if node.is_input and node not in declared:
                raise GraphError(f"the input {node.attrs['name']!r} is not declared by the graph")
            specs = [(child.shape, child.dtype) for child in node.inputs]
            shape, dtype = node.op.infer(specs, node.attrs)
            if (tuple(shape), dtype) != (node.shape, node.dtype):
                raise GraphError(f"{node} should have the shape {shape} and type {dtype.name}")
        return self

    def rewrite(
        self,
        rule: Callable[[Node, tuple[Node, ...]], Node],
        ops: Container[Op] | None = None,
    ) -> Graph:
        """The graph with every node replaced, inputs first.

        rule(node, new_inputs) gives the replacement; see `rebuild` for the one that changes
        nothing else. Inputs of the graph stay as they are. ops: those that the rule is for, where
        it is not for all; other nodes are rebuilt.
        """
        if ops is not None and not any(node.op in ops for node in self.nodes()):
            return self
        new: dict[Node, Node] = {node: node for node in self.inputs}
        for node in self.nodes():
            if node in new:
                continue
            inputs = tuple([new[child] for child in node.inputs])
            change = rule if ops is None or node.op in ops else rebuild
            new[node] = change(node, inputs)
        outputs = {name: new[node] for name, node in self.outputs.items()}
        return self if outputs == self.outputs else replace(self, outputs=outputs)

    def after(self, first: Graph) -> Graph:
        """This graph fed by the outputs of another, which are matched to inputs by name.

        Raises GraphError if an input is left without an output of the same shape and type.
        """
        fed: dict[Node, Node] = {}
        for node in self.inputs:
            name = node.attrs["name"]
            given = first.outputs.get(name)
            if given is None or (given.shape, given.dtype) != (node.shape, node.dtype):
                raise GraphError(f"{first.name} gives no {node} for the input {name!r}: {given}")
            fed[node] = given
        new = dict(fed)
        for node in self.nodes():
            if node not in new:
                new[node] = rebuild(node, tuple(new[child] for child in node.inputs))
        outputs = {name: new[node] for name, node in self.outputs.items()}
        return Graph(first.inputs, outputs, self.name)

    def __str__(self) -> str:
        names: dict[Node, str] = {}
        lines = []
        for number, node in enumerate(self.nodes()):
            names[node] = f"%{number}"
            shown = {k: v for k, v in node.attrs.items() if k not in ("data", "shape", "dtype")}
            arguments = [names[child] for child in node.inputs]
            arguments += [f"{key}={value!r}" for key, value in shown.items()]
            lines.append(
                f"{names[node]}: {node.dtype.name}{list(node.shape)} = "
                f"{node.op.name}({', '.join(arguments)})"
            )
        outputs = ", ".join(f"{name}={names[node]}" for name, node in self.outputs.items())
        return "\n".join([f"graph {self.name}", *("  " + line for line in lines), f"  {outputs}"])
