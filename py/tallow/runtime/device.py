"""Devices by name: "webgpu" and "numpy".

"webgpu" is there in a browser whose worker has opened an adapter (web/gpu/), and elsewhere if the
package `wgpu` finds one. "numpy" is there wherever NumPy can be imported. Here, too, is how precise
products must be, which decides what a device may compute them with.
"""

from __future__ import annotations

import importlib.util
import sys

from ..errors import DeviceUnavailableError, OptionError
from .base import Backend, DeviceInfo

NAMES = ("webgpu", "numpy")
PRECISIONS = ("highest", "high", "medium")
_chosen: str | None = None
_precision = "highest"


def devices() -> list[str]:
    """The devices that can be used here, the faster first."""
    numpy = ["numpy"] if importlib.util.find_spec("numpy") else []
    if _webgpu_problem():
        return numpy
    return [*numpy, "webgpu"] if _is_slow_webgpu() else ["webgpu", *numpy]


def default_device() -> str:
    """What is used where no device is named: the one that was set, else the first there is."""
    if _chosen is not None:
        return _chosen
    found = devices()
    if not found:
        raise DeviceUnavailableError(f"there is no WebGPU ({_webgpu_problem()}) and no NumPy here")
    return found[0]


async def open_device(name: str = "webgpu") -> DeviceInfo:
    """Makes a device ready, and tells what it is; `set_default_device` makes it the default.

    In a browser "webgpu" must be opened once, which takes a moment; then it is the default device,
    unless another was set. Elsewhere devices need no opening. Raises DeviceUnavailableError with
    the reason if the device cannot be used here.
    """
    if name == "webgpu" and sys.platform == "emscripten":
        from .browser import open_adapter

        await open_adapter()
    return backend(name).info


def set_default_device(name: str | None) -> None:
    """Sets the default; None leaves the choice to Tallow again.

    Raises DeviceUnavailableError if the device cannot be used here.
    """
    global _chosen
    if name is not None:
        backend(name)
    _chosen = name


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` has set; "highest" at first."""
    return _precision


def set_float32_matmul_precision(precision: str) -> None:
    """How precise matrix products and convolutions of float32 tensors must be, named as in PyTorch.

    "highest", the default: factors stay float32. "high": the same here, since WebGPU has no
    format between. "medium": WebGPU may round factors to float16 (11 significant bits; what lies
    beyond 65504 overflows) and still adds up in float32, which is faster on GPUs with shader-f16.
    Without shader-f16, and on NumPy, it is as "highest"; softmax, sums and the like always are.

    Holds for what is compiled from now on; sessions that are made already stay as they are.
    Raises OptionError for any other value.
    """
    global _precision
    if precision not in PRECISIONS:
        known = ", ".join(map(repr, PRECISIONS))
        raise OptionError(f"{precision!r} is no precision of products; choose one of {known}")
    _precision = precision


def backend(name: str | None = None) -> Backend:
    """The backend of a device, or of the default device.

    Raises DeviceUnavailableError with the reason if the device cannot be used here.
    """
    name = default_device() if name is None else name
    if name == "numpy":
        if importlib.util.find_spec("numpy") is None:
            raise DeviceUnavailableError("the device 'numpy' needs NumPy, which is not installed")
        from .numpy.runner import NumpyBackend

        return NumpyBackend()
    if name == "webgpu":
        problem = _webgpu_problem()
        if problem:
            raise DeviceUnavailableError(f"the device 'webgpu' is unavailable: {problem}")
        if sys.platform != "emscripten":
            from .native import NativeBackend

            return NativeBackend()
        from .browser import WebGpuBackend

        return WebGpuBackend()
    raise DeviceUnavailableError(f"{name!r} is no device; choose one of {', '.join(NAMES)}")


def _webgpu_problem() -> str | None:
    """Why WebGPU cannot be used here, or None if it can."""
    if sys.platform != "emscripten":
        from .native_device import find_adapter

        adapter = find_adapter()
        return adapter if isinstance(adapter, str) else None
    from .browser import problem

    return problem()


def _is_slow_webgpu() -> bool:
    """Whether a CPU plays the GPU while NumPy could use it directly: not so in a browser, where
    NumPy has one thread without wide instructions."""
    if sys.platform == "emscripten":
        return False
    from .native_device import find_adapter

    adapter = find_adapter()
    return not isinstance(adapter, str) and adapter.software
