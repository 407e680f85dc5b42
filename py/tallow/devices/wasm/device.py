"""WebAssembly as a device: in every browser, and outside one with the package `wasmtime`."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

from .threads import checked

if TYPE_CHECKING:
    from .engine import Engine
    from .runner import WasmBackend

_IN_BROWSER = sys.platform == "emscripten"


class WasmDevice:
    """The entry of the registry."""

    name = "wasm"

    def __init__(self) -> None:
        self._backend: WasmBackend | None = None
        self._threads: int | None = None

    @property
    def threads(self) -> int:
        """How many threads share the steps of programs that are loaded afterwards."""
        found = self.backend()
        return 1 if isinstance(found, str) else found.threads

    def use_threads(self, count: int) -> None:
        """Changes that number. Raises OptionError."""
        self._threads = checked(count)
        found = self.backend()
        if not isinstance(found, str):
            found.use_threads(count)

    @property
    def rank(self) -> int:
        """Behind WebGPU, and before NumPy in a browser, where that has one thread without wide
        instructions; outside a browser NumPy has a fast library for products."""
        return 2 if _IN_BROWSER else 0

    async def open(self) -> None:
        """Only threads in a browser need opening, where the page and its worker can have them."""
        if _IN_BROWSER:
            from .browser import open_threads

            await open_threads(self._threads)

    def backend(self) -> WasmBackend | str:
        if self._backend is None:
            if not _IN_BROWSER and importlib.util.find_spec("wasmtime") is None:
                return "the package `wasmtime` is not installed"
            from .engine import has_simd
            from .runner import WasmBackend

            engine = _engine()
            if not has_simd(engine):
                return f"{engine.name} has no SIMD instructions here"
            self._backend = WasmBackend(engine)
        return self._backend


DEVICE = WasmDevice()


def get_num_threads() -> int:
    """How many threads share the kernels of programs for "wasm" that are loaded from now on.

    Returns: a number from 1 to 64.
    Source: PyTorch, `torch.get_num_threads`, for the name.
    """
    return DEVICE.threads


def set_num_threads(threads: int) -> None:
    """How many threads compute on "wasm", named as in PyTorch; the results are the same to the bit.

    At first there are as many as the machine has processors, but at most 4. Holds for what is
    loaded from now on; sessions that are made already stay as they are. In a browser there are
    threads only where the page is cross-origin isolated, and Python runs in a worker; in a page of
    your own, once `await open_device("wasm")` has opened them. Elsewhere it stays one thread.

    threads: a whole number from 1 to 64.
    Returns: nothing.
    Raises: OptionError for anything else.
    Source: PyTorch, `torch.set_num_threads`, for the name.
    """
    DEVICE.use_threads(threads)


def _engine() -> Engine:
    if _IN_BROWSER:
        from .browser import BrowserEngine

        return BrowserEngine()
    from .desktop import WasmtimeEngine

    return WasmtimeEngine()
