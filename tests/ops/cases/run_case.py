"""Runs one case of op_cases/ on a device and says how far it is from what NumPy says."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_cases import CASES, Case

from tallow.core.dtype import as_dtype
from tallow.graph import Graph, input_node
from tallow.runtime.session import compile_session_async
from tallow.tensor import Tensor


def graph_of(name: str) -> Graph:
    """The case as a graph whose inputs are fed, so that nothing is computed ahead."""
    case = CASES[name]
    nodes = [
        input_node(f"x{index}", array.shape, as_dtype(array.dtype))
        for index, array in enumerate(case.inputs)
    ]
    result = case.build(*(Tensor(node) for node in nodes))
    return Graph(tuple(nodes), {"output": result.node}, name)


def feeds_of(name: str) -> dict[str, np.ndarray]:
    """The arrays for the graph's inputs."""
    return {f"x{index}": array for index, array in enumerate(CASES[name].inputs)}


def difference(case: Case, got: np.ndarray) -> str | None:
    """What is wrong with a result, or None."""
    with np.errstate(all="ignore"):
        expected = np.asarray(case.expected(*case.inputs))
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    if got.dtype.kind != expected.dtype.kind:
        return f"type {got.dtype}, expected {expected.dtype}"
    if np.allclose(got, expected, case.rtol, case.atol, equal_nan=True):
        return None
    return f"got {got.ravel()[:8]}, expected {expected.ravel()[:8]}"


async def run_case(name: str, device: str) -> dict[str, Any]:
    """{"wrong": text or None, "device", "adapter", "dispatches", "runs"} of a run."""
    with await compile_session_async(graph_of(name), device) as session:
        result = await session.run_async(feeds_of(name))
        return {
            "wrong": difference(CASES[name], result["output"]),
            "device": session.device,
            "adapter": session.adapter,
            "dispatches": session.stats["dispatches"],
            "runs": session.stats["runs"],
        }
