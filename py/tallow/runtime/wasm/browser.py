"""The browser's own WebAssembly, through Pyodide's bridge to JavaScript.

`tallowWasm` in the global scope is the engine with threads (web/wasm/engine.js): the app's worker
puts it there, anywhere else `open_threads` does. Without it there is one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pyodide.ffi import JsException, to_js  # type: ignore[import-not-found]

import js  # type: ignore[import-not-found]

from ...streamed_weights import Part
from ..modules import address_of, import_module
from .engine import call_all
from .threads import arguments


def _object(fields: Mapping[str, Any]) -> Any:
    return to_js(fields, dict_converter=js.Object.fromEntries)


def _engine() -> Any:
    """The engine with threads, or None."""
    return getattr(js, "tallowWasm", None)


async def open_threads(count: int | None) -> None:
    """Opens an engine with threads, unless one is open: in any worker that is cross-origin
    isolated, with what the wheel brings.

    count: None for the usual number. A page whose content policy refuses workers goes on without.
    """
    if _engine() is not None or not js.crossOriginIsolated:
        return
    try:
        module = await import_module("wasm/engine.js")
        js.tallowWasm = module.openEngine(count, address_of("wasm/thread.js"))
    except JsException as error:
        js.console.warn(f"Tallow computes on one thread: {error.message}")


class BrowserInstance:
    """An Instance (engine.py) of the browser, where no engine is open: the bytes of a memory, and
    exports that use it."""

    threads = 1

    def __init__(self, content: Any, exports: Any) -> None:
        self._bytes = content
        self._exports = exports
        self._views: dict[tuple[int, int], Any] = {}

    def write(self, offset: int, content: Any) -> None:
        given = memoryview(content)
        if given.nbytes:  # a view without elements cannot be cast
            self._view(offset, given.nbytes).assign(given.cast("B"))

    def write_part(self, offset: int, part: Part) -> None:
        self._bytes.set(part.handle.bytes(), offset)

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._view(offset, size).to_bytes())

    def _view(self, offset: int, size: int) -> Any:
        """A part of the memory, made once: each run reads and writes the same ones."""
        found = self._views.get((offset, size))
        if found is None:
            found = self._views[offset, size] = self._bytes.subarray(offset, offset + size)
        return found

    def copies(self, moves: Sequence[tuple[int, int, int]]) -> Callable[[], Any]:
        copy = self._bytes.copyWithin
        calls = [partial(copy, target, source, source + size) for source, target, size in moves]
        return partial(call_all, calls)

    def bound(
        self, kernel: Mapping[str, Any], addresses: Sequence[int], scratch: int
    ) -> Callable[[], Any]:
        units = [0, kernel["units"]] if "units" in kernel else []
        function = getattr(self._exports, kernel["function"])
        return partial(function, *arguments(kernel, addresses, 0), *units)

    def together(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        return partial(call_all, calls)

    def close(self) -> None:
        """The memory goes with the last that holds it."""


class EngineInstance(BrowserInstance):
    """The same of an open engine. handle: a WasmInstance of web/wasm/engine.js."""

    def __init__(self, handle: Any) -> None:
        super().__init__(handle.bytes, handle.exports)
        self._handle = handle
        self.threads = int(handle.threads)

    def bound(
        self, kernel: Mapping[str, Any], addresses: Sequence[int], scratch: int
    ) -> Callable[[], Any]:
        call: Callable[[], Any] = self._handle.bound(_object(kernel), to_js(addresses), scratch)
        return call

    def copies(self, moves: Sequence[tuple[int, int, int]]) -> Callable[[], Any]:
        call: Callable[[], Any] = self._handle.copies(to_js(moves))
        return call

    def together(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        call: Callable[[], Any] = self._handle.together(to_js(calls))
        return call

    def close(self) -> None:
        self._handle.close()


class BrowserEngine:
    """The engine of the page or worker."""

    name = "WebAssembly"
    fault = (JsException,)

    @property
    def threads(self) -> int:
        engine = _engine()
        return 1 if engine is None else int(engine.threads)

    def use_threads(self, count: int) -> None:
        engine = _engine()
        if engine is not None:
            engine.useThreads(count)

    def accepts(self, module: bytes) -> bool:
        return bool(js.WebAssembly.validate(to_js(module)))

    def instance(self, module: bytes | None, pages: int, shared: bool) -> BrowserInstance:
        code, engine = None if module is None else to_js(module), _engine()
        try:
            if engine is not None:
                return EngineInstance(engine.instance(code, pages, shared))
            memory = js.WebAssembly.Memory.new(_object({"initial": pages, "maximum": pages}))
        except JsException as error:
            raise MemoryError(str(error.message)) from error
        exports: Any = None
        if code is not None:
            imports = _object({"tallow": _object({"memory": memory})})
            compiled = js.WebAssembly.Module.new(code)
            exports = js.WebAssembly.Instance.new(compiled, imports).exports
        return BrowserInstance(js.Uint8Array.new(memory.buffer), exports)

    def adopted(self, loaded: Any) -> BrowserInstance:
        """`loaded`: see Replayed in web/worker/devices.js."""
        return EngineInstance(loaded.program.instance)
