"""Splits a graph into stages: a part that runs as one graph, then steps on the host.

A stage is one Tallow graph with every node whose shapes are known so far, followed by the host
steps whose inputs are available after it. Nodes that depend on those steps wait for a later stage,
which is built once their results are known. So shapes are always concrete, and values cross to the
host only where necessary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ....compile.passes.fold import host_value
from ....core.dtype import DType
from ....core.hostarray import HostArray, StringArray
from ....core.shape import Shape
from ....errors import OnnxUnsupportedError
from ....graph import Graph, Node, constant, input_node
from ....tensor import Tensor
from ..call import NotKnownError
from ..read.expand import inlined
from ..reasons import DECIDES, HOST_ALONE, NO_NUMBERS, Reason
from ..records import Constant, GraphRecord, NodeRecord
from ..registry import find_any, find_control, find_on_host, operators
from ..values import Value
from .builder import Builder, check_size, describe
from .float64 import NumpyPart, Sides, why_numpy
from .hosting import HostStep, compute

W = TypeVar("W", NodeRecord, HostStep)

SMALL = 4096
"""The most elements of a value that the host computes while building a stage."""


@dataclass(frozen=True, slots=True)
class Spec:
    """Stands for a tensor whose values are not available yet."""

    shape: Shape
    dtype: DType


Given = Mapping[str, Value | Spec]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. NumPy computes `numpy_part`, then the device computes `graph` (None: nothing);
    `values` are already known; the host computes `steps`; `later` is left for later stages.
    nodes: how many of the file's nodes the device's graph stands for."""

    numpy_part: NumpyPart | None
    graph: Graph | None
    values: Mapping[str, HostArray]
    steps: tuple[HostStep, ...]
    later: tuple[NodeRecord, ...]
    nodes: int


class ValuesNeededError(Exception):
    """Some given values must be constants of the stage, because it depends on them."""

    def __init__(self, names: Collection[str], why: str) -> None:
        super().__init__(why)
        self.names = frozenset(names)


class Shared:
    """What the stages of a graph share: the most turns of a run's loops, the seeds of nodes that
    draw random numbers, and the nodes of If branches, inlined into the graph around them. Every
    stage gets the same node objects, so that whatever is cached for them is found again."""

    def __init__(self, most_turns: int = 1 << 62) -> None:
        self.most_turns = most_turns
        self.seeds: dict[tuple[str, ...], bytes] = {}
        self._nodes: dict[tuple[NodeRecord, str], tuple[NodeRecord, ...]] = {}

    def nodes(self, node: NodeRecord, name: str, branch: GraphRecord) -> tuple[NodeRecord, ...]:
        """The nodes of an If's branch; name: the attribute that holds the branch."""
        key = node, name
        if key not in self._nodes:
            # Node names may repeat; value names may not.
            prefix = next(filter(None, node.outputs), node.label)
            self._nodes[key] = inlined(branch, f"{prefix}/", node.outputs)
        return self._nodes[key]


def make_stage(
    nodes: Sequence[NodeRecord],
    given: Given,
    known: Collection[str],
    constants: Mapping[str, Constant],
    wanted: Collection[str],
    name: str,
    computes_64_bits: bool,
    shared: Shared,
    large: Collection[str] = (),
) -> Stage:
    """The next stage of `nodes`, once the values `given` are available.

    known: the names of given values that are constants of the stage. wanted: the graph's outputs.
    computes_64_bits: of the device, see `Target`.
    large: names of values whose 64-bit integers may
    have any size. Raises ValuesNeededError, OnnxUnsupportedError, OnnxFormatError.
    """
    return _StageBuilder(given, known, constants, computes_64_bits, shared, large).stage(
        nodes, wanted, name
    )


class _StageBuilder:
    def __init__(
        self,
        given: Given,
        known: Collection[str],
        constants: Mapping[str, Constant],
        computes_64_bits: bool,
        shared: Shared,
        large: Collection[str],
    ) -> None:
        self._shared = shared
        self._computes_64_bits = computes_64_bits
        self._sides = Sides(large)
        self._nodes = 0
        self._given = given
        self._known = frozenset(known)
        self._builder = Builder(constants, seeds=shared.seeds, most_turns=shared.most_turns)
        self._constants = constants
        self._inputs: dict[str, Node] = {}
        self._absent: set[str] = set()  # computed later, or by the host
        self._host: list[HostStep] = []
        self._later: list[NodeRecord] = []
        for name in known:
            value = given.get(name)
            if isinstance(value, HostArray):
                self._builder.values[name] = Tensor(constant(value))

    def stage(self, nodes: Sequence[NodeRecord], wanted: Collection[str], name: str) -> Stage:
        todo = deque(nodes)
        while todo:
            node = todo.popleft()
            if any(read in self._absent for read in node.reads):
                self._wait(self._later, node)
                continue
            branch = self._branch(node)
            if branch is not None:
                todo.extendleft(reversed(branch))
                continue
            reason = self._why_on_host(node)
            if reason is DECIDES and self._joins(node):
                continue
            if reason is None:
                reason = self._make(node)
            if reason and not self._computed(node):
                self._wait(self._host, HostStep(node, reason))
        return self._finished(wanted, name)

    # ---- nodes ---------------------------------------------------------------------------------

    def _branch(self, node: NodeRecord) -> Sequence[NodeRecord] | None:
        """The nodes of the branch that an If takes, if that is already known."""
        if (node.domain, node.op_type) != ("", "If") or len(node.inputs) != 1:
            return None
        if not self._is_tensor(node.inputs[0]):
            return None
        value = host_value(self._tensor(node.inputs[0]).node)
        taken = "then_branch" if value and any(value.flat()) else "else_branch"
        branch = node.attributes.get(taken)
        if value is None or not isinstance(branch, GraphRecord):
            return None
        if branch.inputs or len(branch.outputs) < len(node.outputs):
            return None  # control.py reports the problem
        return self._shared.nodes(node, taken, branch)

    def _why_on_host(self, node: NodeRecord) -> Reason | None:
        """Why the host has to compute a node; None if the device may."""
        if find_control(node):
            return DECIDES
        if not all(map(self._is_tensor, node.reads)):
            if find_on_host(node) is None:
                raise OnnxUnsupportedError(
                    f"{describe(node)}: Tallow supports it only for tensors of numbers"
                )
            return NO_NUMBERS
        if (node.domain, node.op_type) not in operators():
            find_any(node)
            return HOST_ALONE
        return None

    def _joins(self, node: NodeRecord) -> bool:
        """Builds a node with graphs as part of the stage, if it can be one."""
        if not all(map(self._is_tensor, node.reads)):
            return False
        for name in node.reads:
            self._tensor(name)
        if not self._builder.join(node):
            return False
        for name in filter(None, node.outputs):
            check_size(describe(node), self._builder.values[name].shape)
        self._assign(node)
        return True

    def _make(self, node: NodeRecord) -> Reason | None:
        """Builds the tensors of a node, or returns the reason why the host must compute it. A node
        that needs values not yet known waits for a later stage."""
        for name in node.reads:
            self._tensor(name)
        try:
            self._builder.make(node)
        except NotKnownError as error:
            names = self._needed(node, error.tensor)
            if names <= self._given.keys() - self._known:
                raise ValuesNeededError(names, f"{describe(node)}: {error}") from error
            if _serves_numbers(node):
                return Reason.of(error)
            if names <= self._known:
                raise OnnxUnsupportedError(f"{describe(node)}: {error}") from error
            self._wait(self._later, node)
            return None
        except OnnxUnsupportedError as error:
            if not _serves_numbers(node):
                raise OnnxUnsupportedError(f"{describe(node)}: {error}") from error
            return Reason.of(error)
        self._assign(node)
        return None

    def _assign(self, node: NodeRecord) -> None:
        """Assigns a node to the device or to NumPy, or makes it wait for a later stage."""
        values = self._builder.values
        made = {name: values[name].node for name in node.outputs if name in values}
        read = {values[name].node for name in node.reads}
        why = None if self._computes_64_bits else why_numpy(made.values(), read, self._sides.ranges)
        if why is None:
            self._sides.for_device(node, made, self._inputs)
            self._nodes += 1
        elif self._sides.waits(node):
            for name in made:
                del values[name]
            self._wait(self._later, node)
        else:
            self._nodes += not self._sides.for_numpy(node, made, self._inputs, why)

    def _computed(self, node: NodeRecord) -> bool:
        """Computes a node if its inputs are small and already known; returns whether it did."""
        if find_control(node):
            return False
        values: list[Value] = []
        for name in node.inputs:
            value = self._known_value(name) if name else None
            if name and value is None:
                return False
            values.append(value)
        for name, result in compute(node, values).items():
            if not isinstance(result, HostArray):
                return False
            self._builder.values[name] = Tensor(constant(result))
        return True

    def _known_value(self, name: str) -> Value:
        if name in self._constants and isinstance(self._constants[name], StringArray):
            return self._constants[name]  # type: ignore[return-value]
        if not self._is_tensor(name):
            return None
        node = self._tensor(name).node
        if node.is_constant:
            data: HostArray = node.attrs["data"]
            return data if data.size <= SMALL else None
        return host_value(node)

    def _needed(self, node: NodeRecord, tensor: Tensor) -> set[str]:
        """The names of the values that a node reads and that must be known."""
        names = {x for x in node.reads if self._builder.values[x].node is tensor.node}
        unknown = {x for x in node.reads if self._known_value(x) is None}
        return names or unknown

    def _wait(self, queue: list[W], entry: W) -> None:
        queue.append(entry)
        node = entry.node if isinstance(entry, HostStep) else entry
        self._absent.update(filter(None, node.outputs))

    # ---- values --------------------------------------------------------------------------------

    def _is_tensor(self, name: str) -> bool:
        if name in self._builder.values:
            return True
        value = self._given.get(name, self._constants.get(name))
        return isinstance(value, (HostArray, Spec))

    def _tensor(self, name: str) -> Tensor:
        """A value as a tensor of the stage; given values become inputs when first read."""
        value = self._given.get(name)
        if name not in self._builder.values and isinstance(value, (HostArray, Spec)):
            check_size(f"{name!r}", value.shape)
            self._inputs[name] = input_node(name, value.shape, value.dtype)
            self._sides.add_input(name, self._inputs[name])
            self._builder.values[name] = Tensor(self._inputs[name])
        return self._builder.value(name)

    def _finished(self, wanted: Collection[str], name: str) -> Stage:
        needed = set(wanted)
        for node in (*self._later, *(step.node for step in self._host)):
            needed.update(node.reads)
        made = needed - self._given.keys() - self._constants.keys()
        values: dict[str, HostArray] = {}
        outputs: dict[str, Node] = {}
        for one in sorted(made & self._builder.values.keys()):
            value = self._known_value(one)
            if isinstance(value, HostArray):
                values[one] = value
            else:
                outputs[one] = self._builder.values[one].node
        numpy_part, graph = self._sides.split(self._inputs.values(), outputs, name)
        return Stage(numpy_part, graph, values, tuple(self._host), tuple(self._later), self._nodes)


def _serves_numbers(node: NodeRecord) -> bool:
    entry = find_on_host(node)
    return entry is not None and entry.numbers
