"""Summary: a description of a model before it is compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ....compile import TARGETS
from ....compile.count import multiply_adds
from ....core.dtype import int64
from ....core.hostarray import HostArray
from ....errors import OnnxError, OnnxFormatError, OnnxUnsupportedError, ShapeError
from ..dimensions import Shapes, concrete_shapes, guessed
from ..reasons import DECIDES, HOST_ALONE, Reason
from ..records import GraphRecord, Metadata, ModelRecord, NodeRecord, ValueInfo
from ..registry import find_any, find_control, operators
from .hosting import HostStep
from .stages import Shared, Spec, Stage, ValuesNeededError, make_stage


@dataclass(frozen=True, slots=True)
class Use:
    """The nodes of one operator that run in one place: "device", "host" or "nowhere", and why if
    not on the device."""

    operator: str
    place: str
    count: int
    reason: Reason | None


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model is, and where its nodes run.

    opsets: versions by domain; the standard domain is "". parameters: the elements of its
    constants, without those of int64, which are shapes and indices. bytes: the size of all its
    constants in memory. multiply_adds: those of its products and convolutions; None while shapes
    are unknown; `at_least` if some shapes are known only in a run. uses: its operators, the most
    frequent first. unsupported: everything Tallow lacks, one per line.
    """

    name: str
    metadata: Metadata
    opsets: Mapping[str, int]
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    parameters: int
    bytes: int
    multiply_adds: int | None
    at_least: bool
    uses: tuple[Use, ...]
    unsupported: tuple[str, ...]

    @property
    def nodes(self) -> int:
        """The number of nodes, including those of inner graphs."""
        return sum(use.count for use in self.uses)

    def __str__(self) -> str:
        return "\n".join(f"{label + ':':<15}{text}".rstrip() for label, text in self._lines())

    def _lines(self) -> Iterable[tuple[str, str]]:
        made = self.metadata
        yield "name", self.name or "(none)"
        yield "producer", f"{made.producer or '(none)'} {made.producer_version}".rstrip()
        versions = ", ".join(f"{d or 'ai.onnx'} {v}" for d, v in sorted(self.opsets.items()))
        yield "opsets", f"{versions} (IR {made.ir_version})"
        for label, infos in (("input", self.inputs), ("output", self.outputs)):
            yield from ((label, str(info)) for info in infos)
        yield "parameters", f"{self.parameters:,}"
        yield "bytes", f"{self.bytes:,}"
        if self.multiply_adds is None:
            yield "multiply-adds", "unknown until the shapes are known"
        else:
            yield "multiply-adds", f"{'at least ' if self.at_least else ''}{self.multiply_adds:,}"
        yield "on the device", _counted(self.uses, "device")
        yield "on the host", _counted(self.uses, "host")
        if not self.unsupported:
            yield "unsupported", "nothing"
        yield from (("unsupported", line) for line in self.unsupported)


def _counted(uses: Iterable[Use], place: str) -> str:
    counts: Counter[str] = Counter()
    for use in uses:
        if use.place == place:
            counts[use.operator] += use.count
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {name}" for name, count in ranked) or "nothing"


def summarise(model: ModelRecord, unsupported: list[str], shapes: Shapes | None) -> Summary:
    """The summary of a model; see `Model.summary`."""
    graph = model.graph
    stage, problem = (None, "") if unsupported else _first_stage(graph, shapes)
    reasons = {step.node: step.reason for step in _host_steps(stage)}
    joined = _joined(graph, stage, reasons)
    counts: Counter[tuple[str, str, Reason | None]] = Counter()
    for node in _all_nodes(graph):
        name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        place = ("device", None) if node in joined else _place(node, reasons)
        counts[name, *place] += 1
    uses = [Use(name, place, count, why) for (name, place, why), count in counts.items()]
    products = None
    if stage is not None:
        graphs = (stage.graph, stage.numpy_part and stage.numpy_part.graph)
        products = sum(multiply_adds(one) for one in graphs if one)
    held = list(constants(graph))
    return Summary(
        graph.name,
        model.metadata,
        model.opsets,
        graph.inputs,
        graph.outputs,
        sum(data.size for data in held if data.dtype != int64),
        sum(data.data.nbytes for data in held),
        products,
        any(find_control(node) and node not in joined for node in graph.nodes)
        or bool(stage and stage.later),
        tuple(sorted(uses, key=lambda use: (-use.count, use.operator))),
        tuple(unsupported) or ((problem,) if problem else ()),
    )


def _first_stage(graph: GraphRecord, shapes: Shapes | None) -> tuple[Stage | None, str]:
    """The first stage (None if shapes or values are missing), and what Tallow lacks for it."""
    tensors = [info for info in graph.inputs if info.dtype is not None]
    try:
        by_name = concrete_shapes(tensors, shapes)
    except ShapeError:
        if shapes:
            raise
        return None, ""
    given = {i.name: Spec(by_name[i.name], i.dtype) for i in tensors if i.dtype is not None}
    wanted = [info.name for info in graph.outputs]
    rest = graph.constants, wanted, graph.name, TARGETS["webgpu"].computes_64_bits, Shared()
    try:
        return make_stage(graph.nodes, given, (), *rest), ""
    except ValuesNeededError:
        return None, ""
    except OnnxError as error:
        only_a_guess = isinstance(error, OnnxFormatError) and guessed(tensors, shapes)
        return None, "" if only_a_guess else str(error)


def _host_steps(stage: Stage | None) -> Iterable[HostStep]:
    if stage is not None:
        yield from stage.numpy_part.steps if stage.numpy_part else ()
        yield from stage.steps


def _joined(
    graph: GraphRecord, stage: Stage | None, hosted: Collection[NodeRecord]
) -> set[NodeRecord]:
    """The nodes with graphs that are part of the first stage's plan."""
    if stage is None:
        return set()
    rest = {*hosted, *stage.later}
    return {node for node in graph.nodes if find_control(node) and node not in rest}


def _place(node: NodeRecord, reasons: Mapping[NodeRecord, Reason]) -> tuple[str, Reason | None]:
    """Where a node is computed, as far as known, and why not on the device."""
    if node in reasons:
        return "host", reasons[node]
    try:
        find_any(node)
    except OnnxUnsupportedError as error:
        return "nowhere", Reason.of(error)
    if find_control(node):
        return "host", DECIDES
    if (node.domain, node.op_type) not in operators():
        return "host", HOST_ALONE
    return "device", None


def _all_nodes(graph: GraphRecord) -> Iterable[NodeRecord]:
    for node in graph.nodes:
        yield node
        for inner in _inner(node):
            yield from _all_nodes(inner)


def _inner(node: NodeRecord) -> Iterable[GraphRecord]:
    graphs = (value for value in node.attributes.values() if isinstance(value, GraphRecord))
    return (graph for graph in graphs if not graph.is_part)


def constants(graph: GraphRecord) -> Iterable[HostArray]:
    """Every array stored in the file, in the file's order."""
    yield from (data for data in graph.constants.values() if isinstance(data, HostArray))
    for node in graph.nodes:
        yield from (data for data in node.attributes.values() if isinstance(data, HostArray))
        for inner in _inner(node):
            yield from constants(inner)
