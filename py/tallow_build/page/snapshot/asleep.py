"""Imports what the page needs, before the memory of this Python is saved. Runs in Pyodide."""

from __future__ import annotations

import gc
import importlib
import linecache
import re
import sys
import zipimport
from pathlib import Path
from typing import Any

# Modules of the standard library that NumPy needs when it is installed and imported; NumPy's own
# modules can't be in a snapshot.
_FOR_NUMPY = (
    *("ctypes", "hmac", "importlib.metadata", "pickle", "platform", "secrets", "sysconfig"),
    "tarfile",
)

# What the page's views do not use: training, files of weights, writing ONNX, plans of eager code
# for many shapes, compiled functions, functions that no operator of ONNX is made of; and types
# alone. A script that imports it has it fetched.
_ON_DEMAND = re.compile(
    r"tallow_page\.(contract|find|listen|passages|published|train|write)(\.|$)|tallow\.("
    r"(nn|optim|zoo|amp|autograd|distributions|func|accelerators|data|utils|torch|sparse|linalg"
    r"|metrics|text|train|telemetry|files|vision|ray|serve|devices\.remote|generation|audio|hub|forms|peft)(\.|$)"
    r"|core\.(iterating|packages|starting|watchers)$|devices\.wasm\.(codegen\.)?strided(\.|$)"
    r"|autodiff\.(?!past$)|formats\.(?!onnx)|formats\.onnx\.(write|parameters$)"
    r"|ops\.(linalg|numpy_attention|numpy_blocks|numpy_positions)$"
    r"|custom$|runtime\.jit(\.|$)"
    r"|methods\.(facts|fills)|tensor\.printing"
    r"|core\.retyped$|compile\.passes\.(blocks|lengths)$"
    r"|devices\.(webgpu\.codegen|wasm\.codegen\.kernels)\.region$"
    r"|devices\.wasm\.codegen\.kernels\."
    r"(attending|block_operands|block_panels|blocks|recurrence_gradient|rounding)$"
    r"|functional\.(adaptive|blocks|borders|elementwise_losses|few_queries|flex_attention|grids|layers"
    r"|lookups|losses|margin_losses|multi_head|resampling|transducer|words)$"
    r"|functions\.(arithmetic|bessel|data_types|decompositions|draws|gamma|grids|joining|linalg|lines"
    r"|numbers|orders|positions|products|scattering|searching|sets|special|statistics|windows)$)"
)

# Larger than any free or used block of memory.
_HUGE = 1 << 20


def imports() -> None:
    """Imports all of Tallow that the page uses, the page's Python, the kernel sources, ONNX's
    schema, and what NumPy will need."""
    here = Path(importlib.import_module("tallow").__path__[0])
    for folder in (here, here.with_name("tallow_page")):
        for path in sorted(folder.rglob("*.pyc")):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            if not _ON_DEMAND.match(name):
                importlib.import_module(name)
    importlib.import_module("onnx.onnx_ml_pb2")
    for name in _FOR_NUMPY:
        importlib.import_module(name)
    schedule = importlib.import_module("tallow.devices.webgpu.codegen.schedule")
    schedule.sources()


def numpy() -> None:
    """Imports NumPy, after everything else."""
    importlib.import_module("numpy")


def tidy() -> None:
    """Clears caches of files that will be gone after a restart, and freed memory."""
    linecache.clearcache()
    re.purge()
    sys.path_importer_cache.clear()
    zipimport._zip_directory_cache.clear()  # type: ignore[attr-defined]
    importlib.import_module("tallow.binding").rows.cache_clear()
    for _ in range(3):
        gc.collect()
    _wipe()
    gc.collect()


def _wipe() -> None:
    """Fills free memory with zeros, which compress to nothing.

    Allocates blocks of each size until one is above `top`, in memory that was never used.
    """
    top = id(bytes(_HUGE))
    chain: Any = None
    for size in (*(1 << power for power in range(19, 9, -1)), *range(1000, 8, -8)):
        while id(block := bytes(size)) < top:
            chain = (block, chain)
    while chain:  # one by one: freeing a long chain at once would recurse deeply
        chain = chain[1]
