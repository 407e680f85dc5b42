"""The op suite: what every backend must compute, with what NumPy says of it.

A case is a function of tensors, its inputs, and an independent function of NumPy arrays; they stand
in a file for each family, as in py/tallow/ops. This folder, its references and run_case.py are also
run inside the browser (conftest.py), so they need nothing but NumPy and tallow.
"""

from __future__ import annotations

from importlib import import_module

from tallow.ops import blocks, integer, panels, winograd4

from .case import CASES, Case, booleans, integers, normal

__all__ = ["CASES", "OF_WEBASSEMBLY", "Case", "booleans", "integers", "normal"]

OF_WEBASSEMBLY = (
    *(panels.pack_panels, panels.unpack_panels),
    *(integer.pack_pairs, integer.integer_matmul, integer.integer_conv2d),
    *(winograd4.winograd_weight, winograd4.winograd_conv2d, blocks.block_matmul),
)
"""Ops that only passes of WebAssembly make, for its kernels: see test_wasm_kernels.py,
test_wasm_integers.py and test_wasm_blocks.py. WebGPU has blocks, too: test_blocks_webgpu.py."""

# In this order always, since all of them draw their inputs from one generator.
for family in (
    "elementwise", "reduce", "movement", "gather", "contract",
    "window", "composed", "winograd", "recurrence", "arrange", "nan", "trees", "positions",
    "attention",
):  # fmt: skip
    import_module(f"{__name__}.{family}")
