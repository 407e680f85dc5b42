"""Values as JSON: in the form of workers, and in a readable form for findings/."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from .case import Case, Graph, Kind, Node, Value
from .values import dtype_of


def decoded(value: Any) -> Value:
    """Decodes conformance's `encode`; types that NumPy lacks become ml_dtypes'."""
    if value is None:
        return None
    if "list" in value:
        return [decoded(item) for item in value["list"]]
    if "texts" in value:
        return texts_of(value["texts"], value["shape"])
    data = bytearray(base64.b64decode(value["data"]))
    return np.frombuffer(data, dtype_of(value["dtype"])).reshape(value["shape"])


def texts_of(items: list[str], shape: Any) -> np.ndarray:
    """An array of strings."""
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


# ---- for people --------------------------------------------------------------------------------


def written(case: Case) -> dict[str, Any]:
    """The case as JSON that a person can read and edit; `read` parses it."""
    return {
        "family": case.family,
        "about": case.about,
        "opsets": dict(case.opsets),
        "slack": case.slack,
        "scaled": case.scaled,
        "steps": case.steps,
        "feeds": {name: _shown(value) for name, value in case.feeds.items()},
        "graph": _graph_shown(case.graph),
    }


def read(data: Mapping[str, Any]) -> Case:
    """The case from the JSON of `written`."""
    feeds = {name: _value(item) for name, item in data["feeds"].items()}
    rest = {key: data[key] for key in ("slack", "scaled", "steps")}
    return Case(data["family"], data["about"], _graph(data["graph"]), feeds, data["opsets"], **rest)


def _shown(value: Value) -> Any:
    if isinstance(value, list):
        return {"list": [_shown(item) for item in value]}
    if value is None:
        return None
    if value.dtype == object:
        return {"texts": value.ravel().tolist(), "shape": list(value.shape)}
    items = value.astype(np.float64) if value.dtype.isbuiltin == 2 else value
    return {"dtype": value.dtype.name, "shape": list(value.shape), "items": items.ravel().tolist()}


def _value(data: Any) -> Value:
    if data is None:
        return None
    if "list" in data:
        return [_value(item) for item in data["list"]]
    if "texts" in data:
        return texts_of(data["texts"], data["shape"])
    return np.array(data["items"], dtype_of(data["dtype"])).reshape(data["shape"])


def _graph_shown(graph: Graph) -> dict[str, Any]:
    return {
        "inputs": {
            name: {"dtype": kind.dtype, "shape": kind.shape, "form": kind.form}
            for name, kind in graph.inputs.items()
        },
        "known": {name: _shown(value) for name, value in graph.known.items()},
        "nodes": [
            {
                "op": node.op,
                "domain": node.domain,
                "inputs": list(node.inputs),
                "outputs": list(node.outputs),
                "attributes": {key: _attribute_shown(v) for key, v in node.attributes.items()},
            }
            for node in graph.nodes
        ],
        "outputs": list(graph.outputs),
    }


def _attribute_shown(value: Any) -> Any:
    if isinstance(value, Graph):
        return {"graph": _graph_shown(value)}
    if isinstance(value, Kind):
        return {"kind": [value.dtype, value.shape, value.form]}
    return {"tensor": _shown(value)} if isinstance(value, np.ndarray) else value


def _attribute(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "graph" in value:
        return _graph(value["graph"])
    return _kind(*value["kind"]) if "kind" in value else _value(value["tensor"])


def _kind(dtype: str, shape: Any, form: str) -> Kind:
    return Kind(dtype, None if shape is None else tuple(shape), form)


def _graph(data: Mapping[str, Any]) -> Graph:
    nodes = [
        Node(
            node["op"],
            tuple(node["inputs"]),
            tuple(node["outputs"]),
            {key: _attribute(value) for key, value in node["attributes"].items()},
            node["domain"],
        )
        for node in data["nodes"]
    ]
    inputs = {name: _kind(**kind) for name, kind in data["inputs"].items()}
    known = {name: _value(value) for name, value in data["known"].items()}
    return Graph(nodes, inputs, data["outputs"], known)
