"""Nodes to tensors: what the importer (one graph) and the stages (several) share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....errors import DTypeError, GraphError, OnnxFormatError, OnnxUnsupportedError, ShapeError
from ....graph import constant
from ....hostarray import HostArray
from ....shape import MAX_AXES, size_of
from ....tensor import Tensor
from ..call import Call
from ..records import Constant, NodeRecord, Unreadable, shown
from ..registry import find

_LARGEST = 2**40
"""Elements of one value. No device holds more, and arithmetic on such a shape may never end."""


def describe(node: NodeRecord) -> str:
    """The node, its operator, domain and opset, for a message."""
    version = "not imported" if node.opset is None else str(node.opset)
    operator, domain = shown(node.op_type), shown(node.domain) or "ai.onnx"
    return f"node {node.label!r}: {operator} ({domain}, opset {version})"


class Builder:
    """Makes the tensors of nodes, one node after the other."""

    def __init__(
        self,
        constants: Mapping[str, Constant],
        wrong_shape: type[ShapeError | OnnxFormatError] = OnnxFormatError,
    ) -> None:
        self.values: dict[str, Tensor] = {}
        self._constants = constants
        self._wrong_shape = wrong_shape

    def value(self, name: str) -> Tensor:
        """The tensor of that name; constants become tensors when they are first read.

        Raises OnnxUnsupportedError for a constant that Tallow can't hold.
        """
        if name not in self.values:
            data = self._constants[name]
            if isinstance(data, Unreadable):
                raise OnnxUnsupportedError(data.reason)
            if not isinstance(data, HostArray):
                raise OnnxUnsupportedError(f"{name!r} holds texts")
            self.values[name] = Tensor(constant(data))
        return self.values[name]

    def make(self, node: NodeRecord) -> None:
        """Enters the outputs of a node into `values`.

        Raises OnnxUnsupportedError (NotKnownError: for want of a value), OnnxFormatError for a node
        that contradicts itself, the error given for shapes that do not fit.
        """
        entry = find(node.domain, node.op_type, node.opset)
        assert node.opset is not None
        inputs = [self.value(name) if name else None for name in node.inputs]
        call = Call(node, node.opset)
        try:
            check_inputs(entry.fewest, entry.most, inputs)
            made = entry.function(call, *inputs)
        except (OnnxFormatError, ShapeError, GraphError) as error:
            raise self._wrong_shape(f"{describe(node)}: {error}") from error
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
            check_size(describe(node), tensor.shape)
        for name, tensor in zip(node.outputs, results):  # noqa: B905  (unused ones are left out)
            if name:
                self.values[name] = tensor


def check_inputs(fewest: int, most: int | None, inputs: Sequence[object | None]) -> None:
    """Raises OnnxFormatError if an operator has too few or too many inputs."""
    if len(inputs) < fewest or (most is not None and len(inputs) > most):
        expected = f"{fewest} or more" if most is None else f"{fewest} to {most}"
        expected = str(fewest) if fewest == most else expected
        raise OnnxFormatError(f"its number of inputs is {len(inputs)}; expected {expected}")
    for position, value in enumerate(inputs if most is None else inputs[:fewest]):
        if value is None:
            raise OnnxFormatError(f"its input {position + 1} is missing")


def check_size(what: str, shape: tuple[int, ...]) -> None:
    """Raises OnnxFormatError for a value that no device can hold."""
    if len(shape) > MAX_AXES:
        raise OnnxFormatError(f"{what}: a value of {len(shape)} axes; {MAX_AXES} at most")
    elements = size_of(max(dim, 1) for dim in shape)  # NumPy too counts so
    if elements > _LARGEST:
        raise OnnxFormatError(f"{what}: a value of {elements:,} elements, {shape}")
