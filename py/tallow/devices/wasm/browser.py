"""The browser's own WebAssembly, through Pyodide's bridge to JavaScript.

`tallowWasm` in the global scope is the engine with threads (web/wasm/engine.js): the app's worker
puts it there, anywhere else `open_threads` does. Without it there is one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pyodide.ffi import JsException, to_js  # type: ignore[import-not-found]

import js  # type: ignore[import-not-found]

from ...core.streamed_weights import Part
from ...runtime.modules import address_of, import_module
from .arena import PAGE, Arena, Extent
from .engine import MODULES, Recent, call_all
from .threads import arguments

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def _object(fields: Mapping[str, Any]) -> Any:
    return to_js(fields, dict_converter=js.Object.fromEntries)


def _memory(pages: int, shared: bool) -> Any:
    kind = {"initial": pages, "maximum": pages, "shared": shared}
    try:
        return js.WebAssembly.Memory.new(_object(kind))
    except JsException as error:
        raise MemoryError(str(error.message)) from error


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
    exports that use that. extent: its part of it; None if a page has made it."""

    threads = 1

    def __init__(self, content: Any, exports: Any, extent: Extent | None) -> None:
        self.start = extent.start if extent else 0
        self._bytes = content
        self._exports = exports
        self._extent = extent
        self._views: dict[tuple[int, int], Any] = {}

    def write(self, offset: int, content: ReadableBuffer) -> None:
        given = memoryview(content)
        if given.nbytes:  # a view without elements cannot be cast
            self._view(offset, given.nbytes).assign(given.cast("B"))

    def write_part(self, offset: int, part: Part) -> None:
        self._bytes.set(part.handle.bytes(), offset)

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._view(offset, size).to_bytes())

    def view(self, offset: int, size: int) -> None:
        """Nothing: Python's memory is another one."""

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
        return partial(function, *arguments(kernel, addresses, self.start), *units)

    def together(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        return partial(call_all, calls)

    def close(self) -> None:
        self._bytes, self._exports, self._views = None, None, {}
        if self._extent:
            self._extent.close()


class EngineInstance(BrowserInstance):
    """The same of an open engine. handle: a WasmInstance of web/wasm/engine.js."""

    def __init__(self, handle: Any, extent: Extent | None = None) -> None:
        super().__init__(handle.bytes, handle.exports, extent)
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
        super().close()


class BrowserEngine:
    """The engine of the page or worker."""

    name = "WebAssembly"
    host_memory = False
    fault = (JsException,)

    def __init__(self) -> None:
        # Of one thread, and of all.
        self._arenas = [Arena(partial(_memory, shared=shared)) for shared in (False, True)]
        self._modules = Recent[tuple[bytes, bool], Any](MODULES)

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
        """All programs share memories, since a browser is slow to free one."""
        return self.placed(module, self.arena(shared).extent(pages * PAGE), shared)

    def placed(self, module: bytes | None, extent: Extent, shared: bool) -> BrowserInstance:
        shared = shared and self.threads > 1
        compiled = None if module is None else self._compiled(module, shared)
        engine = _engine()
        if engine is not None:
            handle = engine.placed(compiled, extent.memory, extent.start, shared)
            return EngineInstance(handle, extent)
        exports: Any = None
        if compiled is not None:
            imports = _object({"tallow": _object({"memory": extent.memory})})
            exports = js.WebAssembly.Instance.new(compiled, imports).exports
        return BrowserInstance(js.Uint8Array.new(extent.memory.buffer), exports, extent)

    def arena(self, shared: bool) -> Arena:
        return self._arenas[shared and self.threads > 1]

    @property
    def arenas(self) -> Sequence[Arena]:
        return self._arenas

    def _compiled(self, module: bytes, shared: bool) -> Any:
        found = self._modules.get((module, shared))
        if found is None:
            code, engine = to_js(module), _engine()
            found = engine.module(code, shared) if engine else js.WebAssembly.Module.new(code)
            self._modules.put((module, shared), found)
        return found

    def adopted(self, loaded: Any) -> BrowserInstance:
        """`loaded`: see Replayed in web/worker/devices.js."""
        return EngineInstance(loaded.program.instance)
