"""Turns nodes into tensors, for the importer (one graph) and for stages (several)."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence

from ....core.hostarray import HostArray
from ....core.shape import MAX_AXES, size_of
from ....errors import DTypeError, GraphError, OnnxFormatError, OnnxUnsupportedError, ShapeError
from ....graph import constant
from ....random import fresh_bytes
from ....tensor import Tensor
from ..call import Call, NotKnownError
from ..reasons import DECIDES, HOST_ALONE
from ..records import Constant, GraphRecord, NodeRecord, Unreadable, shown
from ..registry import find, find_any, find_control, operators
from .inside import MOST_NODES, joined

Seeds = MutableMapping[tuple[str, ...], bytes]
"""Random bytes by the outputs of the node that draws with them. A derivative builds nodes again,
and draws what they drew."""

_MAX_ELEMENTS = 2**40
"""The largest value. No device holds more, and computing with larger shapes may never end."""


def describe(node: NodeRecord) -> str:
    """The node, its operator, domain and opset, for a message."""
    version = "not imported" if node.opset is None else str(node.opset)
    operator, domain = shown(node.op_type), shown(node.domain) or "ai.onnx"
    return f"node {node.label!r}: {operator} ({domain}, opset {version})"


class Builder:
    """Builds the tensors of nodes, one node after the other.

    most_turns: of a loop that may be part of the graph; 0 where control flow may not.
    """

    def __init__(
        self,
        constants: Mapping[str, Constant],
        wrong_shape: type[ShapeError | OnnxFormatError] = OnnxFormatError,
        seeds: Seeds | None = None,
        most_turns: int = 0,
    ) -> None:
        self.values: dict[str, Tensor] = {}
        self._most_turns = most_turns
        self._left: list[int] | None = None  # how many nodes `join` may still build
        self._seeds: Seeds = {} if seeds is None else seeds
        self._constants = constants
        self._wrong_shape = wrong_shape

    def value(self, name: str) -> Tensor:
        """The tensor with that name; constants become tensors when first read.

        Raises OnnxUnsupportedError for a constant that Tallow can't represent.
        """
        if name not in self.values:
            data = self._constants[name]
            if isinstance(data, Unreadable):
                raise OnnxUnsupportedError(data.reason)
            if not isinstance(data, HostArray):
                raise OnnxUnsupportedError(f"{name!r} contains strings")
            self.values[name] = Tensor(constant(data))
        return self.values[name]

    def make(self, node: NodeRecord) -> None:
        """Adds the outputs of a node to `values`.

        Raises OnnxUnsupportedError (NotKnownError if a value is not known yet), OnnxFormatError for
        an inconsistent node, and `wrong_shape` for shapes that do not fit.
        """
        entry = find(node.domain, node.op_type, node.opset)
        assert node.opset is not None
        inputs = [self.value(name) if name else None for name in node.inputs]
        call = Call(node, node.opset, self)
        try:
            check_inputs(entry.min_inputs, entry.max_inputs, inputs)
            made = entry.function(call, *inputs)
        except (OnnxFormatError, ShapeError, GraphError) as error:
            raise self._wrong_shape(f"{describe(node)}: {error}") from error
        except DTypeError as error:
            raise OnnxUnsupportedError(str(error)) from error
        unknown = call.unknown_attributes()
        if unknown:
            raise OnnxUnsupportedError(f"its attribute {unknown[0]!r} is unknown")
        results = [made] if isinstance(made, Tensor) else made
        for position, name in enumerate(node.outputs):
            if name and position >= len(results):
                raise OnnxUnsupportedError(f"its output {position + 1}, {name!r}, is not computed")
        for tensor in results:
            check_size(describe(node), tensor.shape)
        for name, tensor in zip(node.outputs, results):  # noqa: B905  (unused ones are left out)
            if name:
                self.values[name] = tensor

    def built(self, graph: GraphRecord, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The outputs of a graph within this one, on these inputs; see Call.built."""
        if self._left is not None:
            self._left[0] -= len(graph.nodes)
            if self._left[0] < 0:
                raise OnnxUnsupportedError(DECIDES)
        constants = {**self._constants, **graph.constants}
        inner = Builder(constants, self._wrong_shape, self._seeds, self._most_turns)
        inner._left = self._left
        given = {info.name: x for info, x in zip(graph.inputs, inputs, strict=True)}
        inner.values.update({name: self.value(name) for name in graph.captures} | given)
        for node in graph.nodes:
            try:
                if not inner.join(node):
                    _check_buildable(node)
                    inner.make(node)
                inner.values.update(given)  # of a part, some may be outputs of its nodes
            except NotKnownError:
                raise
            except OnnxUnsupportedError as error:
                raise OnnxUnsupportedError(f"{describe(node)}: {error}") from error
        return [inner.value(info.name) for info in graph.outputs]

    def join(self, node: NodeRecord) -> bool:
        """Adds the outputs of an If, Loop or Scan to `values` if its graphs can be parts of this
        one; returns whether they are."""
        if not self._most_turns or not find_control(node):
            return False
        outermost = self._left is None
        if outermost:
            self._left = [MOST_NODES]
        made = joined(self, node, self._most_turns)
        if outermost:
            self._left = None
        if made is None:
            return False
        for name, tensor in zip(node.outputs, made):  # noqa: B905  (unused ones are left out)
            if name:
                self.values[name] = tensor
        return True

    def seed(self, node: NodeRecord) -> bytes:
        """Random bytes for a node; see Call.seed."""
        return self._seeds.setdefault(node.outputs, fresh_bytes(8))


def _check_buildable(node: NodeRecord) -> None:
    """Raises OnnxUnsupportedError with the reason why a node can't be part of a graph."""
    if find_control(node):
        raise OnnxUnsupportedError(DECIDES)
    find_any(node)
    if (node.domain, node.op_type) not in operators():
        raise OnnxUnsupportedError(HOST_ALONE)


def check_inputs(minimum: int, maximum: int | None, inputs: Sequence[object | None]) -> None:
    """Raises OnnxFormatError if an operator has too few or too many inputs."""
    if len(inputs) < minimum or (maximum is not None and len(inputs) > maximum):
        expected = f"{minimum} or more" if maximum is None else f"{minimum} to {maximum}"
        expected = str(minimum) if minimum == maximum else expected
        raise OnnxFormatError(f"it has {len(inputs)} inputs; expected {expected}")
    for position, value in enumerate(inputs if maximum is None else inputs[:minimum]):
        if value is None:
            raise OnnxFormatError(f"its input {position + 1} is missing")


def check_size(what: str, shape: tuple[int, ...]) -> None:
    """Raises OnnxFormatError for a value that no device can hold."""
    if len(shape) > MAX_AXES:
        raise OnnxFormatError(
            f"{what}: a value with {len(shape)} axes; at most {MAX_AXES} are supported"
        )
    elements = size_of(max(dim, 1) for dim in shape)  # NumPy counts the same way
    if elements > _MAX_ELEMENTS:
        raise OnnxFormatError(f"{what}: a value with {elements:,} elements, {shape}, is too large")
