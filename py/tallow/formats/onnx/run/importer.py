"""Turns records into one Graph; reports everything unsupported at once."""

from __future__ import annotations

from collections.abc import Iterable

from ....errors import OnnxFormatError, OnnxUnsupportedError, ShapeError
from ....graph import Graph, Node, input_node
from ....tensor import Tensor
from ..dimensions import Shapes, concrete_shapes
from ..records import GraphRecord, ModelRecord, Unreadable
from ..registry import find_any
from .builder import Builder, check_size, describe


def build(model: ModelRecord, shapes: Shapes | None) -> Graph:
    """The graph of a model, with concrete shapes.

    Raises OnnxUnsupportedError listing every node and type that is unsupported or needs the host,
    OnnxFormatError for the first inconsistent node, ShapeError for `shapes` that do not fit.
    """
    record = model.graph
    problems = [f"input {info.name!r}: its type is {info.type}" for info in record.inputs
                if info.dtype is None]  # fmt: skip
    builder = Builder(record.constants, ShapeError if shapes else OnnxFormatError)
    inputs: list[Node] = []
    missing = {info.name for info in record.inputs if info.dtype is None}
    usable = [info for info in record.inputs if info.dtype is not None]
    by_name = concrete_shapes(usable, shapes)
    for info in usable:
        assert info.dtype is not None
        check_size(f"input {info.name!r}", by_name[info.name])
        inputs.append(input_node(info.name, by_name[info.name], info.dtype))
        builder.values[info.name] = Tensor(inputs[-1])
    for node in record.nodes:
        problem = None
        try:
            if missing.isdisjoint(node.reads):
                builder.make(node)
            else:
                find_any(node)
        except OnnxUnsupportedError as error:
            problem = f"{describe(node)}: {error}"
        if problem:
            problems.append(problem)
        if problem or not missing.isdisjoint(node.reads):
            missing.update(node.outputs)
    outputs: dict[str, Node] = {}
    for info in record.outputs:
        if info.name in missing:
            continue
        try:
            outputs[info.name] = builder.value(info.name).node
        except OnnxUnsupportedError as error:
            problems.append(str(error))
    refuse(problems)
    return Graph(tuple(inputs), outputs, record.name or "onnx")


def refuse(problems: list[str]) -> None:
    """Raises OnnxUnsupportedError for all problems at once, if there are any."""
    if problems:
        count = len(problems)
        raise OnnxUnsupportedError(
            f"the model needs {count} thing{'s' if count > 1 else ''} that Tallow does not "
            "have:\n  " + "\n  ".join(problems)
        )


def unsupported(graph: GraphRecord) -> list[str]:
    """Everything unsupported in a graph, one per line, as far as known without shapes."""
    problems = [
        f"input {info.name!r}: its type is {info.type}"
        for info in graph.inputs
        if info.dtype is None and not info.on_host and info.type
    ]
    return problems + list(dict.fromkeys(_lacking(graph)))  # a part repeats what is around it


def _lacking(graph: GraphRecord) -> Iterable[str]:
    read = {name for node in graph.nodes for name in node.reads}
    for name, value in graph.constants.items():
        if isinstance(value, Unreadable) and name in read:
            yield value.reason
    for node in graph.nodes:
        try:
            find_any(node)
        except OnnxUnsupportedError as error:
            yield f"{describe(node)}: {error}"
        for value in node.attributes.values():
            if isinstance(value, GraphRecord):
                yield from _lacking(value)
