"""What an ONNX file says, as plain frozen data: everything after read/ works on these.

A model's own functions are expanded by then. Nothing here or after knows protobuf, so that the
parsed file can be let go once it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...dtype import DType
from ...hostarray import HostArray, StringArray

Dimension = int | str


def shown(name: str) -> str:
    """A name of the file within a message, which stays one line."""
    return name if name.isprintable() else repr(name)


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """An input or output of a model.

    shape: a length per axis, or the name of a length that is not fixed; None if the file gives no
    shape. dtype: None where Tallow has no such type. type: ONNX's words for it. kind: "tensor",
    "sequence", "optional" or another of ONNX's kinds of values. element: what the members of a
    sequence are, or what an optional holds.
    """

    name: str
    shape: tuple[Dimension, ...] | None
    dtype: DType | None
    type: str
    kind: str = "tensor"
    element: ValueInfo | None = None

    @property
    def on_host(self) -> bool:
        """Whether it is a value for the host alone: texts, a sequence, an optional."""
        return self.kind in ("sequence", "optional") or self.type == "string"

    def __str__(self) -> str:
        dims = None if self.shape is None else ", ".join(shown(str(dim)) for dim in self.shape)
        return f"{shown(self.name)}: {self.type} " + (
            "of unknown shape" if dims is None else f"({dims})"
        )


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a value of the file that Tallow cannot hold; counts only if a node reads it."""

    reason: str


Constant = HostArray | StringArray | Unreadable


@dataclass(frozen=True, slots=True, eq=False)
class NodeRecord:
    """One node. Absent inputs and outputs have the name "".

    opset: the version of its domain, None where the file does not import that. An attribute that is
    a graph is a GraphRecord; captures: the outer values that such graphs read.
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
        """Every value that it needs."""
        return (*filter(None, self.inputs), *self.captures)

    @property
    def label(self) -> str:
        """What messages call it: its name, or else its first output."""
        return self.name or next(filter(None, self.outputs), self.op_type)

    @property
    def title(self) -> str:
        """Its label and its operator, for a message."""
        return f"{self.label!r} ({shown(self.op_type)})"


@dataclass(frozen=True, slots=True)
class GraphRecord:
    """Nodes in the order in which they can run, the dead ones left out.

    captures: values of the graphs around it that it reads; those of a model's own graph are none.
    """

    name: str
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    nodes: tuple[NodeRecord, ...]
    constants: Mapping[str, Constant]
    captures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metadata:
    """Who made a model and what they say of it."""

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
