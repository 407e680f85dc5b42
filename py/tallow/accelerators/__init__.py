"""What scripts for PyTorch ask about devices before they choose one: `tl.device`, `tl.accelerator`,
`tl.cuda`, `tl.mps` and `tl.backends`.

There is no CUDA and no MPS here, so that a script goes on with "cpu", which stands for the default
device (`tl.default_device`): WebGPU, where there is one. tallow.torch takes its names from here.
"""

from __future__ import annotations

from types import SimpleNamespace

from ..core.device_name import DeviceName
from ..runtime.device import backend, default_device
from . import absent, switches

__all__ = ["accelerator", "backends", "cuda", "device", "mps"]


class _Accelerator:
    """The default device, if it is one with a memory of its own: WebGPU."""

    def is_available(self) -> bool:
        """Whether there is one."""
        return not backend().memory.is_host

    def device_count(self) -> int:
        """1 or 0."""
        return int(self.is_available())

    def current_accelerator(self) -> DeviceName | None:
        """Its name, or None."""
        return DeviceName(default_device()) if self.is_available() else None


device = DeviceName
accelerator = _Accelerator()
cuda = mps = absent
backends = SimpleNamespace(cudnn=switches, cuda=switches, mps=switches)
"""Settings that scripts make; none changes anything here."""
