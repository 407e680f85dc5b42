"""The kinds of device that Tallow compiles for: a module each, and a line below."""

from __future__ import annotations

from ..target import Target
from .numpy import NUMPY
from .wasm import WASM
from .webgpu import WEBGPU

TARGETS: dict[str, Target] = {target.name: target for target in (WEBGPU, WASM, NUMPY)}
"""By the names of devices."""

EXACT = NUMPY.name
"""The device for what others compute in fewer bits."""
