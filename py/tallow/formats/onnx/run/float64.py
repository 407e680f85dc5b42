"""Finds the nodes of a stage that a GPU can't compute exactly. NumPy computes them first.

    given ─▶ NumPy's graph ─▶ the device's graph ─▶ host steps

WebGPU has no float64: NumPy computes a node if anything in it, or anything it reads, is float64 and
not a constant. A constant that is only cast to float32 is just as exact on the device. WebGPU has
no 64-bit integers either: NumPy computes a node if it makes or reads some that might not fit into
32 bits (compile/ranges.py). Integers that NumPy computes or that a run is given are assumed to be
small where the device reads them; if a run finds larger ones, another stage is built.

Values that depend only on constants are computed when the stage is built and never cross to the
device at run time. A NumPy node that needs results of the device waits for the next stage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ....compile.passes.fold import host_value
from ....compile.ranges import ASSUMED, Ranges, is_wide
from ....core.devices import EXACT
from ....core.dtype import float32, float64
from ....graph import Graph, Node, constant, input_node, rebuild, topological
from ....ops.elementwise import cast
from ....runtime.session import compile_session
from ..reasons import IN_64_BITS, IN_FLOAT64, Reason
from ..records import NodeRecord
from .hosting import HostStep


@dataclass(frozen=True, slots=True)
class NumpyPart:
    """The part of a stage that NumPy computes: one graph, and the file's nodes it stands for."""

    graph: Graph
    steps: tuple[HostStep, ...]


# Why: docs/decisions/types.md, "float64 is exact in ONNX models, and float32 in graphs that name
# WebGPU"
def why_numpy(outputs: Iterable[Node], inputs: Collection[Node], ranges: Ranges) -> Reason | None:
    """Why NumPy has to compute the ops between the inputs and outputs of a node of the file; None
    if the device may."""
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
    """Tracks which side, device or NumPy, computes each value of a stage under construction.

    large: names of values whose 64-bit integers may have any size.
    """

    def __init__(self, large: Collection[str]) -> None:
        self.ranges = Ranges(ASSUMED)
        self._large = large
        self._device: set[str] = set()  # values that depend on inputs
        self._numpy: set[str] = set()
        self._names: dict[Node, str] = {}  # of everything that NumPy computes
        self._steps: list[HostStep] = []

    def waits(self, node: NodeRecord) -> bool:
        """Whether a node for NumPy reads a value that the device computes."""
        return not self._device.isdisjoint(node.reads)

    def add_input(self, name: str, node: Node) -> None:
        """Records an input of the stage."""
        if name in self._large:
            self.ranges.assume(node)

    def for_numpy(
        self, node: NodeRecord, made: Mapping[str, Node], given: Collection[str], why: Reason
    ) -> bool:
        """Records a node that NumPy computes. Returns whether it is computed again in every run.

        made: the outputs of the node. given: the inputs of the stage.
        """
        self._names.update({one: name for name, one in made.items() if not one.is_constant})
        if not any(name in self._numpy or name in given for name in node.reads):
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
        """Records a node that the device computes."""
        sources = self._device, self._numpy, given
        if any(name in source for name in node.reads for source in sources):
            self._device.update(name for name, one in made.items() if not one.is_constant)

    def split(
        self, inputs: Iterable[Node], outputs: Mapping[str, Node], name: str
    ) -> tuple[NumpyPart | None, Graph | None]:
        """Splits the graph of these outputs into NumPy's part and the device's (None if empty)."""
        inputs = tuple(inputs)
        on_numpy = {key: node for key, node in outputs.items() if node in self._names}
        rest = {key: node for key, node in outputs.items() if node not in self._names}
        stand_ins = {
            node: input_node(name, node.shape, node.dtype) for node, name in self._names.items()
        }
        rest = _replaced(rest, stand_ins)
        reached = set(topological(rest.values()))
        known: dict[Node, Node] = {}
        crossing: list[Node] = []
        for node, stand_in in stand_ins.items():
            if stand_in not in reached:
                continue
            if self._names[node] in self._numpy:
                on_numpy[self._names[node]] = node
                crossing.append(stand_in)
            else:
                known[stand_in] = node
        rest = _replaced(rest, _computed(known))
        numpy_part = None
        if on_numpy:
            numpy_part = NumpyPart(_graph(inputs, on_numpy, name), tuple(self._steps))
        return numpy_part, _graph((*inputs, *crossing), rest, name) if rest else None


def _graph(inputs: Iterable[Node], outputs: Mapping[str, Node], name: str) -> Graph:
    """The graph of these outputs, with only the inputs that they need."""
    needed = set(topological(outputs.values()))
    return Graph(tuple(node for node in inputs if node in needed), outputs, name)


def _replaced(outputs: Mapping[str, Node], new: Mapping[Node, Node]) -> dict[str, Node]:
    """The outputs after replacing nodes."""
    if not new:
        return dict(outputs)
    made = dict(new)
    for node in topological(outputs.values()):
        if node not in made:
            made[node] = rebuild(node, tuple(made[child] for child in node.inputs))
    return {name: made[node] for name, node in outputs.items()}


def _computed(nodes: Mapping[Node, Node]) -> dict[Node, Node]:
    """Constants with the values of nodes that depend only on constants."""
    found = {key: host_value(node) for key, node in nodes.items()}
    missing = {str(i): key for i, key in enumerate(nodes) if found[key] is None}
    if missing:
        graph = Graph((), {name: nodes[key] for name, key in missing.items()}, "float64")
        with compile_session(graph, EXACT) as session:
            found.update({missing[name]: data for name, data in session.run_host({}).items()})
    return {key: constant(data) for key, data in found.items() if data is not None}
