"""WebAssembly as a device: there wherever the package `wasmtime` is, outside a browser."""

from __future__ import annotations

import importlib.util
import sys

from ..base import Backend


class WasmDevice:
    """The entry of the registry."""

    name = "wasm"

    def __init__(self) -> None:
        self._backend: Backend | None = None

    @property
    def rank(self) -> int:
        return 0  # where it is there so far, NumPy has a library for products that is faster

    async def open(self) -> None:
        """Needs no opening."""

    def backend(self) -> Backend | str:
        if self._backend is None:
            if sys.platform == "emscripten":
                return "in a browser it is not there yet"
            for package in ("numpy", "wasmtime"):
                if importlib.util.find_spec(package) is None:
                    return f"the package {package} is not installed"
            from .runner import WasmBackend

            self._backend = WasmBackend()
        return self._backend
