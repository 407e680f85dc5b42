"""The kinds of device that Tallow compiles for: a module each, and a line below."""

from __future__ import annotations

from ...devices.numpy.target import NUMPY
from ...devices.wasm.target import WASM
from ...devices.webgpu.target import WEBGPU
from ..target import Target

TARGETS: dict[str, Target] = {target.name: target for target in (WEBGPU, WASM, NUMPY)}
"""By the names of devices."""

EXACT = NUMPY.name
"""The device for what others compute in fewer bits."""
