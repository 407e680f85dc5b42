"""The contents of an ONNX file as plain frozen data, on which everything after read/ works.

A model's own functions are already expanded. Nothing from here on depends on protobuf, so the
parsed file can be freed once it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.dtype import DType
from ...core.hostarray import HostArray, StringArray

Dimension = int | str


def shown(name: str) -> str:
    """A name from the file, for a message that stays on one line."""
    return name if name.isprintable() else repr(name)


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """An input or output of a model.

    shape: a length per axis, or the name of a symbolic length; None if the file gives no shape.
    dtype: None if Tallow lacks the type. type: the type's name in ONNX. kind: "tensor",
    "sequence", "optional" or another kind of value in ONNX. element: the type of a sequence's
    members or of an optional's value.
    """

    name: str
    shape: tuple[Dimension, ...] | None
    dtype: DType | None
    type: str
    kind: str = "tensor"
    element: ValueInfo | None = None

    @property
    def on_host(self) -> bool:
        """Whether only the host can hold it: strings, a sequence, an optional."""
        return self.kind in ("sequence", "optional") or self.type == "string"

    def __str__(self) -> str:
        dims = None if self.shape is None else ", ".join(shown(str(dim)) for dim in self.shape)
        return f"{shown(self.name)}: {self.type} " + (
            "of unknown shape" if dims is None else f"({dims})"
        )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a value that Tallow cannot represent; an error only if a node reads it."""

    reason: str


Constant = HostArray | StringArray | Unreadable


@dataclass(frozen=True, slots=True, eq=False)
class NodeRecord:
    """One node. Absent inputs and outputs have the name "".

    opset: the version of its domain, None if the file does not import the domain. Attributes that
    are graphs are GraphRecords; captures: the outer values that those graphs read.
    """

    name: str
    op_type: str
    domain: str
    opset: int | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    captures: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Every value that it reads."""
        return (*filter(None, self.inputs), *self.captures)

    @property
    def label(self) -> str:
        """Its name in messages: the node's name, or else its first output."""
        return self.name or next(filter(None, self.outputs), self.op_type)

    @property
    def title(self) -> str:
        """Its label and its operator, for a message."""
        return f"{self.label!r} ({shown(self.op_type)})"


@dataclass(frozen=True, slots=True)
class GraphRecord:
    """Nodes in an order in which they can run, without dead ones.

    captures: the values of outer graphs that it reads; empty for a model's main graph. is_part:
    whether it is cut out of the graph around it, so that its names are names there.
    """

    name: str
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    nodes: tuple[NodeRecord, ...]
    constants: Mapping[str, Constant]
    captures: tuple[str, ...] = ()
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Metadata:
    """Who made a model, and their notes about it."""

    producer: str = ""
    producer_version: str = ""
    domain: str = ""
    version: int = 0
    ir_version: int = 0
    doc: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A whole file. opsets: domain -> version; the standard operators' domain is ""."""

    graph: GraphRecord
    opsets: Mapping[str, int]
    metadata: Metadata
