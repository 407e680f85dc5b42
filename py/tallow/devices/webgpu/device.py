"""WebGPU as a device: the browser's, or outside a browser the one that the package `wgpu` finds."""

from __future__ import annotations

import sys

from ...runtime.base import Backend

_IN_BROWSER = sys.platform == "emscripten"


class WebGpuDevice:
    """The entry of the registry."""

    name = "webgpu"

    @property
    def rank(self) -> int:
        """Behind NumPy where a CPU plays the GPU; but not in a browser, where NumPy has one thread
        without wide instructions."""
        if _IN_BROWSER:
            return 3
        from .native.device import find_adapter

        adapter = find_adapter()
        return 0 if isinstance(adapter, str) or adapter.software else 2

    async def open(self) -> None:
        """In a browser an adapter must be opened once; outside, the first use opens it."""
        if _IN_BROWSER:
            from .browser import open_adapter

            await open_adapter()

    def backend(self) -> Backend | str:
        if _IN_BROWSER:
            from .browser import open_backend

            return open_backend()
        from .native.device import find_adapter

        adapter = find_adapter()
        if isinstance(adapter, str):
            return adapter
        from .native.backend import NativeBackend

        return NativeBackend()


DEVICE = WebGpuDevice()
