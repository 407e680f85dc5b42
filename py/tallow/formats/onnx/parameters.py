"""The parameters of the module from which an exporter made a file, under the module's names.

PyTorch's exporter keeps a parameter's name where a node reads the parameter itself. A weight that
it transposed it calls "onnx::MatMul_603", or "val_7"; then the name of the node that reads it has
the module's path: "/layers.0/fc1/MatMul". onnxruntime's quantiser makes three of a weight:
"..._quantized", "..._scale", "..._zero_point"; Optimum, which merges two graphs of a decoder, adds
"_merged_0".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.hostarray import HostArray
from ...errors import OnnxFormatError
from ...graph import constant
from ...tensor import Tensor
from .records import Constant, GraphRecord, NodeRecord

_MERGED = re.compile(r"_merged_\d+$")
_ANONYMOUS = re.compile(r"onnx::|val_\d+$|\d+$")
_PRODUCTS = ("MatMul", "MatMulInteger")
_BIASED = ("Gemm", "Conv", "ConvTranspose")


def parameters(graph: GraphRecord) -> dict[str, Tensor]:
    """The tensors by name; those of 8 bits as they are computed from their steps.

    Raises OnnxFormatError where two would have one name.
    """
    constants: dict[str, Constant] = {}
    readers: dict[str, tuple[NodeRecord, int]] = {}
    for part in _graphs(graph):
        constants |= part.constants
        for node in part.nodes:
            for place, name in enumerate(node.inputs):
                readers.setdefault(name, (node, place))
    found: dict[str, Tensor] = {}
    for name, value in constants.items():
        if name.startswith("/") or not isinstance(value, HostArray):  # a number of the graph's own
            continue
        known = _value(name, value, constants)
        if known is None:
            continue
        called, tensor = known
        if _ANONYMOUS.match(called):
            if name not in readers:
                continue
            called, tensor = _of_module(called, tensor, *readers[name])
        if called in found:
            raise OnnxFormatError(f"two parameters would be called {called!r}")
        found[called] = tensor
    return found


def _graphs(graph: GraphRecord) -> Iterator[GraphRecord]:
    yield graph
    for node in graph.nodes:
        for value in node.attributes.values():
            if isinstance(value, GraphRecord):
                yield from _graphs(value)


def _value(
    name: str, value: HostArray, constants: Mapping[str, Constant]
) -> tuple[str, Tensor] | None:
    """A constant's own name and value; None for what belongs to another."""
    base, _, part = name.rpartition("_")
    quantized = f"{base}_quantized" in constants
    if quantized and part in ("scale", "zero"):
        return None
    if name.endswith("_zero_point") and f"{name[:-11]}_quantized" in constants:
        return None
    tensor = Tensor(constant(value))
    if part != "quantized":
        return _MERGED.sub("", name), tensor
    scale, zero = constants.get(f"{base}_scale"), constants.get(f"{base}_zero_point")
    if not isinstance(scale, HostArray) or scale.size != 1:
        return _MERGED.sub("", name), tensor
    factor = Tensor(constant(scale))
    tensor = tensor.astype(scale.dtype)
    if isinstance(zero, HostArray) and any(zero.flat()):
        tensor = tensor - Tensor(constant(zero)).astype(scale.dtype)
    return _MERGED.sub("", base), tensor * factor


def _of_module(name: str, tensor: Tensor, node: NodeRecord, place: int) -> tuple[str, Tensor]:
    """What a constant without a name is to the module in whose path its reader stands."""
    path = ".".join(node.name.strip("/").split("/")[:-1])
    attributes: Mapping[str, Any] = node.attributes
    is_product = node.op_type in _PRODUCTS
    is_product |= node.op_type == "Gemm" and not attributes.get("transB")
    if path and place == 1 and tensor.ndim == 2 and is_product:
        return f"{path}.weight", tensor.mT
    if path and node.op_type in _BIASED and place in (1, 2):
        return f"{path}.{'weight' if place == 1 else 'bias'}", tensor
    return name, tensor
