"""Turns a ModelProto into records, checked for consistency; runs nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ....core.hostarray import HostArray, StringArray
from ....errors import OnnxAmbiguousDataError, OnnxFormatError, OnnxUnsupportedError
from ..records import (
    Dimension,
    GraphRecord,
    Metadata,
    ModelRecord,
    NodeRecord,
    Unreadable,
    ValueInfo,
    shown,
)
from . import tensors
from .expand import Expander, FunctionRecord, Reference
from .external import ExternalFiles, MissingFileError
from .gradients import with_graphs
from .proto import text
from .structure import in_order
from .wire import NOTHING

if TYPE_CHECKING:
    from .proto import onnx_ml_pb2 as onnx

_DEFAULT_DOMAIN = ("", "ai.onnx")

# AttributeProto.AttributeType: the field that holds the value, by number.
_FIELDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings"}
_LISTS = {"floats": 7, "ints": 8, "strings": 9}  # the numbers of these fields
_OTHER_ATTRIBUTES = {
    9: "list of tensors", 10: "list of graphs", 11: "sparse tensor",
    12: "list of sparse tensors", 13: "type", 14: "list of types",
}  # fmt: skip


_MAX_GRAPH_DEPTH = 24
"""Nested graphs; protobuf itself stops at about 30."""

_MAX_CALL_DEPTH = 48
"""Nested function calls, with graphs in them: more would not fit on a browser's stack."""


class _InGraphError(OnnxFormatError):
    """An error whose message already names the graph."""


Taken = Mapping[Any, Any]
"""What a message lacks (wire.py)."""


def read_model(
    model: onnx.ModelProto, external: ExternalFiles, taken: Taken = NOTHING
) -> ModelRecord:
    """The records of a ModelProto; raises OnnxFormatError if it is inconsistent.

    taken: what it lacks (proto.py).
    """
    try:
        opsets = _opsets(model)
        if not opsets:
            raise OnnxFormatError("not a whole ONNX model: it imports no operator set")
        metadata = Metadata(
            text(model.producer_name),
            text(model.producer_version),
            text(model.domain),
            model.model_version,
            model.ir_version,
            text(model.doc_string),
            {text(entry.key): text(entry.value) for entry in model.metadata_props},
        )
        functions = Functions(model.functions, external, taken)
        graph = Reader(external, opsets, functions).graph(
            model.graph, taken=taken.get((7, 0), NOTHING)
        )
        external.refuse()
        return ModelRecord(graph, opsets, metadata)
    except UnicodeDecodeError as error:
        raise OnnxFormatError(f"corrupted: a string in it is not UTF-8 ({error})") from error


def _opsets(owner: onnx.ModelProto | onnx.FunctionProto) -> dict[str, int]:
    return {_domain(text(entry.domain)): entry.version for entry in owner.opset_import}


def _domain(name: str) -> str:
    return "" if name in _DEFAULT_DOMAIN else name


class Functions:
    """A model's own functions, read when first called; calls are replaced by their nodes."""

    def __init__(
        self,
        functions: Iterable[onnx.FunctionProto],
        external: ExternalFiles,
        taken: Taken = NOTHING,
    ) -> None:
        self._external = external
        self._protos: dict[tuple[str, str], onnx.FunctionProto] = {}
        self._taken: dict[tuple[str, str], Taken] = {}
        for number, function in enumerate(functions):
            key = _domain(text(function.domain)), text(function.name)
            if key in self._protos:
                raise OnnxFormatError(f"two functions are named {key[1]!r} ({key[0]})")
            self._protos[key] = function
            self._taken[key] = taken.get((25, number), NOTHING)
        self._read: dict[tuple[str, str], FunctionRecord | None] = {}
        self._expander = Expander()
        self.depth = 0

    def expand(self, node: NodeRecord) -> Iterable[NodeRecord]:
        """The node itself, or the nodes of the function that it calls."""
        key = node.domain, node.op_type
        if key not in self._protos:
            return (node,)
        return self._expander.inline(node, self._function(key))

    def _function(self, key: tuple[str, str]) -> FunctionRecord:
        if key not in self._read:
            self._read[key] = None  # being read
            proto, taken = self._protos[key], self._taken[key]
            reader = Reader(self._external, _opsets(proto), self)
            inputs, outputs = (tuple(map(text, names)) for names in (proto.input, proto.output))
            with self.inside(f"the function {key[1]!r}"):
                nodes = with_graphs(reader.nodes(proto.node, taken=taken, field=7))
                defaults = reader.attributes(proto.attribute_proto, taken=taken, field=11)
            self._read[key] = FunctionRecord(inputs, outputs, nodes, defaults)
        found = self._read[key]
        if found is None:
            raise OnnxFormatError(f"the function {key[1]!r} ({key[0]}) calls itself")
        return found

    @contextmanager
    def inside(self, what: str) -> Iterator[None]:
        """Entered while a function or graph is read; OnnxFormatError if they nest too deeply."""
        if self.depth == _MAX_CALL_DEPTH:
            raise OnnxFormatError(
                f"{what} is nested in {_MAX_CALL_DEPTH} other functions and graphs"
            )
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


class Reader:
    """Reads graphs and nodes that use certain operator sets."""

    def __init__(
        self, external: ExternalFiles, opsets: Mapping[str, int], functions: Functions
    ) -> None:
        self._external = external
        self._opsets = opsets
        self._functions = functions
        self._depth = 0

    def graph(
        self, graph: onnx.GraphProto, outer: Collection[str] = (), taken: Taken = NOTHING
    ) -> GraphRecord:
        """A graph; outer: the names of the values around it."""
        constants: dict[str, HostArray | StringArray | Unreadable] = {}
        for number, tensor in enumerate(graph.initializer):
            name, lacks = text(tensor.name), taken.get((5, number), NOTHING)
            _add_constant(constants, name, self._tensor(tensor, f"initializer {name!r}", lacks))
        for sparse in graph.sparse_initializer:
            name = text(sparse.values.name)
            _add_constant(constants, name, Unreadable(f"initializer {name!r} is a sparse tensor"))
        # Before IR version 4 every initializer is also listed as an input.
        inputs = tuple(_value(info) for info in graph.input if info.name not in constants)
        outputs = tuple(_value(info) for info in graph.output)
        if not outputs:
            raise OnnxFormatError("the graph has no outputs")
        _check_names(inputs, "input")
        _check_names(outputs, "output")
        own = {*constants, *(info.name for info in inputs)}
        made = {text(name) for node in graph.node for name in node.output}
        nodes = with_graphs(self.nodes(graph.node, {*outer, *own, *made}, taken))
        wanted = [info.name for info in outputs]
        order = in_order(nodes, own, outer, wanted)
        read = {name for node in order for name in node.reads} | set(wanted)
        captures = tuple(sorted(read - own - {name for node in order for name in node.outputs}))
        return GraphRecord(text(graph.name), inputs, outputs, order, constants, captures)

    def nodes(
        self,
        nodes: Iterable[onnx.NodeProto],
        scope: Collection[str] = (),
        taken: Taken = NOTHING,
        field: int = 1,
    ) -> tuple[NodeRecord, ...]:
        """Nodes, with calls of the model's functions expanded; scope: the names they may read;
        taken: what the message lacks that has the nodes in a field."""
        return tuple(
            record
            for number, node in enumerate(nodes)
            for record in self._functions.expand(
                self._node(node, scope, taken.get((field, number), NOTHING))
            )
        )

    def attributes(
        self,
        attributes: Iterable[onnx.AttributeProto],
        what: str = "a function",
        scope: Collection[str] = (),
        taken: Taken = NOTHING,
        field: int = 5,
    ) -> dict[str, Any]:
        """Attributes by name; see `nodes`."""
        found: dict[str, Any] = {}
        for number, attribute in enumerate(attributes):
            key = text(attribute.name)
            if key in found:
                raise OnnxFormatError(f"{what} has two attributes {key!r}")
            lacks = taken.get((field, number), NOTHING)
            found[key] = self._attribute(attribute, key, f"{key!r} of {what}", scope, lacks)
        return found

    def _node(self, node: onnx.NodeProto, scope: Collection[str], taken: Taken) -> NodeRecord:
        name, op_type, domain = text(node.name), text(node.op_type), _domain(text(node.domain))
        what = f"node {name!r} ({shown(op_type)})"
        attributes = self.attributes(node.attribute, what, scope, taken)
        inside = [x for value in attributes.values() for x in _graphs(value)]
        captures = {name for graph in inside for name in graph.captures}
        return NodeRecord(
            name,
            op_type,
            domain,
            self._opsets.get(domain),
            tuple(map(text, node.input)),
            tuple(map(text, node.output)),
            attributes,
            tuple(sorted(captures)),
        )

    def _attribute(
        self,
        attribute: onnx.AttributeProto,
        key: str,
        what: str,
        scope: Collection[str],
        taken: Taken,
    ) -> Any:
        if attribute.ref_attr_name:
            return Reference(text(attribute.ref_attr_name))
        kind = attribute.type or _guess_kind(attribute, taken)
        field = _FIELDS.get(kind)
        if field in ("f", "i"):
            return getattr(attribute, field)
        if field == "s":
            return text(attribute.s)
        if field == "t":
            return self._tensor(attribute.t, f"the tensor {what}", taken.get((5, 0), NOTHING))
        if field == "g":
            return self._inner(attribute.g, what, scope, taken.get((6, 0), NOTHING))
        if field in ("floats", "ints"):
            numbers = taken.get(_LISTS[field])
            return tuple(getattr(attribute, field) if numbers is None else numbers.tolist())
        if field == "strings":
            return tuple(map(text, taken.get(_LISTS[field], attribute.strings)))
        words = _OTHER_ATTRIBUTES.get(kind, f"kind number {kind}")
        return Unreadable(f"its attribute {key!r} is a {words}")

    def _inner(
        self, graph: onnx.GraphProto, what: str, scope: Collection[str], taken: Taken
    ) -> GraphRecord:
        if self._depth == _MAX_GRAPH_DEPTH:
            raise OnnxFormatError(f"the graph {what} is nested in {_MAX_GRAPH_DEPTH} others")
        self._depth += 1
        try:
            with self._functions.inside(f"the graph {what}"):
                return self.graph(graph, scope, taken)
        except (_InGraphError, OnnxAmbiguousDataError):
            raise
        except OnnxFormatError as error:
            raise _InGraphError(f"the graph {what}: {error}") from error
        finally:
            self._depth -= 1

    def _tensor(
        self, tensor: onnx.TensorProto, what: str, taken: Taken
    ) -> HostArray | StringArray | Unreadable:
        try:
            return tensors.read(tensor, what, self._external, taken)
        except (OnnxUnsupportedError, MissingFileError) as error:
            return Unreadable(str(error))


def _graphs(value: object) -> Iterable[GraphRecord]:
    return (value,) if isinstance(value, GraphRecord) else ()


def _add_constant(
    constants: dict[str, HostArray | StringArray | Unreadable],
    name: str,
    value: HostArray | StringArray | Unreadable,
) -> None:
    if not name:
        raise OnnxFormatError("an initializer has no name")
    if name in constants:
        raise OnnxFormatError(f"two initializers are named {name!r}")
    constants[name] = value


def _check_names(values: Iterable[ValueInfo], what: str) -> None:
    seen = set()
    for value in values:
        if not value.name:
            raise OnnxFormatError(f"an {what} of the graph has no name")
        if value.name in seen:
            raise OnnxFormatError(f"two {what}s of the graph are named {value.name!r}")
        seen.add(value.name)


def _value(info: onnx.ValueInfoProto) -> ValueInfo:
    return _typed(text(info.name), info.type)


def _typed(name: str, type_: onnx.TypeProto) -> ValueInfo:
    kind = type_.WhichOneof("value")
    if kind != "tensor_type":
        words = (kind or "unknown").removesuffix("_type").replace("_", " ")
        if kind not in ("sequence_type", "optional_type"):
            return ValueInfo(name, None, None, words, words)
        element = _typed(name, getattr(type_, kind).elem_type)
        of = " of" if kind == "sequence_type" else ""
        return ValueInfo(name, None, None, f"{words}{of} {element.type}", words, element)
    tensor = type_.tensor_type
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(_dimension(dim, name, axis) for axis, dim in enumerate(tensor.shape.dim))
    number = tensor.elem_type
    return ValueInfo(name, shape, tensors.dtype_of(number), tensors.type_name(number))


def _dimension(dim: onnx.TensorShapeProto.Dimension, name: str, axis: int) -> Dimension:
    """The length, or the name of a symbolic one: from the file, or else "input_axis"."""
    if dim.HasField("dim_value") and dim.dim_value != -1:  # -1: some exporters mean "any"
        length: int = dim.dim_value
        if length < 0:
            raise OnnxFormatError(f"{name!r} has a negative dimension, {length}, at axis {axis}")
        return length
    return text(dim.dim_param) or f"{name}_{axis}"


def _guess_kind(attribute: onnx.AttributeProto, taken: Taken) -> int:
    """The kind of an attribute in files before IR version 2, which omit it."""
    for kind, field in _FIELDS.items():
        if _LISTS.get(field) in taken:
            return kind
        repeated = field.endswith("s") and len(field) > 1
        if len(getattr(attribute, field)) if repeated else attribute.HasField(field):
            return kind
    return 0
