"""Survey: what there is to know of a model before it runs, and before anything is uploaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..compile.count import multiply_adds
from ..errors import OnnxUnsupportedError, ShapeError
from ..hostarray import HostArray
from .dimensions import Shapes, concrete_shapes
from .records import GraphRecord, NodeRecord, Unreadable
from .registry import find_any, find_control, operators
from .stages import DECIDES, HOST_ALONE, Spec, Stage, ValuesNeededError, make_stage


@dataclass(frozen=True, slots=True)
class Use:
    """The nodes of one operator that go to one place: "device", "host" or "nowhere", and why."""

    operator: str
    place: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Survey:
    """parameters: elements of the weights, in `weight_bytes`. multiply_adds: of the part whose
    shapes are known before it runs, None if the shapes of the inputs are not; whole: whether that
    part is all. uses: the most frequent first."""

    parameters: int
    weight_bytes: int
    nodes: int
    multiply_adds: int | None
    whole: bool
    uses: tuple[Use, ...]

    @classmethod
    def of(cls, graph: GraphRecord, shapes: Shapes | None) -> Survey:
        """The survey of a model for shapes of its inputs."""
        stage = _first_stage(graph, shapes)
        reasons = {step.node: step.reason for step in stage.steps} if stage else {}
        counts: dict[tuple[str, str, str], int] = {}
        nodes = 0
        for node in _all(graph):
            nodes += 1
            name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
            key = name, *_place(node, reasons)
            counts[key] = counts.get(key, 0) + 1
        weights = [x for x in _constants(graph) if isinstance(x, HostArray)]
        uses = (Use(name, place, n, why) for (name, place, why), n in counts.items())
        return cls(
            sum(x.size for x in weights),
            sum(x.data.nbytes for x in weights),
            nodes,
            None if stage is None else multiply_adds(stage.graph) if stage.graph else 0,
            stage is not None and not stage.later and not any(map(_bodies, graph.nodes)),
            tuple(sorted(uses, key=lambda use: (-use.count, use.operator))),
        )


def _first_stage(graph: GraphRecord, shapes: Shapes | None) -> Stage | None:
    """What can be computed in one go, None where it depends on more than the shapes."""
    tensors = [info for info in graph.inputs if info.dtype is not None]
    try:
        by_name = concrete_shapes(tensors, shapes)
    except ShapeError:
        if shapes:
            raise
        return None
    given = {info.name: Spec(by_name[info.name], info.dtype) for info in tensors if info.dtype}
    wanted = [info.name for info in graph.outputs]
    try:
        return make_stage(graph.nodes, given, (), graph.constants, wanted, graph.name or "onnx")
    except (ValuesNeededError, OnnxUnsupportedError):
        return None


def _place(node: NodeRecord, reasons: Mapping[NodeRecord, str]) -> tuple[str, str]:
    if node in reasons:
        return "host", reasons[node]
    try:
        find_any(node)
    except OnnxUnsupportedError as error:
        return "nowhere", str(error)
    if find_control(node):
        return "host", DECIDES
    if (node.domain, node.op_type) not in operators():
        return "host", HOST_ALONE
    return "device", ""


def _bodies(node: NodeRecord) -> list[GraphRecord]:
    return [value for value in node.attributes.values() if isinstance(value, GraphRecord)]


def _all(graph: GraphRecord) -> Iterator[NodeRecord]:
    """The nodes of a graph, and of those in it."""
    for node in graph.nodes:
        yield node
        for body in _bodies(node):
            yield from _all(body)


def _constants(graph: GraphRecord) -> Iterator[object]:
    """The weights of a graph that are read, and of the graphs in it."""
    read = {name for node in graph.nodes for name in node.reads}
    for name, value in graph.constants.items():
        if name in read and not isinstance(value, Unreadable):
            yield value
    for node in graph.nodes:
        for body in _bodies(node):
            yield from _constants(body)
