"""The op suite on NumPy: its own plan, and the plan made for WebGPU, which is the same algorithm
as the shaders without WGSL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from op_cases import CASES, OF_WEBASSEMBLY
from run_case import difference, feeds_of, graph_of, run_case

from tallow.compile import compile_graph
from tallow.op import REGISTRY
from tallow.ops.linalg import Hosted
from tallow.runtime.numpy.runner import NumpyProgram


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, run_async: Callable[..., Any]) -> None:
    outcome = run_async(run_case(name, "numpy"))
    assert outcome["wrong"] is None, outcome["wrong"]
    assert outcome["device"] == "numpy"


@pytest.mark.parametrize("name", CASES)
def test_webgpu_plan(name: str) -> None:
    """NumPy executes the steps that the GPU would: the passes are right apart from WGSL."""
    compiled = compile_graph(graph_of(name), "webgpu")
    program = NumpyProgram(compiled)
    (output,) = program.run(list(feeds_of(name).values()))
    wrong = difference(CASES[name], output.numpy())
    assert wrong is None, wrong


def test_every_op_has_a_case() -> None:
    """A record without a case is a gap with a name."""
    used = {node.op.name for name in CASES for node in graph_of(name).nodes()}
    elsewhere = {
        "buffer",  # what stays on a device: staying_cases.py
        "conv2d_weight_parts",  # kernel_cases.py
        "after",  # test_order.py
        *("recurrence_kept", "recurrence_back"),  # kernel_cases.py, test_recurrence_gradient.py
        *(record.name for record in OF_WEBASSEMBLY),  # test_wasm_kernels.py
        # tests/unit/tensors/test_linalg.py
        *(name for name, op in REGISTRY.items() if isinstance(op, Hosted)),
    }
    missing = set(REGISTRY) - used - elsewhere
    assert not missing, f"no case in op_cases/ uses {sorted(missing)}"
