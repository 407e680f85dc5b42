"""The kinds of device that Tallow compiles for: a module each, and a line below.

Generated WebAssembly comes here, as wasm.py; its code generator is codegen/wasm/.
"""

from __future__ import annotations

from ..target import Target
from .numpy import NUMPY
from .webgpu import WEBGPU

TARGETS: dict[str, Target] = {target.name: target for target in (WEBGPU, NUMPY)}
"""By the names of devices."""

EXACT = NUMPY.name
"""The device for what others compute in fewer bits."""
