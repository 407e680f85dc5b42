"""The engine of the package `wasmtime`."""

from __future__ import annotations

import atexit
import ctypes
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from typing import Any
from weakref import WeakSet

import wasmtime
from wasmtime import _ffi

from ...codegen.wasm.assembler import with_shared_memory
from ...errors import PlanError
from ...streamed_weights import Part
from . import threads
from .engine import call_all

_alive: WeakSet[Any] = WeakSet()
"""Engines, stores and shared memories. What is still there when Python ends would be deleted by
functions of wasmtime that are gone by then, with a message."""


@atexit.register
def _close() -> None:
    for each in sorted(_alive, key=lambda each: isinstance(each, wasmtime.Engine)):
        each.close()


class _SharedMemory(wasmtime.SharedMemory):
    """A memory of several stores."""

    def _as_extern(self) -> _ffi.wasmtime_extern_t:
        """As an import. wasmtime 50 gives a pointer too many here, which ctypes refuses."""
        union = _ffi.wasmtime_extern_union(sharedmemory=self.ptr())
        return _ffi.wasmtime_extern_t(_ffi.WASMTIME_EXTERN_SHAREDMEMORY, union)


class _Pool:
    """Threads that share steps with the caller's. They are Python's: a call of wasmtime lets other
    threads run."""

    def __init__(self, count: int) -> None:
        self.threads = count
        self._executor = ThreadPoolExecutor(count - 1, "tallow-wasm")

    def run(self, calls: Sequence[Callable[..., Any]], cuts: Sequence[int]) -> None:
        """Makes all parts of a step. calls: that of each thread."""
        parts = deque(pairwise(cuts))

        def take(call: Callable[..., Any]) -> None:
            while True:
                try:
                    part = parts.popleft()
                except IndexError:
                    return
                call(*part)

        helpers = [self._executor.submit(take, call) for call in calls[1:]]
        begun = helpers
        try:
            take(calls[0])
        finally:
            parts.clear()  # if it stopped, nobody begins another one
            begun = [helper for helper in helpers if not helper.cancel()]
            wait(begun)
        for helper in begun:
            helper.result()


class WasmtimeInstance:
    """An Instance (engine.py) of wasmtime: a store for each thread, since none may use two."""

    def __init__(
        self, engine: wasmtime.Engine, module: bytes | None, pages: int, pool: _Pool | None
    ) -> None:
        self.threads = pool.threads if pool else 1
        self._pool = pool
        self._stores = [wasmtime.Store(engine) for _ in range(self.threads)]
        _alive.update(self._stores)
        kind = wasmtime.MemoryType(wasmtime.Limits(pages, pages), shared=pool is not None)
        self._memory: Any
        try:
            if pool:
                self._memory = _SharedMemory(engine, kind)
                _alive.add(self._memory)
            else:
                self._memory = wasmtime.Memory(self._stores[0], kind)
        except wasmtime.WasmtimeError as error:
            raise MemoryError(str(error)) from error
        which = () if pool else (self._stores[0],)
        address = ctypes.addressof(self._memory.data_ptr(*which).contents)
        size = self._memory.data_len(*which)
        self._bytes = memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")
        self._exports: list[dict[str, Any]] = []
        if module is not None:
            compiled = wasmtime.Module(engine, with_shared_memory(module) if pool else module)
            for store in self._stores:
                made = wasmtime.Instance(store, compiled, [self._memory])
                self._exports.append(dict(made.exports(store).items()))

    def write(self, offset: int, content: Any) -> None:
        given = memoryview(content)
        if given.nbytes:  # a view without elements cannot be cast
            self._bytes[offset : offset + given.nbytes] = given.cast("B")

    def write_part(self, offset: int, part: Part) -> None:
        self.write(offset, part.take())

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self._bytes[offset : offset + size])

    def copies(self, moves: Sequence[tuple[int, int, int]]) -> Callable[[], Any]:
        views = [
            (self._bytes[source : source + size], self._bytes[target : target + size])
            for source, target, size in moves
        ]

        def copy() -> None:
            for read, written in views:
                written[:] = read

        return copy

    def bound(
        self, kernel: Mapping[str, Any], addresses: Sequence[int], scratch: int
    ) -> Callable[[], Any]:
        calls = [
            partial(
                exports[kernel["function"]],
                store,
                *threads.arguments(kernel, addresses, number * scratch),
            )
            for number, (store, exports) in enumerate(zip(self._stores, self._exports, strict=True))
        ]
        units = kernel.get("units")
        if units is None:
            return calls[0]
        if self._pool is None:
            return partial(calls[0], 0, units)
        return partial(self._pool.run, calls, threads.cuts(units, self.threads))

    def together(self, calls: Sequence[Callable[[], Any]]) -> Callable[[], Any]:
        return partial(call_all, calls)

    def close(self) -> None:
        """The stores and the memory go with the last that holds them."""


class WasmtimeEngine:
    """The engine, one for all programs."""

    fault = (wasmtime.WasmtimeError, wasmtime.Trap)

    def __init__(self) -> None:
        self.name = f"wasmtime {version('wasmtime')}"
        config = wasmtime.Config()
        config.shared_memory = True
        self._engine = wasmtime.Engine(config)
        _alive.add(self._engine)
        self._pool: _Pool | None = None
        self.use_threads(threads.usual())

    @property
    def threads(self) -> int:
        return self._pool.threads if self._pool else 1

    def use_threads(self, count: int) -> None:
        self._pool = _Pool(count) if count > 1 else None

    def accepts(self, module: bytes) -> bool:
        try:
            wasmtime.Module.validate(self._engine, module)
        except wasmtime.WasmtimeError:
            return False
        return True

    def instance(self, module: bytes | None, pages: int, shared: bool) -> WasmtimeInstance:
        return WasmtimeInstance(self._engine, module, pages, self._pool if shared else None)

    def adopted(self, loaded: Any) -> WasmtimeInstance:
        raise PlanError("a program that a page has loaded cannot run outside of it")
