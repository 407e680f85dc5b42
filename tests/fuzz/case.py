"""One fuzzer case as plain data: a small graph, its inputs, and the tolerance.

A value is a NumPy array (including ml_dtypes' types and strings), a list of values (a sequence), or
None (an empty optional).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, TypeProto, helper, numpy_helper

from ..onnx.conformance.worker import encode

Value = Any
OTHER = {"": 21, "ai.onnx.ml": 5, "ai.onnx.preview.training": 1, "com.microsoft": 1}
"""The default versions of domains, for cases that do not draw one."""

PROGRAM = "tallow"
"""The domain of nodes that are calls of Tallow's functions."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node. attributes: numbers, strings, lists of them, arrays (tensors), Graphs and Kinds."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    domain: str = ""

    @property
    def name(self) -> str:
        """The operator, prefixed by its domain and a dot unless that is the standard one."""
        return f"{self.domain}.{self.op}" if self.domain else self.op


@dataclass(frozen=True)
class Kind:
    """The type of an input. dtype: NumPy's name, or "string". shape: None where it is unknown.
    form: "tensor", "sequence" or "optional"."""

    dtype: str
    shape: tuple[int | str | None, ...] | None
    form: str = "tensor"


@dataclass(frozen=True, eq=False)
class Graph:
    """inputs: each one's kind. known: initializers. outputs: names."""

    nodes: Sequence[Node]
    inputs: Mapping[str, Kind]
    outputs: Sequence[str]
    known: Mapping[str, np.ndarray] = field(default_factory=dict)

    def every_node(self) -> Iterator[Node]:
        """The nodes, and those of the graphs within them."""
        for node in self.nodes:
            yield node
            for value in node.attributes.values():
                if isinstance(value, Graph):
                    yield from value.every_node()


@dataclass(frozen=True, eq=False)
class Case:
    """family: of its strategy. about: the operator that was drawn. opsets: a version of each
    domain. slack: how many times the usual tolerance its arithmetic needs; 0 for exact answers.
    scaled: whether an error may be as large as the largest operand's rounding (sums of products),
    rather than each element's own. steps: how far integers may be apart that are rounded."""

    family: str
    about: str
    graph: Graph
    feeds: Mapping[str, Value]
    opsets: Mapping[str, int]
    slack: float = 1.0
    scaled: bool = False
    steps: int = 0

    @property
    def id(self) -> str:
        return self.about

    @property
    def operators(self) -> list[str]:
        """The sorted names of its operators, without duplicates."""
        return sorted({node.name for node in self.graph.every_node()})

    def model(self) -> bytes:
        """The case as an ONNX file."""
        graph = _graph(self.graph, "case")
        sets = [helper.make_opsetid(domain, version) for domain, version in self.opsets.items()]
        model = helper.make_model(graph, opset_imports=sets, ir_version=10)
        return model.SerializeToString()

    def encoded(self) -> dict[str, Any]:
        """The form for program_worker.py and, if it is a model, for conformance's worker.py."""
        feeds = {name: encode(value) for name, value in self.feeds.items()}
        if self.is_program:
            return {"id": self.id, "program": self._program(), "feeds": [feeds]}
        model = base64.b64encode(self.model()).decode()
        return {"id": self.id, "model": model, "feeds": [feeds]}

    @property
    def is_program(self) -> bool:
        """Whether its nodes are calls of Tallow's functions, not operators of ONNX."""
        return all(node.domain == PROGRAM for node in self.graph.nodes)

    def _program(self) -> dict[str, Any]:
        calls = [[n.op, n.inputs, dict(n.attributes), n.outputs[0]] for n in self.graph.nodes]
        known = {name: encode(value) for name, value in self.graph.known.items()}
        return {"calls": calls, "known": known, "outputs": list(self.graph.outputs)}


def kind_of(value: Value) -> Kind:
    """The kind of an input value; for an empty list or optional, that of float32."""
    if isinstance(value, list):
        first = kind_of(value[0]) if value else Kind("float32", None)
        return Kind(first.dtype, None, "sequence")
    if value is None:
        return Kind("float32", None, "optional")
    name = "string" if value.dtype == object else value.dtype.name
    return Kind(name, value.shape)


def element_type(name: str) -> int:
    """ONNX's number for an element type."""
    return TensorProto.STRING if name == "string" else int(getattr(TensorProto, _ONNX_NAMES[name]))


_ONNX_NAMES = {
    "float32": "FLOAT", "float64": "DOUBLE", "float16": "FLOAT16", "bfloat16": "BFLOAT16",
    "int4": "INT4", "uint4": "UINT4", "float8_e4m3fn": "FLOAT8E4M3FN", "float8_e5m2": "FLOAT8E5M2",
    **{name: name.upper() for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
}  # fmt: skip


def _graph(graph: Graph, name: str) -> onnx.GraphProto:
    inputs = [helper.make_value_info(key, _type(kind)) for key, kind in graph.inputs.items()]
    outputs = [onnx.ValueInfoProto(name=key) for key in graph.outputs]
    known = [_tensor(value, key) for key, value in graph.known.items()]
    return helper.make_graph(list(map(_node, graph.nodes)), name, inputs, outputs, known)


def _type(kind: Kind) -> TypeProto:
    tensor = helper.make_tensor_type_proto(element_type(kind.dtype), kind.shape)
    if kind.form == "sequence":
        return helper.make_sequence_type_proto(tensor)
    return helper.make_optional_type_proto(tensor) if kind.form == "optional" else tensor


def _node(node: Node) -> onnx.NodeProto:
    made = onnx.NodeProto(op_type=node.op, domain=node.domain)
    made.input.extend(node.inputs)
    made.output.extend(node.outputs)
    made.attribute.extend(_attribute(key, value) for key, value in node.attributes.items())
    return made


def _attribute(name: str, value: Any) -> AttributeProto:
    if isinstance(value, Graph):
        value = _graph(value, name)
    elif isinstance(value, Kind):
        value = _type(value)
    elif isinstance(value, np.ndarray):
        value = _tensor(value, name)
    elif isinstance(value, list) and not value:
        return helper.make_attribute(name, value, attr_type=AttributeProto.INTS)
    return helper.make_attribute(name, value)


def _tensor(value: np.ndarray, name: str) -> TensorProto:
    if value.dtype == object:
        texts = [text.encode() for text in value.ravel().tolist()]
        return helper.make_tensor(name, TensorProto.STRING, value.shape, texts)
    return numpy_helper.from_array(value, name)
