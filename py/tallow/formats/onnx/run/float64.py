"""What a GPU would not compute exactly in a stage: NumPy does, before the device does its part.

    given ─▶ NumPy's graph ─▶ the device's graph ─▶ host steps

WGSL has no float64: a node is NumPy's if anything in it, or anything it reads, is float64 and not a
constant. A constant that is only cast to float32 is as exact on the device. WGSL has no integers of
64 bits either: a node is NumPy's if it makes or reads some that 32 bits might not hold
(compile/ranges.py). What NumPy made of them, and what is given, is assumed to be small where the
device reads it; a run that shows otherwise has another stage made.

What depends on constants alone is computed when the stage is made, and crosses never. A node that
needs what the device computes first waits for the next stage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ....compile.passes.fold import host_value
from ....compile.ranges import ASSUMED, Ranges, is_wide
from ....compile.targets import EXACT
from ....dtype import float32, float64
from ....graph import Graph, Node, constant, input_node, rebuild, topological
from ....ops.elementwise import cast
from ....runtime.session import compile_session
from ..records import NodeRecord
from .hosting import HostStep

IN_FLOAT64 = "it computes in float64, which GPUs lack"
IN_64_BITS = "its 64-bit integers may be larger than the 32 bits that GPUs compute"
"""Why NumPy has to compute a node."""


@dataclass(frozen=True, slots=True)
class Exact:
    """What NumPy computes of a stage: one graph, and the nodes of the file that it stands for."""

    graph: Graph
    steps: tuple[HostStep, ...]


def why_numpy(outputs: Iterable[Node], inputs: Collection[Node], ranges: Ranges) -> str | None:
    """Why NumPy has to compute what lies between the tensors that a node of the file reads and
    makes; None if the device may."""
    made, seen = set(outputs), set[Node]()
    todo = list(made)
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.dtype == float64 and not node.is_constant:
            return IN_FLOAT64
        if node not in inputs:
            reads_float64 = any(child.dtype == float64 for child in node.inputs)
            if reads_float64 and not (node.op is cast and node.dtype == float32):
                return IN_FLOAT64
            todo.extend(node.inputs)
        if not ranges.fits(node) and not (node.is_constant and node in made):
            return IN_64_BITS
    return None


class Sides:
    """Which side computes the values of a stage that is being made.

    large: names of values whose 64-bit integers may be of any size.
    """

    def __init__(self, large: Collection[str]) -> None:
        self.ranges = Ranges(ASSUMED)
        self._large = large
        self._device: set[str] = set()  # values that depend on what is given
        self._numpy: set[str] = set()
        self._names: dict[Node, str] = {}  # of all that NumPy computes
        self._steps: list[HostStep] = []

    def waits(self, node: NodeRecord) -> bool:
        """Whether a node of NumPy's reads what the device computes first."""
        return not self._device.isdisjoint(node.inputs)

    def given(self, name: str, node: Node) -> None:
        """Notes an input of the stage."""
        if name in self._large:
            self.ranges.assume(node)

    def for_numpy(
        self, node: NodeRecord, made: Mapping[str, Node], given: Collection[str], why: str
    ) -> bool:
        """Notes a node that NumPy computes, and says whether it does so in every run.

        made: the outputs of the node. given: the inputs of the stage.
        """
        self._names.update({one: name for name, one in made.items() if not one.is_constant})
        if not any(name in self._numpy or name in given for name in node.inputs):
            return False
        self._numpy.update(made)
        self._steps.append(HostStep(node, why))
        for name, one in made.items():
            if is_wide(one.dtype) and name not in self._large and not self.ranges.fits(one):
                self.ranges.assume(one, ASSUMED)
        return True

    def for_device(
        self, node: NodeRecord, made: Mapping[str, Node], given: Collection[str]
    ) -> None:
        """Notes a node that the device computes."""
        places = self._device, self._numpy, given
        if any(name in place for name in node.inputs for place in places):
            self._device.update(name for name, one in made.items() if not one.is_constant)

    def parted(
        self, inputs: Iterable[Node], outputs: Mapping[str, Node], name: str
    ) -> tuple[Exact | None, Graph | None]:
        """NumPy's part of the graph with these outputs, and the device's; None for an empty one."""
        inputs = tuple(inputs)
        theirs = {key: one for key, one in outputs.items() if one in self._names}
        rest = {key: one for key, one in outputs.items() if one not in self._names}
        stands = {one: input_node(name, one.shape, one.dtype) for one, name in self._names.items()}
        rest = _replaced(rest, stands)
        reached = set(topological(rest.values()))
        known: dict[Node, Node] = {}
        fed: list[Node] = []
        for one, stand in stands.items():
            if stand not in reached:
                continue
            if self._names[one] in self._numpy:
                theirs[self._names[one]] = one
                fed.append(stand)
            else:
                known[stand] = one
        rest = _replaced(rest, _computed(known))
        exact = Exact(_graph(inputs, theirs, name), tuple(self._steps)) if theirs else None
        return exact, _graph((*inputs, *fed), rest, name) if rest else None


def _graph(inputs: Iterable[Node], outputs: Mapping[str, Node], name: str) -> Graph:
    """The graph of outputs, with those of the inputs that they need."""
    needed = set(topological(outputs.values()))
    return Graph(tuple(node for node in inputs if node in needed), outputs, name)


def _replaced(outputs: Mapping[str, Node], new: Mapping[Node, Node]) -> dict[str, Node]:
    """The outputs with other nodes in the place of some."""
    if not new:
        return dict(outputs)
    made = dict(new)
    for node in topological(outputs.values()):
        if node not in made:
            made[node] = rebuild(node, tuple(made[child] for child in node.inputs))
    return {name: made[node] for name, node in outputs.items()}


def _computed(nodes: Mapping[Node, Node]) -> dict[Node, Node]:
    """Constants with the values of nodes, which depend on constants alone."""
    found = {key: host_value(node) for key, node in nodes.items()}
    missing = {str(i): key for i, key in enumerate(nodes) if found[key] is None}
    if missing:
        graph = Graph((), {name: nodes[key] for name, key in missing.items()}, "float64")
        with compile_session(graph, EXACT) as session:
            found.update({missing[name]: data for name, data in session.run_host({}).items()})
    return {key: constant(data) for key, data in found.items() if data is not None}
