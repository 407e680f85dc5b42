"""WebAssembly as a device: in every browser, and outside one with the package `wasmtime`."""

from __future__ import annotations

import importlib.util
import sys

from ..base import Backend

_IN_BROWSER = sys.platform == "emscripten"


class WasmDevice:
    """The entry of the registry."""

    name = "wasm"

    def __init__(self) -> None:
        self._backend: Backend | None = None

    @property
    def rank(self) -> int:
        """Behind WebGPU, and before NumPy in a browser, where that has one thread without wide
        instructions; outside a browser NumPy has a fast library for products."""
        return 2 if _IN_BROWSER else 0

    async def open(self) -> None:
        """Needs no opening."""

    def backend(self) -> Backend | str:
        if self._backend is None:
            from .runner import WasmBackend

            if _IN_BROWSER:
                from .browser import BrowserEngine

                self._backend = WasmBackend(BrowserEngine())
            elif importlib.util.find_spec("wasmtime") is None:
                return "the package `wasmtime` is not installed"
            else:
                from .desktop import WasmtimeEngine

                self._backend = WasmBackend(WasmtimeEngine())
        return self._backend
