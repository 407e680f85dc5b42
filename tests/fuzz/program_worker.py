"""Runs the fuzzer's cases: models, like conformance's worker, and programs of functions.

It needs only Tallow and NumPy, so it also runs in a browser. A program is {"calls": [[function,
[name], {keyword: value}, name]], "known": {name: value}, "outputs": [name]}.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import tallow as tl
from tallow.core.dtype import BY_NAME
from tallow.graph import Graph, input_node
from tallow.tensor import Tensor

if __package__:
    from ..onnx.conformance import worker
else:  # in a browser both files are in the same folder
    sys.path.insert(0, ".")
    worker = __import__("worker")

_TOGETHER = {"concat", "stack"}
_NUMPY = {"repetitions": "reps", "correction": "ddof"}


def numpy_call(function: str, values: list[Any], keywords: dict[str, Any]) -> Any:
    """NumPy's answer to a call. Only the types of sums and of indices differ from Tallow's."""
    if function == "astype":
        return values[0].astype(keywords["dtype"])
    if function in _TOGETHER:
        return getattr(np, function)(values, **keywords)
    renamed = {_NUMPY.get(key, key): value for key, value in keywords.items()}
    if function in ("sum", "prod", "cumulative_sum"):
        renamed["dtype"] = np.int32 if values[0].dtype == bool else values[0].dtype
    if function == "cumulative_sum":
        return np.cumsum(values[0], **renamed)
    if function in ("tile", "expand_dims", "repeat", "reshape", "permute_dims"):
        return getattr(np, function)(values[0], *renamed.values())
    if function == "square":
        return values[0] * values[0]
    if function == "sign" and values[0].dtype.kind == "u":
        return np.sign(values[0].astype(np.int64)).astype(values[0].dtype)
    result = getattr(np, function)(*values, **renamed)
    return result.astype(np.int32) if function.startswith("arg") else result


def numpy_run(program: dict[str, Any], values: dict[str, Any]) -> list[Any]:
    """The outputs of a program, by NumPy; `values` are its inputs and constants."""
    values = dict(values)
    with np.errstate(all="ignore"):
        for function, names, keywords, made in program["calls"]:
            given = [values[name] for name in names]
            values[made] = np.asarray(numpy_call(function, given, keywords))
    return [values[name] for name in program["outputs"]]


def _built(program: dict[str, Any], feeds: dict[str, Any]) -> Graph:
    values: dict[str, Tensor] = {
        name: tl.asarray(worker.decode(value)) for name, value in program["known"].items()
    }
    for name, array in feeds.items():
        values[name] = Tensor(input_node(name, array.shape, BY_NAME[array.dtype.name]))
    for function, names, keywords, made in program["calls"]:
        given = [values[name] for name in names]
        if function == "astype":
            values[made] = given[0].astype(BY_NAME[keywords["dtype"]])
        elif function in _TOGETHER:
            values[made] = getattr(tl, function)(given, **keywords)
        else:
            values[made] = getattr(tl, function)(*given, **keywords)
    inputs = tuple(values[name].node for name in feeds)
    return Graph(inputs, {name: values[name].node for name in program["outputs"]}, "program")


async def run(case: dict[str, Any], device: str) -> dict[str, Any]:
    """The outcome of a case, in the form of conformance's worker."""
    if "program" not in case:
        said: dict[str, Any] = await worker.run(case, device)
        return said
    done: dict[str, Any] = {"id": case["id"], "error": None, "refused": False, "outputs": []}
    started = time.perf_counter()
    try:
        feeds = {name: worker.decode(value) for name, value in case["feeds"][0].items()}
        graph = _built(case["program"], feeds)
        with await tl.compile_session_async(graph, device) as session:
            outputs = await session.run_host_async(feeds)
            done["outputs"].append([worker.encode(value) for value in outputs.values()])
            done |= {"device": session.device, "dispatches": session.stats["dispatches"]}
    except Exception as error:
        done["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    done["seconds"] = time.perf_counter() - started
    return done


async def serve(request: str, device: str) -> None:
    """Runs the cases of a request file and prints the outcome of each."""
    for case in json.loads(Path(request).read_text("utf-8")):
        print(json.dumps(await run(case, device)), flush=True)
