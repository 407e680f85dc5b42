"""The official cases of the pinned onnx package, as plain data.

Node cases: a model of one operator each, or of the operators that it is a function of. Of the sets
of whole models: light, whose weights are constant, simple, pytorch-converted, pytorch-operator.
"""

from __future__ import annotations

import base64
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import DATA_DIR, load_model_tests
from onnx.backend.test.runner import Runner

from .worker import encode

_FOLDERS = ("simple", "pytorch-converted", "pytorch-operator")
SETS = ("node", "light", *_FOLDERS)

# The types that every GPU computes, directly or exactly in a wider type.
_GPU_TYPES = {
    TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.INT8,
    TensorProto.BOOL,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    """id: its name; of a set other than node, after the set's and a slash. group: the operator
    type that it is about, after its domain and a dot if that is not the standard one; or the set.
    runs: for each set of data, the feeds by name and the outputs that must come."""

    id: str
    group: str
    model: bytes
    runs: list[tuple[dict[str, Any], list[Any]]]
    rtol: float
    atol: float
    for_gpu: bool

    @property
    def set(self) -> str:
        """One of SETS."""
        return self.id.split("/")[0] if "/" in self.id else "node"

    def encoded(self) -> dict[str, Any]:
        """The form for worker.py, without expected outputs."""
        feeds = [{name: encode(x) for name, x in feeds.items()} for feeds, _ in self.runs]
        return {"id": self.id, "model": base64.b64encode(self.model).decode(), "feeds": feeds}


@cache
def collect() -> list[Case]:
    """All cases: 1,884 of operators, and those of the other sets. Takes some seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cases divide by zero and overflow on purpose
        return [*_node_cases(), *_light_cases(), *_folder_cases()]


def group_of(domain: str, op_type: str) -> str:
    """The name of an operator type's group."""
    return f"{domain}.{op_type}" if domain else op_type


def _node_cases() -> Iterator[Case]:
    found = {case.name: case for case in load_model_tests(kind="node")}
    for name, case in found.items():
        about = found[re.sub(r"_expanded.*", "", name)]  # an operator's function body is its case
        assert about.model and case.model and case.data_sets
        (node,) = about.model.graph.node
        runs = [
            (_named(case.model, map(_array, inputs)), list(map(_array, outputs)))
            for inputs, outputs in case.data_sets
        ]
        group = group_of(node.domain, node.op_type)
        yield _case(name, group, case.model, runs, case.rtol, case.atol)


def _folder_cases() -> Iterator[Case]:
    for kind in _FOLDERS:
        for test in sorted(load_model_tests(kind=kind), key=lambda test: test.name):
            folder = Path(test.model_dir)
            model = onnx.load(folder / "model.onnx")
            runs = [
                (
                    _named(model, _values(data, "input", model.graph.input)),
                    list(_values(data, "output", model.graph.output)),
                )
                for data in sorted(folder.glob("test_data_set_*"))
            ]
            yield _case(f"{kind}/{test.name}", kind, model, runs, test.rtol, test.atol)


def _light_cases() -> Iterator[Case]:
    for about in sorted(Path(DATA_DIR, "real").glob("*/data.json")):
        data = json.loads(about.read_text("utf-8"))
        path = Path(DATA_DIR, "light", Path(data["url"]).name)
        model = onnx.load(path)
        feeds = [Runner.generate_dummy_data(info) for info in _fed(model)]
        wanted = [
            numpy_helper.to_array(onnx.load_tensor(f"{path.with_suffix('')}_output_{i}.pb"))
            for i in range(len(model.graph.output))
        ]
        runs = [(_named(model, feeds), wanted)]
        yield _case(f"light/{about.parent.name}", "light", model, runs, data["rtol"], data["atol"])


def _case(
    name: str, group: str, model: onnx.ModelProto, runs: Any, rtol: float, atol: float
) -> Case:
    ports = [*model.graph.input, *model.graph.output]
    types = {kind for port in ports for kind in _element_types(port.type)}
    types |= {tensor.data_type for tensor in model.graph.initializer}
    whole = model.SerializeToString()
    return Case(name, group, whole, runs, rtol, atol, for_gpu=types <= _GPU_TYPES)


def _element_types(kind: onnx.TypeProto) -> Iterator[int]:
    field = kind.WhichOneof("value")
    value = getattr(kind, field)
    if field in ("sequence_type", "optional_type"):
        yield from _element_types(value.elem_type)
    else:
        yield value.elem_type


def _fed(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    given = {tensor.name for tensor in model.graph.initializer}
    return [info for info in model.graph.input if info.name not in given]


def _named(model: onnx.ModelProto, values: Any) -> dict[str, Any]:
    names = [info.name for info in _fed(model)]
    return dict(zip(names, values, strict=True))


def _array(value: Any) -> Any:
    """Converts a node case's value: an array, a TensorProto, a NumPy scalar, a list, or None."""
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, (list, tuple)):
        return [_array(item) for item in value]
    return None if value is None else np.asarray(value)


def _values(folder: Path, what: str, ports: Any) -> Iterator[Any]:
    """The inputs or outputs in a folder, in order."""
    for i in range(len(list(folder.glob(f"{what}_*.pb")))):
        content = (folder / f"{what}_{i}.pb").read_bytes()
        kind = ports[i].type.WhichOneof("value")
        if kind == "sequence_type":
            yield numpy_helper.to_list(onnx.SequenceProto.FromString(content))
        elif kind == "optional_type":
            yield numpy_helper.to_optional(onnx.OptionalProto.FromString(content))
        else:
            yield numpy_helper.to_array(TensorProto.FromString(content))
