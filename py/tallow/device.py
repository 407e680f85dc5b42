"""Devices by name: "webgpu" and "numpy".

"webgpu" is there in a browser whose worker has opened an adapter (web/gpu/). "numpy" is there
wherever NumPy can be imported.
"""

from __future__ import annotations

import importlib.util
import sys

from .backends.base import Backend
from .errors import DeviceUnavailableError

NAMES = ("webgpu", "numpy")
_chosen: str | None = None


def devices() -> list[str]:
    """The devices that can be used here, the faster first."""
    found = [] if _webgpu_problem() else ["webgpu"]
    return found + (["numpy"] if importlib.util.find_spec("numpy") else [])


def default_device() -> str:
    """What is used where no device is named: the one that was set, else the first there is."""
    if _chosen is not None:
        return _chosen
    found = devices()
    if not found:
        raise DeviceUnavailableError(f"there is no WebGPU ({_webgpu_problem()}) and no NumPy here")
    return found[0]


def set_default_device(name: str | None) -> None:
    """Sets the default; None leaves the choice to Tallow again.

    Raises DeviceUnavailableError if the device cannot be used here.
    """
    global _chosen
    if name is not None:
        backend(name)
    _chosen = name


def backend(name: str | None = None) -> Backend:
    """The backend of a device, or of the default device.

    Raises DeviceUnavailableError with the reason if the device cannot be used here.
    """
    name = default_device() if name is None else name
    if name == "numpy":
        if importlib.util.find_spec("numpy") is None:
            raise DeviceUnavailableError("the device 'numpy' needs NumPy, which is not installed")
        from .backends.numpy import NumpyBackend

        return NumpyBackend()
    if name == "webgpu":
        problem = _webgpu_problem()
        if problem:
            raise DeviceUnavailableError(f"the device 'webgpu' is not to be had: {problem}")
        from .backends.webgpu import WebGpuBackend

        return WebGpuBackend()
    raise DeviceUnavailableError(f"{name!r} is no device; choose one of {', '.join(NAMES)}")


def _webgpu_problem() -> str | None:
    """Why WebGPU cannot be used here, or None if it can."""
    if sys.platform != "emscripten":
        return "Tallow reaches WebGPU through a browser, and this is not one"
    from .backends.webgpu import problem

    return problem()
