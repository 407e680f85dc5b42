"""The view of its node that an operator's function gets: opset, attributes, and known values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, TypeVar, overload

from ...compile.passes.fold import host_value
from ...core.hostarray import HostArray, StringArray
from ...errors import OnnxFormatError, OnnxUnsupportedError
from ...tensor import Tensor
from .reasons import Reason
from .records import GraphRecord, NodeRecord, Unreadable

K = TypeVar("K")
D = TypeVar("D")

_KIND_NAMES = {
    int: "an integer",
    float: "a number",
    str: "a string",
    tuple: "a list",
    HostArray: "a tensor",
    GraphRecord: "a graph",
    StringArray: "a tensor of strings",
}
_REQUIRED = object()

_MAX_ELEMENTS = 1 << 20
"""The largest constant whose elements a function may inspect."""


class NotKnownError(OnnxUnsupportedError):
    """The value of `tensor` must be known before the model runs; what: its name."""

    def __init__(self, what: str, tensor: Tensor) -> None:
        super().__init__(Reason("KNOWN_FIRST", (what,)))
        self.tensor = tensor


class Around(Protocol):
    """The graph in which a node is being built (run/builder.py)."""

    def built(self, graph: GraphRecord, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The outputs of a node's graph on these inputs."""

    def seed(self, node: NodeRecord) -> bytes:
        """Eight random bytes, always the same for a node."""


class Call:
    """One node being built. It records which attributes are read, so that attributes unknown to the
    function raise an error instead of being ignored.

    around: the graph that the node is built in; None for what the host computes.
    """

    __slots__ = ("_around", "_read", "node", "opset")

    def __init__(self, node: NodeRecord, opset: int, around: Around | None = None) -> None:
        self.node = node
        self.opset = opset
        self._around = around
        self._read: set[str] = set()

    @overload
    def get(self, name: str, kind: type[K]) -> K: ...
    @overload
    def get(self, name: str, kind: type[K], default: D) -> K | D: ...
    def get(self, name: str, kind: type[K], default: object = _REQUIRED) -> object:
        """The attribute, whose kind is int, float, str, HostArray or tuple (of numbers).

        Raises OnnxFormatError if it has another kind, or is missing without a default.
        """
        self._read.add(name)
        if name not in self.node.attributes:
            if default is _REQUIRED:
                raise OnnxFormatError(f"the attribute {name!r} is missing")
            return default
        value = self.node.attributes[name]
        if isinstance(value, Unreadable):
            raise OnnxUnsupportedError(value.reason)
        if kind is HostArray and isinstance(value, StringArray):
            raise OnnxUnsupportedError(f"its attribute {name!r} is of type string")
        if not isinstance(value, kind):
            given = value if isinstance(value, (str, int, float, tuple)) else None
            what = _KIND_NAMES[type(value)] if given is None else f"{given!r:.200}"
            raise OnnxFormatError(f"the attribute {name!r} is not {_KIND_NAMES[kind]}: {what}")
        return value

    @overload
    def ints(self, name: str) -> tuple[int, ...]: ...
    @overload
    def ints(self, name: str, default: D) -> tuple[int, ...] | D: ...
    def ints(self, name: str, default: object = _REQUIRED) -> object:
        """An attribute that is a list of integers."""
        value = self.get(name, tuple, default)
        if isinstance(value, tuple) and not set(map(type, value)) <= {int}:
            raise OnnxFormatError(f"the attribute {name!r} is not a list of integers: {value}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """An attribute that is 0 or 1."""
        return bool(self.get(name, int, int(default)))

    def choice(self, name: str, *choices: str) -> str:
        """A string attribute that is one of `choices`; the first is the default."""
        value = self.get(name, str, choices[0])
        if value not in choices:
            raise OnnxUnsupportedError(f"{name} {value!r} is not one of {', '.join(choices)}")
        return value

    def ignore(self, *names: str) -> None:
        """Marks attributes as read that do not affect the result."""
        self._read.update(names)

    def unknown_attributes(self) -> list[str]:
        """Attributes of the node that have not been read."""
        return [name for name in self.node.attributes if name not in self._read]

    def wants(self, position: int) -> bool:
        """Whether the output at `position` is used."""
        outputs = self.node.outputs
        return position < len(outputs) and bool(outputs[position])

    def built(self, graph: GraphRecord, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The outputs of a graph that is an attribute, on these inputs.

        Raises OnnxUnsupportedError for nodes in it that only the host can compute.
        """
        assert self._around is not None
        return self._around.built(graph, inputs)

    def seed(self) -> bytes:
        """Eight random bytes for a node that has no seed of its own; the same whenever a session
        builds the node again."""
        assert self._around is not None
        return self._around.seed(self.node)

    def known(self, tensor: Tensor, what: str) -> HostArray:
        """The elements of a tensor that must be known before the model runs.

        Raises NotKnownError if they depend on the model's inputs.
        """
        given = tensor.node.attrs["data"] if tensor.node.is_constant else None
        value = given if given and given.size <= _MAX_ELEMENTS else host_value(tensor.node)
        if value is None:
            raise NotKnownError(what, tensor)
        return value

    def known_integers(self, tensor: Tensor, what: str) -> tuple[int, ...]:
        """The integers of a tensor with at most one axis, known before the model runs."""
        if not tensor.dtype.is_integer or tensor.ndim > 1:
            raise OnnxFormatError(
                f"{what} must be a list of integers, not {tensor.dtype.name} {tensor.shape}"
            )
        return tuple(self.known(tensor, what).flat())

    def known_integer(self, tensor: Tensor, what: str) -> int:
        """The single integer in a tensor that must be known before the model runs."""
        if tensor.size != 1:
            raise OnnxFormatError(f"{what} must be one number, but its shape is {tensor.shape}")
        value = self.known(tensor, what).item()
        if not math.isfinite(value) or value != int(value):
            raise OnnxFormatError(f"{what} must be a whole number, not {value}")
        return int(value)

    def integers(self, name: str, tensor: Tensor | None) -> tuple[int, ...] | None:
        """Integers that are an attribute in older operator sets and an input in newer ones."""
        attribute = self.ints(name, None)
        return self.known_integers(tensor, name) if tensor is not None else attribute
