"""What the op suite covers."""

from __future__ import annotations

from op_cases import CASES, OF_WEBASSEMBLY
from run_case import graph_of

from tallow.ops.dynamic_recurrence import OF_WEBGPU
from tallow.ops.kinds import REGISTRY
from tallow.ops.linalg import Hosted


def test_every_op_has_a_case() -> None:
    """A record without a case is a gap with a name."""
    used = {node.op.name for name in CASES for node in graph_of(name).nodes()}
    elsewhere = {
        "buffer",  # what stays on a device: staying_cases.py
        "conv2d_weight_parts",  # kernel_cases.py
        "after",  # test_order.py
        "matmul_to",  # kernel_cases.py; op_cases/positions.py, of what a pass makes it
        *("recurrence_kept", "recurrence_back"),  # kernel_cases.py, test_recurrence_gradient.py
        *(record.name for record in OF_WEBASSEMBLY),  # test_wasm_kernels.py
        *(record.name for record in OF_WEBGPU),  # kernel_cases.py
        # tests/unit/tensors/test_linalg.py
        *(name for name, op in REGISTRY.items() if isinstance(op, Hosted)),
    }
    missing = set(REGISTRY) - used - elsewhere
    assert not missing, f"no case in op_cases/ uses {sorted(missing)}"
