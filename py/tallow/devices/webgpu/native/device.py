"""The GPU of this machine, through the `wgpu` package: found and opened once, when first asked for.

Nothing imports `wgpu` before that, so that Tallow works where it is not installed.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from ....compile.limits import Limits
from ....errors import (
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DeviceUnavailableError,
    TallowError,
)
from ..codegen.choice import Traits
from ..common_weights import CommonWeights
from .memory import NativeMemory

INSTALL = "pip install tallow[webgpu]"

# Optional features that kernels or measurements use: the name in `wgpu`, the name in WebGPU.
_FEATURES = {
    "shader-f16": "shader-f16",
    "subgroup": "subgroups",
    "subgroups": "subgroups",
    "timestamp-query": "timestamp-query",
}
# Limits that are asked for as high as the adapter has them.
_LIMITS = (
    "max-buffer-size",
    "max-storage-buffer-binding-size",
    "max-storage-buffers-per-shader-stage",
    "max-compute-workgroup-storage-size",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroup-size-x",
    "max-compute-workgroup-size-y",
    "max-compute-workgroups-per-dimension",
)
# Native drivers allow a million. A kernel with that many would be slow to compile.
_MAX_STORAGE_BUFFERS = 32
_SOFTWARE = re.compile("swiftshader|llvmpipe|lavapipe|basic render", re.I)
_LOST = re.compile("device (is|was)? ?lost", re.I)


@dataclass(frozen=True)
class Adapter:
    """What can be opened. name: for people; software: whether a CPU plays the GPU."""

    handle: Any
    name: str
    software: bool
    features: tuple[str, ...]
    limits: Limits


@cache
def find_adapter() -> Adapter | str:
    """The best adapter, or in words why there is none. Looks once: it takes up to a second."""
    try:
        wgpu = import_module("wgpu")
    except ImportError as error:
        return f"outside a browser it needs the package wgpu ({INSTALL}): {error}"
    except (OSError, RuntimeError) as error:
        return f"the package wgpu cannot load its library: {error}"
    try:
        handle = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except Exception as error:  # whatever the driver's fault, NumPy still works
        return f"no GPU driver for Vulkan, Metal or Direct3D 12 gives an adapter: {words(error)}"
    if handle.info["backend_type"].startswith("OpenGL"):
        return f"{name_of(handle.info)}: OpenGL drivers lack what Tallow's kernels need"
    name, limits = name_of(handle.info), handle.limits
    software = handle.info["adapter_type"] == "CPU" or bool(_SOFTWARE.search(name))
    features = tuple(sorted({ours for own, ours in _FEATURES.items() if own in handle.features}))
    return Adapter(
        handle,
        name,
        software,
        features,
        Limits(
            storage_buffers=min(
                _MAX_STORAGE_BUFFERS, limits["max-storage-buffers-per-shader-stage"]
            ),
            binding_bytes=limits["max-storage-buffer-binding-size"],
            buffer_bytes=limits["max-buffer-size"],
            traits=Traits(
                software,
                "subgroups" in features,
                "shader-f16" in features,
                lanes=8 if "llvmpipe" in name else 4,  # `wgpu` does not tell the subgroup size
            ),
        ),
    )


def name_of(info: Any) -> str:
    """The adapter's name for people, with its driver and the interface: never empty."""
    said = (info["device"] or info["vendor"], info["description"], info["backend_type"])
    return ", ".join(part for part in said if part) or "GPU that does not tell its name"


def words(error: BaseException) -> str:
    """What an error of `wgpu` says, without its frame."""
    lines = [line.rstrip() for line in str(error).splitlines()]
    frame = {"", "Validation Error", "Caused by:"}
    lines = [line for line in lines if line.strip() not in frame]
    return "\n".join(lines).strip() or type(error).__name__


class NativeDevice:
    """An open device of an adapter."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self.wgpu = import_module("wgpu")
        self.lost: DeviceLostError | None = None
        handle = adapter.handle
        try:
            self.handle = handle.request_device_sync(
                label="tallow",
                required_features=[name for name in _FEATURES if name in handle.features],
                required_limits={name: handle.limits[name] for name in _LIMITS},
            )
        except Exception as error:
            raise DeviceUnavailableError(
                f"{adapter.name} refused to open a device: {words(error)}"
            ) from error
        self.queue = self.handle.queue
        self.memory = NativeMemory(self)
        self.common = CommonWeights()

    def storage(self, size: int, label: str) -> Any:
        """A new buffer that kernels bind, of this many bytes."""
        usage = self.wgpu.BufferUsage
        uses = usage.STORAGE | usage.COPY_DST | usage.COPY_SRC
        return self.handle.create_buffer(label=label, size=size, usage=uses)

    @contextmanager
    def checked(self, what: str) -> Iterator[None]:
        """Raises what `wgpu` raises inside as DeviceMemoryError, DeviceLostError or DeviceError.

        what: the plan or the step, for the message.
        """
        if self.lost:
            raise self.lost
        try:
            yield
        except TallowError:
            raise
        except Exception as error:
            raise self._named(error, what) from error

    def _named(self, error: Exception, what: str) -> DeviceError:
        if isinstance(error, self.wgpu.GPUOutOfMemoryError):
            return DeviceMemoryError(f"{what}: the device is out of memory: {words(error)}")
        if _LOST.search(str(error)):
            self.lost = DeviceLostError(f"The GPU device was lost: {what}: {words(error)}")
            return self.lost
        return DeviceError(f"{what}: {words(error)}")


_opened: NativeDevice | None = None
_opening = threading.Lock()


def open_device() -> NativeDevice:
    """The process's device; a new one if the last was lost.

    Raises DeviceUnavailableError with the reason if there is none.
    """
    global _opened
    with _opening:
        if _opened is None or _opened.lost:
            adapter = find_adapter()
            if isinstance(adapter, str):
                raise DeviceUnavailableError(f"the device 'webgpu' is unavailable: {adapter}")
            _opened = NativeDevice(adapter)
        return _opened
