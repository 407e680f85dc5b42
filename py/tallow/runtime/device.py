"""The devices, by name, and which one is the default.

Each kind of device is an entry of `DEVICES` (core/devices.py): "webgpu" is usable in a browser once
an adapter is open, and elsewhere if the package `wgpu` finds one; "wasm" in a browser, and
elsewhere with the package `wasmtime`; "numpy" wherever NumPy can be imported. A machine that lends
its device is no entry: it is known by its address. Here, too, is how precise products must be,
which decides what a device may compute them with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Protocol

from ..core import context
from ..core.device_name import resolved
from ..core.devices import LENT, REMOTE, Parts, part
from ..errors import DeviceUnavailableError, OptionError
from .base import Backend, DeviceInfo


class Device(Protocol):
    """A kind of device."""

    name: str

    @property
    def rank(self) -> int:
        """Devices of a higher rank are faster here."""

    async def open(self) -> None:
        """Makes it ready. Raises DeviceUnavailableError."""

    def backend(self) -> Backend | str:
        """What loads plans on it, or why it cannot be used here. Called for every eager
        operation."""


DEVICES: Parts[Device] = Parts("device", "DEVICE")
"""By the names of devices."""

PRECISIONS = ("highest", "high", "medium")
FUNCTION_PRECISIONS = ("highest", "medium")


def devices() -> list[str]:
    """The devices that can be used here, the fastest first.

    Returns: names, of "webgpu", "wasm" and "numpy".
    """
    return [device.name for device in _by_rank() if not isinstance(device.backend(), str)]


# Why: docs/decisions/devices.md, "Without a GPU, WebAssembly is the default, also where WebGPU has
# an adapter on the CPU"
def default_device() -> str:
    """The device for work that names none: the one that was set, else the fastest.

    Returns: its name.
    Raises: DeviceUnavailableError if no device can be used here.
    """
    return context.default_device.get() or _fastest().info.device


@cache
def _by_rank() -> list[Device]:
    return sorted(DEVICES.values(), key=lambda device: -device.rank)


def _fastest() -> Backend:
    problems = []
    for device in _by_rank():
        found = device.backend()
        if not isinstance(found, str):
            return found
        problems.append(f"{device.name}: {found}")
    raise DeviceUnavailableError(f"no device can be used here ({'; '.join(problems)})")


async def open_device(name: str = "webgpu", *, token: str | None = None) -> DeviceInfo:
    """Makes a device ready, and tells what it is; `set_default_device` makes it the default.

    In a browser "webgpu" must be opened once, which takes a moment; then it is the default device,
    unless another was set. Elsewhere devices need no opening, but one that asks for a token.

    name: "webgpu", "wasm", "numpy" or "remote:https://HOST", a machine on which `tallow serve
      --compute` runs.
    token: what that machine asks for; None is the environment's TALLOW_TOKEN.
    Returns: the facts of the device.
    Raises: DeviceUnavailableError, with the reason, if the device cannot be used here.
    """
    device = _device(name)
    if token is not None:
        if not name.startswith(REMOTE):
            raise OptionError(f"open_device: {name!r} takes no token")
        device.use_token(token)  # type: ignore[attr-defined]
    await device.open()
    return backend(name).info


@dataclass(frozen=True, slots=True)
class Open:
    """Requests that a device be ready, once more after it was lost; the answer is its name. The
    default one, if None."""

    device: str | None

    def run_sync(self) -> str:
        """Opens it; blocks. Raises DeviceUnavailableError."""
        return backend(self.device).info.device

    async def run_async(self) -> str:
        """As `run_sync`, without blocking."""
        await open_device(self.device or default_device())
        return self.run_sync()


def set_default_device(name: str | None) -> None:
    """Sets the device for work that names none.

    name: the name of a device; None leaves the choice to Tallow again, and so do "cpu" and "cuda".
    Returns: nothing.
    Raises: DeviceUnavailableError if the device cannot be used here.
    Source: PyTorch, `torch.set_default_device`, for the name.
    """
    name = resolved(name)
    if name is not None:
        backend(name)
    context.default_device.set(name)


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` has set.

    Returns: "highest", which it is at first, "high" or "medium".
    Source: PyTorch, `torch.get_float32_matmul_precision`.
    """
    return context.matmul_precision.get()


def set_float32_matmul_precision(precision: str) -> None:
    """How precise matrix products and convolutions of float32 tensors must be, named as in PyTorch.

    Holds for what is compiled from now on; sessions that are made already stay as they are.
    Softmax, sums and the like always are as with "highest".

    precision: "highest", the default: factors stay float32. "high": the same here, since WebGPU has
      no format between. "medium": WebGPU may round factors to float16 (11 significant bits; numbers
      beyond 65504 overflow) and still adds up in float32, which is faster on GPUs with shader-f16.
      Without shader-f16, and on NumPy, it is as "highest".
    Returns: nothing.
    Raises: OptionError for any other value.
    Source: PyTorch, `torch.set_float32_matmul_precision`, for the names.
    """
    if precision not in PRECISIONS:
        known = ", ".join(map(repr, PRECISIONS))
        raise OptionError(f"{precision!r} is not a precision of products; choose one of {known}")
    context.matmul_precision.set(precision)


def get_float32_function_precision() -> str:
    """What `set_float32_function_precision` has set.

    Returns: "highest", as at first, or "medium".
    """
    return context.function_precision.get()


def set_float32_function_precision(precision: str) -> None:
    """How precise exp, sin, cos, tan, asin, acos, atan, sinh, cosh and atanh of float32 must be.

    Holds for what is compiled from now on; sessions that are made already stay as they are. NumPy
    and WebAssembly compute the same under both settings.

    precision: "highest", the default: WebGPU computes them by expressions of Tallow's, whose
      largest errors docs/accuracy.md has. "medium": by the GPU's own functions, which take fewer
      instructions. It promises of sin and cos an absolute error of 2 ** -11 from -pi to pi, and
      nothing beyond or for NaN and infinities; of exp(x), 3 + 2 |x| units in the last place.
    Returns: nothing.
    Raises: OptionError for any other value.
    Source: WebGPU Shading Language, section "Floating Point Accuracy", for what a GPU promises.
    """
    if precision not in FUNCTION_PRECISIONS:
        known = ", ".join(map(repr, FUNCTION_PRECISIONS))
        raise OptionError(f"{precision!r} is not a precision of functions; choose one of {known}")
    context.function_precision.set(precision)


def backend(name: str | None = None) -> Backend:
    """The backend of a device, or of the default device.

    name: the name of a device; None is the default device.
    Returns: what loads plans on it.
    Raises: DeviceUnavailableError, with the reason, if the device cannot be used here.
    """
    name = context.default_device.get() if name is None else name
    if name is None:
        return _fastest()
    found = _device(name).backend()
    if isinstance(found, str):
        raise DeviceUnavailableError(f"the device {name!r} is unavailable: {found}")
    return found


def _device(name: str) -> Device:
    name = getattr(name, "place", name)  # of a tensor's "cpu"
    if isinstance(name, str) and name.startswith(REMOTE):
        return _remote(name)
    if name not in DEVICES:
        known = ", ".join(DEVICES)
        raise DeviceUnavailableError(
            f"{name!r} is not a device; choose one of {known}, or {REMOTE}https://HOST"
        )
    return DEVICES[name]


@cache
def _remote(name: str) -> Device:
    device: Device = part(LENT, "device", "RemoteDevice")(name)
    return device
