"""Records to Graph: each node becomes Tallow tensors; all that is unsupported is said at once."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import (
    DTypeError,
    GraphError,
    OnnxFormatError,
    OnnxUnsupportedError,
    ShapeError,
)
from ..graph import Graph, constant, input_node
from ..hostarray import HostArray, StringArray
from ..shape import size_of
from ..tensor import Tensor
from .call import Call
from .dimensions import Shapes, concrete_shapes
from .records import ModelRecord, NodeRecord, Unreadable
from .registry import find

_LARGEST = 2**40
"""Elements of one value. No device holds more, and arithmetic on such a shape may never end."""


def build(model: ModelRecord, shapes: Shapes | None) -> Graph:
    """The graph of a model, with concrete shapes.

    Raises OnnxUnsupportedError listing every node and type that Tallow lacks, OnnxFormatError for
    the first node that contradicts itself, ShapeError for `shapes` that do not fit.
    """
    return _Import(model, shapes).graph()


def unsupported(model: ModelRecord) -> list[str]:
    """What Tallow lacks for the model, as far as it shows without shapes: a line each."""
    problems = [
        f"input {info.name!r}: of the type {info.type}"
        for info in model.graph.inputs
        if info.dtype is None
    ]
    read = {name for node in model.graph.nodes for name in node.inputs}
    problems += [
        value.reason
        for name, value in model.graph.constants.items()
        if isinstance(value, Unreadable) and name in read
    ]
    for node in model.graph.nodes:
        try:
            find(node.domain, node.op_type, model.opsets.get(node.domain))
        except OnnxUnsupportedError as error:
            problems.append(f"{describe(node, model)}: {error}")
    return problems


def describe(node: NodeRecord, model: ModelRecord) -> str:
    """The node, its operator, domain and opset, for a message."""
    opset = model.opsets.get(node.domain)
    version = "not imported" if opset is None else str(opset)
    return f"node {node.label!r}: {node.op_type} ({node.domain or 'ai.onnx'}, opset {version})"


class _Import:
    def __init__(self, model: ModelRecord, shapes: Shapes | None) -> None:
        self._model = model
        self._wrong_shape = ShapeError if shapes else OnnxFormatError
        self._problems: list[str] = []
        # None stands for a value that could not be made; why is among the problems.
        self._values: dict[str, Tensor | None] = {}
        self._inputs: list[Tensor] = []
        usable = [info for info in model.graph.inputs if info.dtype is not None]
        by_name = concrete_shapes(usable, shapes)
        for info in model.graph.inputs:
            if info.dtype is None:
                self._problems.append(f"input {info.name!r}: of the type {info.type}")
                self._values[info.name] = None
                continue
            self._check_size(f"input {info.name!r}", by_name[info.name])
            tensor = Tensor(input_node(info.name, by_name[info.name], info.dtype))
            self._inputs.append(tensor)
            self._values[info.name] = tensor

    def graph(self) -> Graph:
        record = self._model.graph
        for node in record.nodes:
            inputs = [self._value(name) for name in node.inputs]
            blocked = any(name and x is None for name, x in zip(node.inputs, inputs, strict=True))
            results: Sequence[Tensor] | None = None
            try:
                results = self._make(node, inputs, blocked)
            except OnnxUnsupportedError as error:
                self._problems.append(f"{describe(node, self._model)}: {error}")
            for position, name in enumerate(node.outputs):
                self._values[name] = results[position] if results and name else None
        outputs = {info.name: self._value(info.name) for info in record.outputs}
        if self._problems:
            count = len(self._problems)
            raise OnnxUnsupportedError(
                f"the model needs {count} thing{'s' if count > 1 else ''} that Tallow does not "
                "have:\n  " + "\n  ".join(self._problems)
            )
        made = {name: tensor.node for name, tensor in outputs.items() if tensor is not None}
        return Graph(tuple(x.node for x in self._inputs), made, record.name or "onnx")

    def _value(self, name: str) -> Tensor | None:
        """The tensor of that name; constants become tensors when they are first read."""
        if name not in self._values:
            data = self._model.graph.constants.get(name)
            if isinstance(data, Unreadable):
                self._problems.append(data.reason)
            elif isinstance(data, StringArray):
                self._problems.append(f"initializer {name!r} is of type string")
            self._values[name] = Tensor(constant(data)) if isinstance(data, HostArray) else None
        return self._values[name]

    def _make(
        self, node: NodeRecord, inputs: Sequence[Tensor | None], blocked: bool
    ) -> Sequence[Tensor] | None:
        """The outputs of a node; None if an input of it could not be made."""
        opset = self._model.opsets.get(node.domain)
        entry = find(node.domain, node.op_type, opset)
        if blocked or opset is None:
            return None
        try:
            self._check_inputs(entry.fewest, entry.most, inputs)
            call = Call(node, opset)
            made = entry.function(call, *inputs)
        except (OnnxFormatError, ShapeError, GraphError) as error:
            raise self._wrong_shape(f"{describe(node, self._model)}: {error}") from error
        except DTypeError as error:
            raise OnnxUnsupportedError(str(error)) from error
        unknown = call.unknown_attributes()
        if unknown:
            raise OnnxUnsupportedError(f"its attribute {unknown[0]!r} is not known")
        results = [made] if isinstance(made, Tensor) else made
        for position, name in enumerate(node.outputs):
            if name and position >= len(results):
                raise OnnxUnsupportedError(f"its output {position + 1}, {name!r}, is not computed")
        for tensor in results:
            self._check_size(describe(node, self._model), tensor.shape)
        return results

    @staticmethod
    def _check_inputs(fewest: int, most: int | None, inputs: Sequence[Tensor | None]) -> None:
        if len(inputs) < fewest or (most is not None and len(inputs) > most):
            expected = f"{fewest} or more" if most is None else f"{fewest} to {most}"
            expected = str(fewest) if fewest == most else expected
            raise OnnxFormatError(f"its number of inputs is {len(inputs)}; expected {expected}")
        for position, tensor in enumerate(inputs if most is None else inputs[:fewest]):
            if tensor is None:
                raise OnnxFormatError(f"its input {position + 1} is missing")

    @staticmethod
    def _check_size(what: str, shape: tuple[int, ...]) -> None:
        elements = size_of(max(dim, 1) for dim in shape)  # NumPy too counts so
        if elements > _LARGEST:
            raise OnnxFormatError(f"{what}: a value of {elements:,} elements, {shape}")
