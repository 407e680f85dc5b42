"""ModelProto to records: everything the file says, checked for consistency, nothing run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import OnnxFormatError, OnnxUnsupportedError
from . import tensors
from .external import ExternalFiles
from .proto import text
from .records import (
    Dimension,
    GraphRecord,
    Metadata,
    ModelRecord,
    NodeRecord,
    Unreadable,
    Value,
    ValueInfo,
)
from .structure import in_order

_DEFAULT_DOMAIN = ("", "ai.onnx")

# AttributeProto.AttributeType: the field that holds the value, by number.
_FIELDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings"}
_OTHER_ATTRIBUTES = {
    5: "graph", 9: "list of tensors", 10: "list of graphs", 11: "sparse tensor",
    12: "list of sparse tensors", 13: "type", 14: "list of types",
}  # fmt: skip


def read_model(model: Any, external: ExternalFiles) -> ModelRecord:
    """The records of a ModelProto; raises OnnxFormatError for what does not fit together."""
    try:
        opsets = {_domain(text(entry.domain)): entry.version for entry in model.opset_import}
        if not opsets:
            raise OnnxFormatError("not a whole ONNX model: it names no operator set")
        metadata = Metadata(
            text(model.producer_name),
            text(model.producer_version),
            text(model.domain),
            model.model_version,
            model.ir_version,
            text(model.doc_string),
            {text(entry.key): text(entry.value) for entry in model.metadata_props},
        )
        return ModelRecord(_graph(model.graph, external), opsets, metadata)
    except UnicodeDecodeError as error:
        raise OnnxFormatError(f"corrupted: a text in it is not UTF-8 ({error})") from error


def _domain(name: str) -> str:
    return "" if name in _DEFAULT_DOMAIN else name


def _graph(graph: Any, external: ExternalFiles) -> GraphRecord:
    constants: dict[str, Value | Unreadable] = {}
    for tensor in graph.initializer:
        name = text(tensor.name)
        _add_constant(constants, name, _tensor(tensor, f"initializer {name!r}", external))
    for sparse in graph.sparse_initializer:
        name = text(sparse.values.name)
        _add_constant(constants, name, Unreadable(f"initializer {name!r} is a sparse tensor"))
    # Before IR version 4 every initializer is listed among the inputs too.
    inputs = tuple(_value(info) for info in graph.input if info.name not in constants)
    outputs = tuple(_value(info) for info in graph.output)
    if not outputs:
        raise OnnxFormatError("the graph has no outputs")
    _refuse_twins(inputs, "input")
    _refuse_twins(outputs, "output")
    given = {*constants, *(info.name for info in inputs)}
    nodes = [_node(node, external) for node in graph.node]
    order = in_order(nodes, given, [info.name for info in outputs])
    return GraphRecord(text(graph.name), inputs, outputs, order, constants)


def _add_constant(
    constants: dict[str, Value | Unreadable], name: str, value: Value | Unreadable
) -> None:
    if not name:
        raise OnnxFormatError("an initializer has no name")
    if name in constants:
        raise OnnxFormatError(f"two initializers are called {name!r}")
    constants[name] = value


def _refuse_twins(values: Iterable[ValueInfo], what: str) -> None:
    seen = set()
    for value in values:
        if not value.name:
            raise OnnxFormatError(f"an {what} of the graph has no name")
        if value.name in seen:
            raise OnnxFormatError(f"two {what}s of the graph are called {value.name!r}")
        seen.add(value.name)


def _tensor(tensor: Any, what: str, external: ExternalFiles) -> Value | Unreadable:
    try:
        return tensors.read(tensor, what, external)
    except OnnxUnsupportedError as error:
        return Unreadable(str(error))


def _value(info: Any) -> ValueInfo:
    name, kind = text(info.name), info.type.WhichOneof("value")
    if kind != "tensor_type":
        words = (kind or "unknown").removesuffix("_type").replace("_", " ")
        return ValueInfo(name, None, None, words)
    tensor = info.type.tensor_type
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(_dimension(dim, name, axis) for axis, dim in enumerate(tensor.shape.dim))
    number = tensor.elem_type
    return ValueInfo(name, shape, tensors.dtype_of(number), tensors.type_name(number))


def _dimension(dim: Any, name: str, axis: int) -> Dimension:
    """The length, or the name of one that is not fixed: the file's, or else "input_axis"."""
    if dim.HasField("dim_value") and dim.dim_value != -1:  # -1: some exporters mean "any"
        length: int = dim.dim_value
        if length < 0:
            raise OnnxFormatError(f"{name!r} has a negative dimension, {length}, at axis {axis}")
        return length
    return text(dim.dim_param) or f"{name}_{axis}"


def _node(node: Any, external: ExternalFiles) -> NodeRecord:
    name, op_type = text(node.name), text(node.op_type)
    attributes: dict[str, Any] = {}
    for attribute in node.attribute:
        key = text(attribute.name)
        if key in attributes:
            raise OnnxFormatError(f"node {name!r} ({op_type}) has two attributes {key!r}")
        what = f"{key!r} of node {name or op_type!r}"
        attributes[key] = _attribute(attribute, key, what, external)
    return NodeRecord(
        name,
        op_type,
        _domain(text(node.domain)),
        tuple(map(text, node.input)),
        tuple(map(text, node.output)),
        attributes,
    )


def _attribute(attribute: Any, key: str, what: str, external: ExternalFiles) -> Any:
    kind = attribute.type or _guess_kind(attribute)
    field = _FIELDS.get(kind)
    if field in ("f", "i"):
        return getattr(attribute, field)
    if field == "s":
        return text(attribute.s)
    if field == "t":
        return _tensor(attribute.t, f"the tensor {what}", external)
    if field in ("floats", "ints"):
        return tuple(getattr(attribute, field))
    if field == "strings":
        return tuple(map(text, attribute.strings))
    words = _OTHER_ATTRIBUTES.get(kind, f"kind number {kind}")
    return Unreadable(f"its attribute {key!r} is a {words}")


def _guess_kind(attribute: Any) -> int:
    """Files before IR version 2 leave the kind out."""
    for kind, field in _FIELDS.items():
        repeated = field.endswith("s") and len(field) > 1
        if len(getattr(attribute, field)) if repeated else attribute.HasField(field):
            return kind
    return 0
