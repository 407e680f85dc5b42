"""The engine of the package `wasmtime`."""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any
from weakref import WeakSet

import wasmtime

from ...errors import PlanError
from ...streamed_weights import Part

_alive: WeakSet[Any] = WeakSet()
"""Engines and stores. What is still there when Python ends would be deleted by functions of
wasmtime that are gone by then, with a message."""


@atexit.register
def _close() -> None:
    for each in sorted(_alive, key=lambda each: isinstance(each, wasmtime.Engine)):
        each.close()


class WasmtimeInstance:
    """An Instance (engine.py) of wasmtime."""

    def __init__(self, engine: wasmtime.Engine, module: bytes | None, pages: int) -> None:
        self._store = wasmtime.Store(engine)
        _alive.add(self._store)
        kind = wasmtime.MemoryType(wasmtime.Limits(pages, pages))
        try:
            self._memory = wasmtime.Memory(self._store, kind)
        except wasmtime.WasmtimeError as error:
            raise MemoryError(str(error)) from error
        address = ctypes.addressof(self._memory.data_ptr(self._store).contents)
        size = self._memory.data_len(self._store)
        self._bytes = memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")
        self._exports: dict[str, Any] = {}
        if module is not None:
            made = wasmtime.Instance(self._store, wasmtime.Module(engine, module), [self._memory])
            self._exports = dict(made.exports(self._store).items())

    def write(self, offset: int, content: Any) -> None:
        given = memoryview(content)
        if given.nbytes:  # a view without elements cannot be cast
            self._bytes[offset : offset + given.nbytes] = given.cast("B")

    def write_part(self, offset: int, part: Part) -> None:
        self.write(offset, part.take())

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._bytes[offset : offset + size])

    def function(self, name: str) -> Callable[..., Any]:
        return partial(self._exports[name], self._store)


class WasmtimeEngine:
    """The engine, one for all programs."""

    fault = (wasmtime.WasmtimeError, wasmtime.Trap)

    def __init__(self) -> None:
        self.name = f"wasmtime {version('wasmtime')}"
        self._engine = wasmtime.Engine()
        _alive.add(self._engine)

    def accepts(self, module: bytes) -> bool:
        try:
            wasmtime.Module.validate(self._engine, module)
        except wasmtime.WasmtimeError:
            return False
        return True

    def instance(self, module: bytes | None, pages: int) -> WasmtimeInstance:
        return WasmtimeInstance(self._engine, module, pages)

    def adopted(self, loaded: Any) -> WasmtimeInstance:
        raise PlanError("a program that a page has loaded cannot run outside of it")
