"""Writes a graph of forms as an ONNX file, with weights inside or in a second file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....core.dtype import DType
from ....core.hostarray import HostArray
from ....errors import OnnxFormatError
from ....graph import Graph, Node
from ..read import proto
from ..read.tensors import STORED
from ..records import Dimension, Metadata
from .forms import Form, attributes_of, is_form

if TYPE_CHECKING:
    from ..read.proto import onnx_ml_pb2 as onnx

OPSET, IR_VERSION = 21, 10
"""The oldest operator set with all forms (dilated AveragePool and blocked quantisation came last),
and its IR version: runtimes from 2024 read both."""

_LATER = {"BitCast": 26}
"""Operators that need a newer set, by the set that introduced them."""

MAX_BYTES = (1 << 31) - (1 << 24)
"""Bytes of weights that fit into one protobuf message, with room for the nodes."""

_SMALL = 1024  # bytes; such tensors stay in the file
_ALIGNED = 64

Shapes = Mapping[str, tuple[Dimension, ...]]

_NUMBERS = {stored.dtype: number for number, stored in STORED.items()}


class Writer:
    """Turns a graph into a ModelProto. outside: the name of a second file for large weights; see
    `write`."""

    def __init__(
        self,
        graph: Graph,
        metadata: Metadata,
        outside: str | None,
        shapes: Shapes,
        state: Mapping[str, HostArray],
    ) -> None:
        self._schema = proto.schema()
        self._outside = outside
        self._shapes = shapes
        self._weights: list[HostArray] = []
        self._end = 0
        self._names: dict[Node, str] = {}
        self._constants: dict[tuple[Any, ...], str] = {}
        self._taken = {node.attrs["name"] for node in graph.inputs} | set(graph.outputs)
        self._given = {id(x): name for name, x in state.items() if name not in self._taken}
        self._taken |= {*self._given.values()}
        self._counts: Counter[str] = Counter()
        self._model = self._schema.ModelProto()
        self._fill(graph, metadata)

    def write(self, path: Path) -> None:
        """Writes the file, and the second file with the weights."""
        if self._outside and self._weights:
            with (path.parent / self._outside).open("wb") as file:
                for data in self._weights:
                    file.write(bytes(-file.tell() % _ALIGNED))
                    file.write(data.data)
        path.write_bytes(self._model.SerializeToString(deterministic=True))

    def _fill(self, graph: Graph, metadata: Metadata) -> None:
        model = self._model
        model.ir_version = IR_VERSION
        used = {node.op.onnx for node in graph.nodes()}
        opset = max([OPSET, *(since for name, since in _LATER.items() if name in used)])
        model.opset_import.add(domain="", version=opset)
        model.producer_name, model.producer_version = metadata.producer, metadata.producer_version
        model.domain, model.model_version = metadata.domain, metadata.version
        model.doc_string = metadata.doc
        for key, value in metadata.properties.items():
            model.metadata_props.add(key=key, value=value)
        model.graph.name = graph.name
        outputs: dict[Node, str] = {}
        for name, node in graph.outputs.items():
            if not node.is_input and not node.is_constant:
                outputs.setdefault(node, name)
        for node in graph.inputs:
            self._names[node] = node.attrs["name"]
            self._info(model.graph.input.add(), self._names[node], node)
        siblings = _siblings(graph)
        for node in graph.nodes():
            if node.is_constant:
                self._names[node] = self._constant(node.attrs["data"])
            elif is_form(node, ""):
                self._names[node] = ""
            elif node not in self._names:
                found = {other.attrs["before"]: other for other in siblings[node]}
                names = []
                for index in range(max(found) + 1):
                    other = found.get(index)
                    names.append((other and outputs.get(other)) or self._fresh(node.op.onnx))
                    if other:
                        self._names[other] = names[-1]
                self._node(node.op.onnx, node.inputs, names, attributes_of(node))
        for name, node in graph.outputs.items():
            if self._names[node] != name:
                self._node("Identity", (node,), [name], {})
            self._info(model.graph.output.add(), name, node)

    def _fresh(self, word: str) -> str:
        while True:
            name = f"{word}_{self._counts[word]}"
            self._counts[word] += 1
            if name not in self._taken:
                return name

    def _info(self, info: onnx.ValueInfoProto, name: str, node: Node) -> None:
        info.name = name
        tensor = info.type.tensor_type
        tensor.elem_type = _NUMBERS[node.dtype]
        tensor.shape.SetInParent()
        for length in self._shapes.get(name, node.shape):
            if isinstance(length, str):
                tensor.shape.dim.add(dim_param=length)
            else:
                tensor.shape.dim.add(dim_value=length)

    def _node(
        self,
        op_type: str,
        inputs: Iterable[Node],
        outputs: Sequence[str],
        attributes: Mapping[str, Any],
    ) -> None:
        node = self._model.graph.node.add(
            op_type=op_type,
            name=outputs[-1],
            input=[self._names[x] for x in inputs],
            output=outputs,
        )
        kinds = self._schema.AttributeProto
        for key, value in sorted(attributes.items()):
            if isinstance(value, DType):
                value = _NUMBERS[value]
            if isinstance(value, tuple) and any(isinstance(item, str) for item in value):
                texts = [item.encode() for item in value]
                node.attribute.add(name=key, type=kinds.STRINGS, strings=texts)
            elif isinstance(value, tuple) and any(isinstance(item, float) for item in value):
                node.attribute.add(name=key, type=kinds.FLOATS, floats=value)
            elif isinstance(value, tuple):
                node.attribute.add(name=key, type=kinds.INTS, ints=value)
            elif isinstance(value, float):
                node.attribute.add(name=key, type=kinds.FLOAT, f=value)
            elif isinstance(value, str):
                node.attribute.add(name=key, type=kinds.STRING, s=value.encode())
            else:
                node.attribute.add(name=key, type=kinds.INT, i=value)

    def _constant(self, data: HostArray) -> str:
        """The initializer for the data; equal small constants share one."""
        small = data.data.nbytes < _SMALL
        given = self._given.get(id(data), "")
        key = (given, data.shape, data.dtype, bytes(data.data) if small else id(data.data))
        if key in self._constants:
            return self._constants[key]
        name = self._constants[key] = given or self._fresh("constant" if small else "weight")
        tensor = self._model.graph.initializer.add(
            name=name, data_type=_NUMBERS[data.dtype], dims=data.shape
        )
        if self._outside is None or small:
            tensor.raw_data = bytes(data.data)
            return name
        start = self._end + -self._end % _ALIGNED
        tensor.data_location = self._schema.TensorProto.EXTERNAL
        entries = {"location": self._outside, "offset": start, "length": data.data.nbytes}
        for entry, value in entries.items():
            tensor.external_data.add(key=entry, value=str(value))
        self._end = start + data.data.nbytes
        self._weights.append(data)
        return name


def _siblings(graph: Graph) -> dict[Node, list[Node]]:
    """For each form, all forms that are outputs of the same operator; each form is one output."""
    found: dict[tuple[Any, ...], dict[int, Node]] = {}
    forms = [node for node in graph.nodes() if isinstance(node.op, Form)]
    keys = {node: (node.op, node.inputs, node.attrs["attributes"]) for node in forms}
    for node in forms:
        found.setdefault(keys[node], {}).setdefault(node.attrs["before"], node)
    made = {}
    for node in forms:
        others = found[keys[node]]
        made[node] = list(others.values()) if others[node.attrs["before"]] is node else [node]
    return made


def weight_bytes(graph: Graph) -> int:
    """The total size of the graph's constants."""
    found = {id(n.attrs["data"].data): n.attrs["data"].data.nbytes for n in graph.nodes()
             if n.is_constant}  # fmt: skip
    return sum(found.values())


def write(
    graph: Graph,
    path: str | os.PathLike[str],
    metadata: Metadata,
    external: bool | None,
    shapes: Shapes,
    state: Mapping[str, HostArray] | None = None,
) -> None:
    """Writes a graph of forms; see `tallow.onnx.save`. shapes: the shapes of inputs and outputs
    with symbolic dimensions. state: constants that have a name."""
    target = Path(path)
    size = weight_bytes(graph)
    if external is False and size > MAX_BYTES:
        raise OnnxFormatError(
            f"{target.name}: {size:,} bytes of weights do not fit into one ONNX file, which can "
            f"hold {MAX_BYTES:,}: omit `external`, or set it to True"
        )
    outside = f"{target.name}.data" if external or size > MAX_BYTES else None
    Writer(graph, metadata, outside, shapes, state or {}).write(target)
