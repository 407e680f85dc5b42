"""What scripts for PyTorch ask about devices before they choose one: `tl.device`, `tl.accelerator`,
`tl.cuda`, `tl.mps` and `tl.backends`.

There is no CUDA and no MPS here, so that a script goes on with "cpu", which stands for the default
device (`tl.default_device`): WebGPU, where there is one.
"""

from __future__ import annotations

from types import SimpleNamespace

from .device_name import DeviceName
from .runtime.device import backend, default_device

__all__ = ["accelerator", "backends", "cuda", "device", "mps"]


class _Absent:
    """A kind of device that is not here."""

    def is_available(self) -> bool:
        """False."""
        return False

    def device_count(self) -> int:
        """0."""
        return 0

    def manual_seed(self, seed: int) -> None:
        """Changes nothing; see `tl.manual_seed`."""

    def manual_seed_all(self, seed: int) -> None:
        """Changes nothing; see `tl.manual_seed`."""

    def empty_cache(self) -> None:
        """Changes nothing: memory is freed with the tensors."""

    def synchronize(self, device: object = None) -> None:
        """Changes nothing: reading a tensor waits for it."""


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
cuda = _Absent()
mps = _Absent()
backends = SimpleNamespace(
    cudnn=SimpleNamespace(enabled=False, benchmark=False, deterministic=True),
    cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=False), is_built=lambda: False),
    mps=SimpleNamespace(is_available=lambda: False, is_built=lambda: False),
)
"""Settings that scripts make; none changes anything here."""
