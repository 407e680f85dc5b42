"""The browser's own WebAssembly, through Pyodide's bridge to JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyodide.ffi import JsException, to_js  # type: ignore[import-not-found]

import js  # type: ignore[import-not-found]


def _object(**fields: Any) -> Any:
    return to_js(fields, dict_converter=js.Object.fromEntries)


class BrowserInstance:
    """An Instance (engine.py) of the browser."""

    def __init__(self, module: bytes | None, pages: int) -> None:
        try:
            memory = js.WebAssembly.Memory.new(_object(initial=pages, maximum=pages))
        except JsException as error:
            raise MemoryError(str(error.message)) from error
        self._bytes = js.Uint8Array.new(memory.buffer)
        self._exports: Any = None
        if module is not None:
            compiled = js.WebAssembly.Module.new(to_js(module))
            imports = _object(tallow=_object(memory=memory))
            self._exports = js.WebAssembly.Instance.new(compiled, imports).exports

    def write(self, offset: int, content: Any) -> None:
        given = memoryview(content)
        if given.nbytes:  # a view without elements cannot be cast
            self._bytes.subarray(offset, offset + given.nbytes).assign(given.cast("B"))

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
        return BrowserInstance(module, pages)
