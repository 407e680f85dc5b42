"""The browser's own WebAssembly, through Pyodide's bridge to JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyodide.ffi import JsException, to_js  # type: ignore[import-not-found]

import js  # type: ignore[import-not-found]

from ...streamed_weights import Part


def _object(**fields: Any) -> Any:
    return to_js(fields, dict_converter=js.Object.fromEntries)


class BrowserInstance:
    """An Instance (engine.py) of the browser: the bytes of a memory, and exports that use it."""

    def __init__(self, content: Any, exports: Any) -> None:
        self._bytes = content
        self._exports = exports

    def write(self, offset: int, content: Any) -> None:
        given = memoryview(content)
        if given.nbytes:  # a view without elements cannot be cast
            self._bytes.subarray(offset, offset + given.nbytes).assign(given.cast("B"))

    def write_part(self, offset: int, part: Part) -> None:
        self._bytes.set(part.handle.bytes(), offset)

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._bytes.subarray(offset, offset + size).to_bytes())

    def function(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(self._exports, name)
        return found


class BrowserEngine:
    """The engine of the page or worker."""

    name = "WebAssembly"
    fault = (JsException,)

    def accepts(self, module: bytes) -> bool:
        return bool(js.WebAssembly.validate(to_js(module)))

    def instance(self, module: bytes | None, pages: int) -> BrowserInstance:
        try:
            memory = js.WebAssembly.Memory.new(_object(initial=pages, maximum=pages))
        except JsException as error:
            raise MemoryError(str(error.message)) from error
        exports: Any = None
        if module is not None:
            compiled = js.WebAssembly.Module.new(to_js(module))
            imports = _object(tallow=_object(memory=memory))
            exports = js.WebAssembly.Instance.new(compiled, imports).exports
        return BrowserInstance(js.Uint8Array.new(memory.buffer), exports)

    def adopted(self, loaded: Any) -> BrowserInstance:
        """`loaded`: see Replayed in web/worker/devices.js."""
        return BrowserInstance(loaded.program.bytes, loaded.program.exports)
